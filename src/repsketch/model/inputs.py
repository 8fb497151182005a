"""From the columns of a table to the values that a model computes with.

The first step of inference: numeric columns are centred and scaled (and rounded to integers in the int precision),
boolean ones become 0 or 1, categories are one-hot encoded. See section 1 of
``docs/spec/inference.md``.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..checks import check_choice, check_count
from ..display import repr_of_fields
from ..errors import InputError
from ..lsh.family import COORDINATE_LIMIT, saturate
from ..lsh.generator import MAX_FEATURES
from .numbers import STORED_FLOATS, check_floats, index_bits, packed_nbytes, round_floats

NUMERIC, BOOLEAN = 0, 1
LARGEST_VALUE = 32_767
MAX_CATEGORIES = 65_535


@dataclass(frozen=True, eq=False)
class Inputs:
    """How d columns become D values.

    Attributes
    ----------
    n_features : d
    columns : (U,) the columns used, rising; None for all
    kinds : (U,) 0 for numeric, 1 for boolean, n for a category out of n; None if all are numeric
    centers, scales : (number of numeric columns,) or (1,) float32; None for 0 (1), no operation
    stored_as : "float32", "bfloat16" or "float8", the type that centers and scales are stored in
    limits : smallest and largest value in the int precision; None in float32
    accepts_missing : NaN is accepted, as a value below all others

    >>> inputs = Inputs(3, kinds=np.array([0, 1, 4]), limits=(-127, 127))
    >>> inputs.values(np.array([[2.5, 7.0, 3.0]], np.float32))[:, 0].tolist()
    [2, 1, 0, 0, 0, 1]
    """

    n_features: int
    columns: np.ndarray | None = None
    kinds: np.ndarray | None = None
    centers: np.ndarray | None = None
    scales: np.ndarray | None = None
    stored_as: str = "float32"
    limits: tuple[int, int] | None = None
    accepts_missing: bool = False

    __repr__ = repr_of_fields

    def __post_init__(self) -> None:
        check_count("n_features", self.n_features, MAX_FEATURES)
        check_choice("stored_as", self.stored_as, STORED_FLOATS)
        if self.columns is not None and not (
            len(self.columns)
            and self.columns[0] >= 0
            and np.all(np.diff(self.columns) > 0)
            and self.columns[-1] < self.n_features
        ):
            raise InputError(f"columns must rise, from 0 to below n_features={self.n_features}.")
        if self.kinds is not None and len(self.kinds) != self.n_columns:
            raise InputError(f"{len(self.kinds)} kinds for {self.n_columns} columns; one for each is needed.")
        if self.kinds is not None and not (np.min(self.kinds) >= 0 and np.max(self.kinds) <= MAX_CATEGORIES):
            raise InputError(f"kinds must be 0, 1, or a number of categories up to {MAX_CATEGORIES}.")
        if self.n_values > MAX_FEATURES:
            raise InputError(f"the columns give {self.n_values} values; allowed are {MAX_FEATURES}.")
        for name, array in (("centers", self.centers), ("scales", self.scales)):
            if array is None:
                continue
            if len(array) not in (1, self.n_numeric) or not self.n_numeric:
                raise InputError(f"{len(array)} {name} for {self.n_numeric} numeric columns; one, or one for each.")
            check_floats(name, array)
            if not np.isfinite(array).all() or (name == "scales" and not np.all(array > 0)):
                raise InputError(f"{name} must be finite numbers, scales above 0.")
            if self.stored_as != "float32" and not np.array_equal(round_floats(array, self.stored_as), array):
                raise InputError(f"{name} are not what {self.stored_as!r} can hold; round them first.")
        if self.limits is not None:
            low, high = self.limits
            if not -LARGEST_VALUE <= low < high <= LARGEST_VALUE:
                raise InputError(f"limits={self.limits}; allowed is -{LARGEST_VALUE} <= low < high <= {LARGEST_VALUE}.")

    @property
    def n_columns(self) -> int:
        """Columns used."""
        return self.n_features if self.columns is None else len(self.columns)

    @cached_property
    def _kinds(self) -> np.ndarray:
        return np.zeros(self.n_columns, np.int64) if self.kinds is None else np.asarray(self.kinds, np.int64)

    @cached_property
    def n_numeric(self) -> int:
        """Numeric columns used."""
        # Counted without allocation: a file of a few hundred bytes may claim to have a million columns.
        return self.n_columns if self.kinds is None else self.n_columns - int(np.count_nonzero(self.kinds))

    @cached_property
    def n_values(self) -> int:
        """Values a row becomes, D."""
        return self.n_columns if self.kinds is None else int(np.sum(self.kinds, dtype=np.int64)) + self.n_numeric

    @property
    def category_counts(self) -> list[int]:
        """Numbers of categories of the categorical columns used."""
        return [] if self.has_one_kind else [int(kind) for kind in self._kinds if kind > BOOLEAN]

    @cached_property
    def booleans(self) -> np.ndarray:
        """Which values are 0 or 1 only, bool (D,)."""
        if self.has_one_kind:
            return np.broadcast_to(np.bool_(self.n_numeric == 0), (self.n_values,))
        return np.repeat(self._kinds != NUMERIC, np.maximum(self._kinds, 1))

    def are_boolean(self, places: list[int]) -> np.ndarray:
        """Which of these values are 0 or 1 only, without an array of all values; bool (len(places),)."""
        if self.has_one_kind:
            return np.full(len(places), self.n_numeric == 0)
        ends = np.cumsum(np.maximum(self._kinds, 1))
        return self._kinds[np.searchsorted(ends, places, side="right")] != NUMERIC

    @property
    def largest(self) -> int:
        """Largest size of a value in the int precision."""
        if self.limits is None or not self.n_numeric:
            return 1
        return max(abs(self.limits[0]), abs(self.limits[1])) + self.accepts_missing

    @property
    def nbytes(self) -> int:
        """Bytes stored: used columns, kinds if they differ, centers and scales."""
        size = 0 if self.columns is None else packed_nbytes(self.n_columns, index_bits(self.n_features))
        size += 0 if self.has_one_kind else 2 * self.n_columns
        each = {"float32": 4, "bfloat16": 2, "float8": 1}[self.stored_as]
        return size + sum(each * len(array) for array in (self.centers, self.scales) if array is not None)

    @property
    def has_one_kind(self) -> bool:
        """All columns are numeric, or all boolean."""
        if self.kinds is None or self.n_numeric == self.n_columns:
            return True
        return self.n_numeric == 0 and int(np.max(self.kinds)) == BOOLEAN

    def values(self, block: np.ndarray) -> np.ndarray:
        """Values (D, n), float32 or int32, for a float32 block (n, d) without infinities."""
        columns = block.T if self.columns is None else block.T[self.columns]
        pieces: list[np.ndarray] = []
        for kind, column in zip(self._kinds, columns, strict=True):
            if kind == NUMERIC:
                pieces.append(column[None])
            elif kind == BOOLEAN:
                pieces.append(((column != 0) & ~np.isnan(column))[None])
            else:
                pieces.append(column[None] == np.arange(kind, dtype=np.float32)[:, None])
        table = np.concatenate(pieces).astype(np.float32)
        table[~self.booleans] = self._numbers(table[~self.booleans])
        return table if self.limits is None else table.astype(np.int32)

    def _numbers(self, table: np.ndarray) -> np.ndarray:
        """Numeric columns centred, scaled, and rounded in the int precision; float32."""
        missing = np.isnan(table)
        with np.errstate(over="ignore"):
            if self.centers is not None:
                table = table - self.centers[:, None]
            if self.scales is not None:
                table = table * self.scales[:, None]
        if self.limits is None:
            return np.where(missing, -COORDINATE_LIMIT, saturate(table))
        low, high = (np.float32(limit) for limit in self.limits)
        return np.where(missing, low - 1, np.rint(np.clip(table, low, high)))
