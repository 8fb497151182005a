"""Theorem 1, Lemma 1 and Theorem 2 with the corrected sum: |weights| in place of weights (erratum 1).

All functions take the kernel values k(q, x_j)**K of one or many queries against the points, so they
hold for every family. ``fold_collision_rate`` extends them to folded rows (erratum 2): there a pair
collides with probability k + (1 - k) * rate, and debiasing multiplies the estimate by 1 / (1 - rate).
"""

from math import ceil, log
from typing import Any

import numpy as np

from ..checks import check_number
from ..errors import InputError


def spread(weights: Any, kernel_values: Any, fold_collision_rate: float = 0.0) -> np.ndarray:
    """Upper bound of one row's standard deviation: sum_j |weight_j| sqrt(k_j), float64 (...,).

    Paper: the f-tilde of Theorem 2; erratum 1. The second moment of a row's counter is
    sum_ij w_i w_j P(i and j both collide) <= (sum_j |w_j| sqrt(k_j))**2 by Cauchy-Schwarz, which
    needs the absolute values.

    Parameters
    ----------
    weights : (M,) point weights
    kernel_values : (..., M) collision probabilities of each query with each point, all K codes
    fold_collision_rate : probability that the fold merges different codes, 1/R; 0 without a fold

    >>> float(spread([1.0, -1.0], [0.25, 0.25]))
    1.0
    """
    weights, kernel_values = _checked(weights, kernel_values)
    check_number("fold_collision_rate", fold_collision_rate, 0.0, 0.5)
    collisions = kernel_values + (1.0 - kernel_values) * fold_collision_rate
    return (np.sqrt(collisions) @ np.abs(weights)) / (1.0 - fold_collision_rate)


def variance_bound(weights: Any, kernel_values: Any, fold_collision_rate: float = 0.0) -> np.ndarray:
    """Upper bound of one row's variance, float64 (...,). Paper: Theorem 1; erratum 1.

    >>> float(variance_bound([1.0, -1.0], [0.25, 0.25]))
    1.0
    """
    return spread(weights, kernel_values, fold_collision_rate) ** 2


def median_of_means_groups(delta: float) -> int:
    """Groups for the median of means to fail with probability at most ``delta``: ceil(8 ln(1 / delta)).

    Paper: Lemma 1.

    >>> median_of_means_groups(0.01)
    37
    """
    check_delta(delta)
    return max(1, ceil(8.0 * log(1.0 / delta)))


def error_bound(
    weights: Any, kernel_values: Any, n_rows: int, delta: float, fold_collision_rate: float = 0.0
) -> np.ndarray:
    """What |Z(q) - f_K(q)| stays below with probability 1 - delta, float64 (...,).

    For the median of ``median_of_means_groups(delta)`` group means over ``n_rows`` rows:
    6 * spread * sqrt(ln(1 / delta) / n_rows). The proof requires groups of equal size, or of at least 8 rows.
    Paper: Theorem 2; erratum 1.

    >>> round(float(error_bound([1.0], [1.0], n_rows=100, delta=0.01)), 3)
    1.288
    """
    n_groups = median_of_means_groups(delta)
    if n_rows < n_groups:
        raise InputError(f"n_rows={n_rows!r} with delta={delta!r}; allowed is {n_groups} rows up, one for each group.")
    return 6.0 * spread(weights, kernel_values, fold_collision_rate) * np.sqrt(np.log(1.0 / delta) / n_rows)


def check_delta(delta: float) -> None:
    """Refuse a failure probability outside (0, 1)."""
    check_number("delta", delta, 0.0, 1.0, open_ends=True)


def _checked(weights: Any, kernel_values: Any) -> tuple[np.ndarray, np.ndarray]:
    weights, kernel_values = np.asarray(weights, np.float64), np.asarray(kernel_values, np.float64)
    if weights.ndim != 1 or kernel_values.ndim < 1 or kernel_values.shape[-1] != len(weights):
        raise InputError(
            f"weights of shape {weights.shape} and kernel_values of shape {kernel_values.shape}; "
            "allowed are (M,) and (..., M)."
        )
    if not (np.all(kernel_values >= 0.0) and np.all(kernel_values <= 1.0)):
        raise InputError("kernel_values outside [0, 1]; they are collision probabilities.")
    return weights, kernel_values
