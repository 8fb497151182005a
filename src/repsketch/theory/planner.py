"""Theorem 2 solved for the number of rows that a wanted error takes."""

from math import ceil, log

from ..checks import check_number
from .bounds import check_delta, median_of_means_groups


def rows_for(epsilon: float, delta: float, spread: float = 1.0) -> int:
    """Rows L so that the error stays below ``epsilon`` with probability 1 - ``delta``.

    L = 36 spread**2 ln(1 / delta) / epsilon**2, rounded up to a multiple of ``median_of_means_groups(delta)``
    so that the groups are equal, as Lemma 1 requires. With the default ``spread`` of 1, epsilon is relative
    to ``theory.spread``. Paper: Theorem 2; erratum 1.

    >>> rows_for(epsilon=0.5, delta=0.05)
    432
    """
    check_delta(delta)
    check_number("epsilon", epsilon, 0.0, open_ends=True)
    check_number("spread", spread, 0.0, open_ends=True)
    n_groups = median_of_means_groups(delta)
    return n_groups * ceil(36.0 * spread**2 * log(1.0 / delta) / epsilon**2 / n_groups)
