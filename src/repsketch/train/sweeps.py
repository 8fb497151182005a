"""Refit of all counters: block coordinate descent by Newton steps, one row after the other, also on the stored grid."""

from dataclasses import dataclass, replace

import numpy as np

from ..core import require_native
from .greedy import GreedyRows
from .objective import Objective

ROWS_PER_MODEL = 8  # rows fitted to one quadratic model of the loss before the next is computed
MAX_STEP = 1.0  # of a counter in one sweep: the trust region of the quadratic model


@dataclass(frozen=True)
class Grid:
    """Integer multiples of ``step``, up to ``largest`` times it."""

    step: float
    largest: int

    def round(self, values: np.ndarray) -> np.ndarray:
        """The nearest numbers on the grid."""
        return self.multiples(values) * self.step

    def multiples(self, values: np.ndarray) -> np.ndarray:
        """The nearest multiples as integers, float64."""
        return np.clip(np.rint(values / self.step), -self.largest, self.largest)


def grid_for(values: np.ndarray, largest: int, share: float) -> Grid:
    """A grid whose range holds a ``share`` of the values other than 0."""
    sizes = np.abs(values[values != 0])
    reach = float(np.quantile(sizes, share)) if len(sizes) else 1.0
    return Grid(max(reach, 1e-12) / largest, largest)


def sweep(
    rows: GreedyRows,
    objective: Objective,
    n_sweeps: int,
    *,
    strength: float,
    towards: np.ndarray | None = None,
    grid: Grid | None = None,
) -> GreedyRows:
    """The rows with counters refitted.

    Parameters
    ----------
    strength : weight of the squared distance from ``towards``: ridge regularisation
    towards : (L, R, C) counters that the fit is regularised towards; None for 0
    grid : the numbers that counters may be, to which they are rounded first; None for any
    """
    fit_rows = require_native().train_fit_rows
    values, offset = np.array(rows.values, np.float64), np.array(rows.offset, np.float64)
    if grid is not None:
        values = grid.round(values)
    centers = np.zeros_like(values) if towards is None else np.ascontiguousarray(towards)
    current = outputs_of(replace(rows, values=values))
    for _ in range(n_sweeps):
        slope, curvature = objective.slopes(current)
        change = -slope.sum(axis=0) / curvature.sum(axis=0)
        offset += change
        current += change
        for first in range(0, len(values), ROWS_PER_MODEL):
            some = slice(first, first + ROWS_PER_MODEL)
            slope, curvature = objective.slopes(current)
            fit_rows(
                rows.buckets[some], centers[some], values[some], current, slope, curvature, strength, MAX_STEP,
                0.0 if grid is None else grid.step, 0.0 if grid is None else float(grid.largest),
            )  # fmt: skip
    return replace(rows, values=values, offset=offset)


def outputs_of(rows: GreedyRows) -> np.ndarray:
    """Outputs (n, C) of the rows for the data behind their buckets."""
    n = rows.buckets.shape[1]
    total = np.repeat(rows.offset[None].astype(np.float64), n, axis=0)
    for bucket, counters in zip(rows.buckets, rows.values, strict=True):
        total += counters[bucket]
    return total
