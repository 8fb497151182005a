"""Standard errors of the paper's estimate of f_K, from the standard deviation of its L independent rows.

Takes a sketch whose counters are sums of weights; hands on standard errors of its outputs.
"""

from math import pi, sqrt
from typing import Any

import numpy as np

from ..data.arrays import as_table, check_not_empty, check_width, iterate_blocks
from ..errors import InputError
from ..model.oracle import coordinates
from ..theory.quantiles import FEWEST_FREE, student_quantile
from .kernel_counters import KernelCounters


def half_widths(sketch: KernelCounters, X: Any, confidence: float) -> np.ndarray:
    """Half the width of an interval around each output that holds f_K with probability ``confidence``, (n, C) float64.

    Student's quantile times the standard error of the rows' mean. The median of nearly normal group means has at most
    pi/2 times the variance of their mean. Rows drawn for ``as_hashed`` kernels also differ by their directions, over
    which f_K averages already: there the interval is too wide rather than too narrow.
    """
    if sketch.n_rows <= FEWEST_FREE:
        raise InputError(
            f"an interval from the standard deviation of {sketch.n_rows} rows; needed are at least "
            f"{FEWEST_FREE + 1}. Build the sketch with more rows, or give it intervals from true values by "
            "with_intervals(X, y)."
        )
    factor = student_quantile(confidence, sketch.n_rows - 1) / sqrt(sketch.n_rows)
    if sketch.n_groups > 1:
        factor *= sqrt(pi / 2.0)
    table = as_table(X)
    check_width(table, sketch.n_features)
    check_not_empty(table)
    deviations = [_deviations(sketch, block) for _, block in iterate_blocks(table)]
    return factor * np.concatenate(deviations) * np.abs(sketch.gain)


def _deviations(sketch: KernelCounters, block: np.ndarray) -> np.ndarray:
    """Standard deviation of the counters that each of ``block`` (n, d) reads, (n, C) float64; Welford's recurrence."""
    z = coordinates(sketch.model, block).projected
    mean, squares = np.zeros((2, len(block), sketch.n_outputs))
    for row in range(sketch.n_rows):
        read = sketch.counters[row, sketch.hashes.buckets(z, row)]
        change = read - mean
        mean += change / (row + 1)
        squares += change * (read - mean)
    return np.sqrt(squares / (sketch.n_rows - 1))
