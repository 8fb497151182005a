"""Stage 3, the oracle: predict in the plainest NumPy, line for line the paper's Algorithm 2.

Every other runtime is compared with this one. All arithmetic is float32 in a fixed order, so a
prediction does not depend on the batch it is in; ``docs/spec/inference.md`` says it in words.
"""

from typing import TYPE_CHECKING

import numpy as np

from ..lsh.family import saturate
from .aggregate import group_bounds, median

if TYPE_CHECKING:
    from .sketch import Sketch


def project(sketch: "Sketch", block: np.ndarray) -> np.ndarray:
    """Coordinates that are hashed, in the family's units, float32 (p, n), for inputs (n, d)."""
    if sketch.projection is None:
        z = sketch.hashes.family.in_units(block)
        return z if sketch.shift is None else saturate(z + sketch.shift[:, None])
    inputs = saturate(np.ascontiguousarray(block.T, dtype=np.float32))
    z = np.zeros((sketch.hashes.n_features, inputs.shape[1]), np.float32)
    if sketch.shift is not None:
        z += sketch.shift[:, None]
    for feature, column in zip(inputs, sketch.projection, strict=True):  # in rising order: part of the spec
        z += column[:, None] * feature
    return saturate(z)


def query(sketch: "Sketch", block: np.ndarray) -> np.ndarray:
    """Outputs (n, C), float32, for a finite block of inputs (n, d). Paper: Algorithm 2; errata 1 and 2."""
    z = project(sketch, block)
    bounds = group_bounds(sketch.n_rows, sketch.n_groups)
    means = np.zeros((sketch.n_groups, z.shape[1], sketch.n_outputs), np.float32)
    for group in range(sketch.n_groups):
        for row in range(bounds[group], bounds[group + 1]):
            bucket = sketch.hashes.buckets(z, row)
            means[group] += sketch.counters[row, bucket]
        means[group] /= np.float32(bounds[group + 1] - bounds[group])
    outputs = median(means) * sketch.gain + sketch.offset
    if sketch.linear is not None:
        for coordinate, slopes in zip(z, sketch.linear, strict=True):
            outputs += coordinate[:, None] * slopes
    return outputs
