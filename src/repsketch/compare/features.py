"""Columns of a raw table as numbers for networks and kernels: standardised, one-hot, marked where one is missing."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..model.inputs import NUMERIC
from ..model.numbers import encode_bfloat16, encode_float8, float8_bias, round_floats
from ..train.columns import moments_of
from ..train.training_data import TrainingData

FARTHEST = 8.0  # standard deviations from the mean; what is beyond is moved there
_ALIKE = 4.0  # spreads of columns within this factor share one center and scale


@dataclass(frozen=True, eq=False)
class Features:
    """How rows of d columns become D numbers.

    Attributes
    ----------
    n_columns : d
    columns : (U,) those in use; constant ones are left out, unless all are
    kinds : (U,) as in ``Inputs``
    has_gaps : (U,) bool, numbers that may be missing: 0 and a mark then. A category that is missing has no 1
    centers, scales : (number of numeric columns,) or (1,) float32, as they come back from being kept
    stored_as : how these are kept
    """

    n_columns: int
    columns: np.ndarray
    kinds: np.ndarray
    has_gaps: np.ndarray
    centers: np.ndarray
    scales: np.ndarray
    stored_as: str

    @classmethod
    def of(cls, problem: TrainingData) -> "Features":
        """Features of the rows that are not held out."""
        X = problem.X[problem.kept]
        places = np.arange(X.shape[1]) if problem.places is None else problem.places
        varying = places[[_varies(X[:, place]) for place in places]]
        places = varying if len(varying) else places[:1]
        kinds, has_gaps = problem.kinds[places], np.isnan(X[:, places]).any(axis=0)
        middles, spreads = moments_of(X[:, places[kinds == NUMERIC]])
        if len(spreads) and spreads.max() < _ALIKE * spreads.min() and np.ptp(middles) < _ALIKE * spreads.min():
            middles, spreads = middles.mean(keepdims=True), np.sqrt((spreads**2).mean(keepdims=True))
        stored_as, centers, scales = _shortest(middles, 1.0 / spreads)
        return cls(X.shape[1], places, kinds, has_gaps & (kinds <= 1), centers, scales, stored_as)

    @cached_property
    def n_values(self) -> int:
        """Numbers that a row becomes, D."""
        return int(np.maximum(self.kinds, 1).sum() + self.has_gaps.sum())

    @cached_property
    def stored(self) -> dict[str, np.ndarray]:
        """What is kept: centers and scales, and one bit a column where some are left out."""
        encode = {
            "float8": lambda values: encode_float8(values, float8_bias(values)),
            "bfloat16": encode_bfloat16,
            "float32": lambda values: values,
        }[self.stored_as]
        arrays = {"centers": encode(self.centers), "scales": encode(self.scales)} if len(self.centers) else {}
        if len(self.columns) < self.n_columns:
            arrays["columns"] = np.packbits(np.isin(np.arange(self.n_columns), self.columns))
        return arrays

    @property
    def nbytes(self) -> int:
        """Bytes of what is kept."""
        return sum(array.nbytes for array in self.stored.values())

    def values(self, X: np.ndarray) -> np.ndarray:
        """Rows (n, d) as numbers, float32 (n, D)."""
        parts: list[np.ndarray] = []
        affine = iter(np.broadcast_to(np.stack([self.centers, self.scales], axis=1), (self._n_numeric, 2)))
        for place, kind, has_gaps in zip(self.columns, self.kinds, self.has_gaps, strict=True):
            column = X[:, place]
            if kind > 1:
                parts.append(column[:, None] == np.arange(kind, dtype=np.float32))
                continue
            is_missing = np.isnan(column)
            if kind == NUMERIC:
                center, scale = next(affine)
                column = np.clip((column - center) * scale, -FARTHEST, FARTHEST)
            else:
                column = column != 0
            parts.append(np.where(is_missing, 0.0, column)[:, None])
            if has_gaps:
                parts.append(is_missing[:, None])
        return np.concatenate(parts, axis=1, dtype=np.float32) if parts else np.zeros((len(X), 0), np.float32)

    @property
    def _n_numeric(self) -> int:
        return int((self.kinds == NUMERIC).sum())


def _varies(column: np.ndarray) -> bool:
    found = column[~np.isnan(column)]
    return len(found) > 0 and bool(len(found) < len(column) or (found != found[0]).any())


def _shortest(middles: np.ndarray, scales: np.ndarray) -> tuple[str, np.ndarray, np.ndarray]:
    """The shortest floats whose centers are within half a spread and whose scales are near."""
    for stored_as in ("float8", "bfloat16", "float32"):
        centers, kept = round_floats(middles, stored_as), round_floats(scales, stored_as)
        if np.all(np.abs(centers - middles) * scales < 0.5) and np.all(np.abs(kept - scales) < 0.2 * scales):
            break
    return stored_as, centers, kept
