"""Stage 3, the oracle: predict in the plainest NumPy. Paper: Algorithm 2; errata 1 and 2.

Every other runtime is compared with this one. float32 sums have a fixed order and whole numbers are exact,
so a prediction does not depend on the batch it is in; ``docs/spec/inference.md`` says it in words.
"""

from dataclasses import dataclass

import numpy as np

from .form import Form
from .part import Part


@dataclass(frozen=True)
class Coordinates:
    """What the parts of a form read, for n inputs."""

    values: np.ndarray  #: (D, n)
    projected: np.ndarray  #: (p, n)

    def of(self, part: Part) -> np.ndarray:
        """What this part hashes."""
        return self.values if part.source == "values" else self.projected


def coordinates(form: Form, block: np.ndarray) -> Coordinates:
    """Values and projected coordinates, float32 or int32, of a float32 block (n, d)."""
    values = form.inputs.values(block)
    return Coordinates(values, values if form.projection is None else form.projection.apply(values))


def buckets(form: Form, block: np.ndarray) -> np.ndarray:
    """Bucket of every input in every row of every part, int32 (n, rows)."""
    z = coordinates(form, block)
    columns = [part.hashes.buckets(z.of(part), row) for part in form.parts for row in range(part.n_rows)]
    return np.stack(columns, axis=1).astype(np.int32)


def accumulators(form: Form, block: np.ndarray) -> np.ndarray:
    """Accumulators of every part, (parts, n, C), float32 or int32."""
    z = coordinates(form, block)
    return np.stack([part.accumulate(z.of(part)) for part in form.parts]).astype(z.values.dtype)


def query(form: Form, block: np.ndarray) -> np.ndarray:
    """Outputs (n, C), float32, for a block of inputs (n, d) without infinities."""
    z = coordinates(form, block)
    outputs = np.repeat(form.offset[None], len(block), axis=0)
    for part in form.parts:
        outputs = outputs + part.accumulate(z.of(part)).astype(np.float32) * part.gain
    if form.linear is None:
        return outputs
    if form.linear_gain is not None:
        sums = z.projected.T.astype(np.float64) @ form.linear.astype(np.float64)  # exact: below 2**53
        return outputs + sums.astype(np.float32) * form.linear_gain
    for coordinate, slopes in zip(z.projected, form.linear, strict=True):
        outputs += coordinate[:, None] * slopes
    return outputs
