"""How much work a step of gradient descent is, by the sizes of a model, and how many steps are made for it.

The unit is one entry of a matrix and a batch of 256 rows, about 18 nanoseconds. The other constants are a fit to the
times of forty shapes, which it gives to within a fifth.
"""

from itertools import pairwise

from .stage_shape import Shape
from .stages import MAX_BATCH, Schedule

#: Work of any step, and for every value, coordinate of tables, coordinate of ReLU, row, output, weight of an output.
STEP_WORK, VALUE_WORK, TABLE_WORK, RELU_WORK, ROW_WORK, OUTPUT_WORK, WEIGHT_WORK = 535, 31, 35, 18, 24, 22, 2
#: Share of a step's work that does not depend on the size of the batch: rounding and updating parameters.
FIXED_SHARE = 0.2
WORK_PER_STEP = 2_500  # of a model of about 1 KB, which is trained for all steps; larger ones for fewer
MIN_STEP_SHARE = 1 / 20  # of the steps, for the largest models
MAX_EPOCHS = 600


def work_of_step(shape: Shape, n_values: int, n_outputs: int, n_rows: int) -> float:
    """Work of a step of a model that is trained on ``n_rows`` rows."""
    rows, last = shape.rows, shape.widths[-1]
    n_tables = sum(stage.width for stage in shape.stages if stage.activation == "table")
    n_others = sum(stage.width for stage in shape.stages) - n_tables
    n_weights = sum(stage.width for stage in shape.stages if stage.has_linear)
    n_weights += last if rows is None or rows.has_linear else 0
    n_weights += 0 if rows is None else last
    work = STEP_WORK + VALUE_WORK * n_values + sum(n * p for n, p in pairwise((n_values, *shape.widths)))
    work += TABLE_WORK * n_tables + RELU_WORK * n_others + (0 if rows is None else ROW_WORK * last)
    work += OUTPUT_WORK * n_outputs + WEIGHT_WORK * n_weights * n_outputs
    return work * (FIXED_SHARE + (1.0 - FIXED_SHARE) * Schedule().batch_of(n_rows) / MAX_BATCH)


def steps_for(n_steps: int, work: float, work_per_step: float, n_rows: int) -> int:
    """Steps to train for: ``n_steps`` of a model of at most ``work_per_step``, fewer for more work and for few rows.

    >>> [steps_for(1_000, work, 2_500, 50_000) for work in (500, 5_000, 10**6)]
    [1000, 500, 50]
    """
    most = MAX_EPOCHS * max(1, n_rows // Schedule().batch_of(n_rows))
    share = min(1.0, max(MIN_STEP_SHARE, work_per_step / work))
    return max(1, min(most, int(n_steps * share)))
