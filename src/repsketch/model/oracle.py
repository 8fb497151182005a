"""Stage 3, the oracle: predict in the plainest NumPy. Paper: Algorithm 2; errata 1 and 2.

Every other runtime is compared with this one. float32 sums have a fixed order and integers are exact, so a
prediction does not depend on the batch it is in; ``docs/spec/inference.md`` specifies it.
"""

from dataclasses import dataclass

import numpy as np

from .model import Model
from .rows import RowGroup


@dataclass(frozen=True)
class Coordinates:
    """What the groups of rows of a model read, for n inputs."""

    values: np.ndarray  #: (D, n)
    projected: np.ndarray  #: (p, n)

    def of(self, group: RowGroup) -> np.ndarray:
        """What this group of rows hashes."""
        return self.values if group.source == "values" else self.projected


def coordinates(model: Model, block: np.ndarray) -> Coordinates:
    """Values and projected coordinates, float32 or int32, of a float32 block (n, d)."""
    values = model.inputs.values(block)
    return Coordinates(values, values if model.projection is None else model.projection.apply(values))


def buckets(model: Model, block: np.ndarray) -> np.ndarray:
    """Bucket of every input in every row of every group, int32 (n, rows)."""
    z = coordinates(model, block)
    columns = [group.hashes.buckets(z.of(group), row) for group in model.row_groups for row in range(group.n_rows)]
    return np.stack(columns, axis=1).astype(np.int32)


def accumulators(model: Model, block: np.ndarray) -> np.ndarray:
    """Accumulators of every group of rows, (groups, n, C), float32 or int32."""
    z = coordinates(model, block)
    return np.stack([group.accumulate(z.of(group)) for group in model.row_groups]).astype(z.values.dtype)


def query(model: Model, block: np.ndarray) -> np.ndarray:
    """Outputs (n, C), float32, for a block of inputs (n, d) without infinities."""
    z = coordinates(model, block)
    outputs = np.repeat(model.offset[None], len(block), axis=0)
    for group in model.row_groups:
        outputs = outputs + group.accumulate(z.of(group)).astype(np.float32) * group.gain
    if model.linear is None:
        return outputs
    if model.linear_gain is not None:
        sums = z.projected.T.astype(np.float64) @ model.linear.astype(np.float64)  # exact: below 2**53
        return outputs + sums.astype(np.float32) * model.linear_gain
    for coordinate, slopes in zip(z.projected, model.linear, strict=True):
        outputs += coordinate[:, None] * slopes
    return outputs
