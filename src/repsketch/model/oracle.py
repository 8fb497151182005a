"""Stage 3, the oracle: predict in the plainest NumPy. Paper: Algorithm 2; errata 1 and 2.

Every other runtime is compared with this one. float32 sums have a fixed order and integers are exact, so a
prediction does not depend on the batch it is in; ``docs/spec/inference.md`` specifies it.
"""

from dataclasses import dataclass

import numpy as np

from .model import Model
from .rows import RowGroup
from .stages import Stages


@dataclass(frozen=True)
class Coordinates:
    """What the groups of rows of a model read, for n inputs."""

    values: np.ndarray  #: (D, n)
    projected: np.ndarray  #: (p, n)
    stages: tuple[np.ndarray, ...] = ()  #: z of every stage, (its p, n)

    def of(self, group: RowGroup) -> np.ndarray:
        """What this group of rows hashes."""
        return self.values if group.source == "values" else self.projected


def coordinates(model: Model, block: np.ndarray) -> Coordinates:
    """Values and projected coordinates, float32 or int32, of a float32 block (n, d)."""
    values = model.inputs.values(block)
    if isinstance(model.projection, Stages):
        *stages, projected = model.projection.coordinates(values)
        return Coordinates(values, projected, tuple(stages))
    return Coordinates(values, values if model.projection is None else model.projection.apply(values))


def buckets(model: Model, block: np.ndarray) -> np.ndarray:
    """Bucket of every input in every row of every group, int32 (n, rows)."""
    z = coordinates(model, block)
    columns = [group.hashes.buckets(z.of(group), row) for group in model.row_groups for row in range(group.n_rows)]
    return np.stack(columns, axis=1).astype(np.int32) if columns else np.zeros((len(block), 0), np.int32)


def accumulators(model: Model, block: np.ndarray) -> np.ndarray:
    """Accumulators of every group of rows, (groups, n, C), float32 or int32."""
    z = coordinates(model, block)
    shape = (len(model.row_groups), len(block), model.n_outputs)
    found = [group.accumulate(z.of(group)) for group in model.row_groups]
    return np.array(found, z.values.dtype).reshape(shape)


def query(model: Model, block: np.ndarray) -> np.ndarray:
    """Outputs (n, C), float32, for a block of inputs (n, d) without infinities."""
    z = coordinates(model, block)
    outputs = np.repeat(model.offset[None], len(block), axis=0)
    for group in model.row_groups:
        outputs = outputs + group.accumulate(z.of(group)).astype(np.float32) * group.gain
    if model.linear is not None and model.linear_gain is not None:
        outputs = outputs + _integer_linear(z.projected, model.linear, model.linear_gain)
    elif model.linear is not None:
        for coordinate, slopes in zip(z.projected, model.linear, strict=True):
            outputs += coordinate[:, None] * slopes
    for stage, coordinate in zip(model.stages, z.stages, strict=True):
        if stage.linear is not None and stage.linear_gain is not None:
            outputs = outputs + _integer_linear(coordinate, stage.linear, stage.linear_gain)
    return outputs


def _integer_linear(z: np.ndarray, linear: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """A linear term in integers, (n, C) float32."""
    sums = z.T.astype(np.float64) @ linear.astype(np.float64)  # exact: below 2**53
    return sums.astype(np.float32) * gain
