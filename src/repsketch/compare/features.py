"""Columns of a raw table as features of networks and kernels: standardised, one-hot, with indicators of gaps."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..model.inputs import NUMERIC
from ..model.numbers import encode_floats, round_floats
from ..train.columns import moments_of
from ..train.training_data import TrainingData

FARTHEST = 8.0  # standard deviations from the mean that values are clipped to
_SHARED_FACTOR = 4.0  # columns whose standard deviations lie within this factor share one center and scale


@dataclass(frozen=True, eq=False)
class Features:
    """How rows of d columns become D features.

    Attributes
    ----------
    n_columns : d
    columns : (U,) columns in use; constant ones are left out, unless all are constant
    kinds : (U,) as in ``Inputs``
    has_gaps : (U,) bool, numbers that may be missing: they become 0 and an indicator. A missing category has no 1
    centers, scales : (number of numeric columns,) or (1,) float32, rounded as they are stored
    stored_as : the type that these are stored in
    """

    n_columns: int
    columns: np.ndarray
    kinds: np.ndarray
    has_gaps: np.ndarray
    centers: np.ndarray
    scales: np.ndarray
    stored_as: str

    @classmethod
    def of(cls, data: TrainingData) -> "Features":
        """Features by statistics of the training rows."""
        X = data.X[data.train_rows]
        places = varying_columns(data)
        kinds, has_gaps = data.kinds[places], np.isnan(X[:, places]).any(axis=0)
        middles, deviations = moments_of(X[:, places[kinds == NUMERIC]])
        if (
            len(deviations)
            and deviations.max() < _SHARED_FACTOR * deviations.min()
            and np.ptp(middles) < _SHARED_FACTOR * deviations.min()
        ):
            middles, deviations = middles.mean(keepdims=True), np.sqrt((deviations**2).mean(keepdims=True))
        stored_as, centers, scales = _shortest(middles, 1.0 / deviations)
        return cls(X.shape[1], places, kinds, has_gaps & (kinds <= 1), centers, scales, stored_as)

    @cached_property
    def n_values(self) -> int:
        """Number of features, D."""
        return int(np.maximum(self.kinds, 1).sum() + self.has_gaps.sum())

    @cached_property
    def stored(self) -> dict[str, np.ndarray]:
        """Stored arrays: centers and scales, and one bit a column where some are left out."""
        named = {"centers": self.centers, "scales": self.scales} if len(self.centers) else {}
        arrays = {name: encode_floats(array, self.stored_as) for name, array in named.items()}
        if len(self.columns) < self.n_columns:
            arrays["columns"] = np.packbits(np.isin(np.arange(self.n_columns), self.columns))
        return arrays

    @property
    def nbytes(self) -> int:
        """Bytes of the stored arrays."""
        return sum(array.nbytes for array in self.stored.values())

    def values(self, X: np.ndarray) -> np.ndarray:
        """Features float32 (n, D) of rows (n, d)."""
        values = np.empty((len(X), self.n_values), np.float32)
        affine = iter(np.broadcast_to(np.stack([self.centers, self.scales], axis=1), (self._n_numeric, 2)))
        end = 0
        for place, kind, has_gaps in zip(self.columns, self.kinds, self.has_gaps, strict=True):
            column, start = X[:, place], end
            if kind > 1:
                end += int(kind)
                values[:, start:end] = column[:, None] == np.arange(kind, dtype=np.float32)
                continue
            is_missing = np.isnan(column)
            if kind == NUMERIC:
                center, scale = next(affine)
                column = np.clip((column - center) * scale, -FARTHEST, FARTHEST)
            else:
                column = column != 0
            end += 2 if has_gaps else 1
            values[:, start] = np.where(is_missing, 0.0, column)
            values[:, start + 1 : end] = is_missing[:, None]
        return values

    @property
    def _n_numeric(self) -> int:
        return int((self.kinds == NUMERIC).sum())


def varying_columns(data: TrainingData) -> np.ndarray:
    """The columns in use (U,) that are not constant in the training rows; the first one if all are."""
    X = data.X[data.train_rows]
    places = np.arange(X.shape[1]) if data.columns is None else data.columns
    varying = places[[_varies(X[:, place]) for place in places]]
    return varying if len(varying) else places[:1]


def _varies(column: np.ndarray) -> bool:
    found = column[~np.isnan(column)]
    return len(found) > 0 and bool(len(found) < len(column) or (found != found[0]).any())


def _shortest(middles: np.ndarray, scales: np.ndarray) -> tuple[str, np.ndarray, np.ndarray]:
    """The shortest floats that keep centers within half a standard deviation and scales within a fifth."""
    for stored_as in ("float8", "bfloat16", "float32"):
        centers, rounded = round_floats(middles, stored_as), round_floats(scales, stored_as)
        if np.all(np.abs(centers - middles) * scales < 0.5) and np.all(np.abs(rounded - scales) < 0.2 * scales):
            break
    return stored_as, centers, rounded
