"""From the L counters a query reads to one estimate: their mean, or the median of group means."""

import numpy as np

from ..checks import check_choice, check_count
from ..errors import InputError
from ..theory import median_of_means_groups

AGGREGATES = ("mean", "median_of_means")


def choose_groups(aggregate: str, n_groups: int | None, n_rows: int) -> int:
    """Number of groups g: 1 for the mean; for the median of means as given, or Lemma 1's at delta = 0.05.

    >>> choose_groups("mean", None, 500), choose_groups("median_of_means", None, 500)
    (1, 24)
    """
    if check_choice("aggregate", aggregate, AGGREGATES) == "mean":
        if n_groups not in (None, 1):
            raise InputError(f"n_groups={n_groups!r} with aggregate='mean'; use aggregate='median_of_means'.")
        return 1
    if n_groups is None:
        return min(median_of_means_groups(0.05), n_rows)
    return check_count("n_groups", n_groups, n_rows)


def group_bounds(n_rows: int, n_groups: int) -> np.ndarray:
    """First row of each group and the end, int64 (g + 1,): group i has rows i*L//g up to (i+1)*L//g.

    The groups need not divide the rows evenly; their sizes differ by one at most.

    >>> group_bounds(10, 4).tolist()
    [0, 2, 5, 7, 10]
    """
    return np.arange(n_groups + 1, dtype=np.int64) * n_rows // n_groups


def median(means: np.ndarray) -> np.ndarray:
    """Median over the first axis of float32 ``means`` (g, n, C); of an even number, half the sum of the middle two.

    >>> median(np.array([[[3.0]], [[1.0]], [[2.0]], [[9.0]]], np.float32)).tolist()
    [[2.5]]
    """
    ordered = np.sort(means, axis=0)
    n_groups = len(means)
    middle = ordered[n_groups // 2]
    if n_groups % 2 == 0:
        middle = (ordered[n_groups // 2 - 1] + middle) * np.float32(0.5)
    return middle
