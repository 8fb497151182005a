"""Theorem 2 turned round: how many rows and groups give a wanted error."""

from math import ceil, log

from ..errors import InputError
from .bounds import check_delta


def median_of_means_groups(delta: float) -> int:
    """Groups for the median of means to fail with probability at most ``delta``: ceil(8 ln(1 / delta)).

    Paper: Lemma 1.

    >>> median_of_means_groups(0.01)
    37
    """
    check_delta(delta)
    return max(1, ceil(8.0 * log(1.0 / delta)))


def rows_for(epsilon: float, delta: float, spread: float = 1.0) -> int:
    """Rows L so that the error stays below ``epsilon`` with probability 1 - ``delta``.

    L = ceil(36 spread**2 ln(1 / delta) / epsilon**2), at least one row a group. With the default
    ``spread`` of 1, epsilon is relative to ``theory.spread``. Paper: Theorem 2; erratum 1.

    >>> rows_for(epsilon=0.5, delta=0.05)
    432
    """
    check_delta(delta)
    for name, value in (("epsilon", epsilon), ("spread", spread)):
        if not 0.0 < value < float("inf"):
            raise InputError(f"{name}={value!r}; allowed is a finite number above 0.")
    return max(median_of_means_groups(delta), ceil(36.0 * spread**2 * log(1.0 / delta) / epsilon**2))
