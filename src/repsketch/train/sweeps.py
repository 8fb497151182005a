"""All counters fitted together, one row after the other: block-Newton sweeps, also on the grid of stored numbers."""

from dataclasses import dataclass, replace

import numpy as np

from ..core import require_native
from .greedy import Grown
from .objective import Objective

ROWS_A_MODEL = 8  # fitted to one quadratic model of the loss, before another one is taken
LONGEST_STEP = 1.0  # of a counter in one sweep: Newton's model of the loss is trusted no further


@dataclass(frozen=True)
class Grid:
    """Whole multiples of ``step``, up to ``largest`` of them."""

    step: float
    largest: int

    def round(self, values: np.ndarray) -> np.ndarray:
        """The nearest numbers on the grid."""
        return self.whole(values) * self.step

    def whole(self, values: np.ndarray) -> np.ndarray:
        """The multiples themselves, float64."""
        return np.clip(np.rint(values / self.step), -self.largest, self.largest)


def grid_for(values: np.ndarray, largest: int, share: float) -> Grid:
    """A grid that reaches all but ``1 - share`` of the values other than 0."""
    sizes = np.abs(values[values != 0])
    reach = float(np.quantile(sizes, share)) if len(sizes) else 1.0
    return Grid(max(reach, 1e-12) / largest, largest)


def sweep(
    rows: Grown,
    objective: Objective,
    n_sweeps: int,
    *,
    strength: float,
    towards: np.ndarray | None = None,
    grid: Grid | None = None,
    outputs: np.ndarray | None = None,
) -> Grown:
    """The rows with counters refitted.

    Parameters
    ----------
    strength : weight of the squared distance from ``towards``
    towards : (L, R, C) counters to stay near to; None for 0
    grid : the numbers that counters may be; they are rounded to it first
    outputs : (n, C) what the rows are added to, beside their offset
    """
    fit_rows = require_native().train_fit_rows
    values, offset = np.array(rows.values, np.float64), np.array(rows.offset, np.float64)
    if grid is not None:
        values = grid.round(values)
    wanted = np.zeros_like(values) if towards is None else np.ascontiguousarray(towards)
    current = outputs_of(replace(rows, values=values), outputs)
    for _ in range(n_sweeps):
        slope, curvature = objective.slopes(current)
        change = -slope.sum(axis=0) / curvature.sum(axis=0)
        offset += change
        current += change
        for first in range(0, len(values), ROWS_A_MODEL):
            some = slice(first, first + ROWS_A_MODEL)
            slope, curvature = objective.slopes(current)
            fit_rows(
                rows.buckets[some], wanted[some], values[some], current, slope, curvature, strength, LONGEST_STEP,
                0.0 if grid is None else grid.step, 0.0 if grid is None else float(grid.largest),
            )  # fmt: skip
    return replace(rows, values=values, offset=offset)


def outputs_of(rows: Grown, outputs: np.ndarray | None = None) -> np.ndarray:
    """What rows predict for the data they were made on, (n, C), added to ``outputs``."""
    n = rows.buckets.shape[1]
    total = np.repeat(rows.offset[None].astype(np.float64), n, axis=0)
    if outputs is not None:
        total += outputs
    for bucket, counters in zip(rows.buckets, rows.values, strict=True):
        total += counters[bucket]
    return total
