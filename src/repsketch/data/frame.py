"""Our own frame: columns of NumPy arrays with names, as files of tables are read into.

``as_columns`` takes it beside the frames of pandas, polars and pyarrow, and needs no other library for it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Column:
    """The cells of a column.

    Attributes
    ----------
    values : (n,) integers, floats, booleans, dates and times, or text as objects; of any value where one is missing
    is_missing : (n,) bool
    kind : "number", "boolean", "text", "category" or "time"

    >>> column = Column(np.array([1, 0, 3]), np.array([False, True, False]), "number")
    >>> column.cells(), column.numbers("column 'size'").tolist(), column.integers().tolist()
    ([1, None, 3], [1.0, nan, 3.0], [1, 3])
    """

    values: np.ndarray
    is_missing: np.ndarray
    kind: str

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> "Column":
        return replace(self, values=self.values[rows], is_missing=self.is_missing[rows])

    def kind_as(self, label: str) -> str:
        """The kind; ``label``, the column in words, is for columns of other libraries."""
        return self.kind

    def cells(self) -> list[Any]:
        """The cells as Python objects, None where one is missing."""
        pairs = zip(self.values.tolist(), self.is_missing.tolist(), strict=True)
        return [None if is_missing else value for value, is_missing in pairs]

    def texts(self) -> list[str | None]:
        """The cells as text, None where one is missing."""
        return [None if cell is None else str(cell) for cell in self.cells()]

    def numbers(self, label: str) -> np.ndarray:
        """Numbers and booleans, float32 (n,), NaN where one is missing; ``label`` is the column in words."""
        with np.errstate(over="ignore"):  # values beyond float32 become infinite and are refused
            numbers = self.values.astype(np.float32)
        numbers[self.is_missing] = np.nan
        return numbers

    def integers(self) -> np.ndarray | None:
        """The cells (m,) that are not missing, if the column's type is one of integers."""
        return self.values[~self.is_missing] if self.kind == "number" and self.values.dtype.kind in "iu" else None


class Frame:
    """A table of columns.

    Parameters
    ----------
    columns : the columns by name, all of the same length
    n_rows : needed without columns alone

    >>> frame = Frame({"size": Column(np.array([1.5, 2.0]), np.zeros(2, bool), "number")})
    >>> frame.columns, frame.shape, frame.kinds, frame.rows()
    (['size'], (2, 1), {'size': 'number'}, [(1.5,), (2.0,)])
    """

    def __init__(self, columns: Mapping[str, Column], n_rows: int = 0):
        self._columns = dict(columns)
        self._n_rows = len(next(iter(self._columns.values()), range(n_rows)))

    def __repr__(self) -> str:
        return f"Frame of {self.shape[0]} rows: {', '.join(map(repr, self._columns))}"

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, (n, d)."""
        return self._n_rows, len(self._columns)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of every column by its name."""
        return {name: column.kind for name, column in self._columns.items()}

    def __getitem__(self, place: Any) -> Any:
        """The column of this name; or the frame of these rows, a slice or indices (m,)."""
        if isinstance(place, str):
            return self._columns[place]
        n_rows = len(np.empty(self._n_rows, bool)[place])
        return Frame({name: column[place] for name, column in self._columns.items()}, n_rows)

    def select(self, names: Iterable[str]) -> "Frame":
        """The frame of these columns, in this order."""
        return Frame({name: self._columns[name] for name in names}, self._n_rows)

    def drop(self, *names: str) -> "Frame":
        """The frame without these columns."""
        return self.select(name for name in self._columns if name not in names)

    def with_columns(self, columns: Mapping[str, Column]) -> "Frame":
        """The frame with these columns in place of those of their names, or behind the others."""
        return Frame(self._columns | dict(columns))

    def rows(self) -> list[tuple[Any, ...]]:
        """The rows as tuples, None where a cell is missing."""
        return list(zip(*(column.cells() for column in self._columns.values()), strict=True))

    def to_numpy(self) -> np.ndarray:
        """Float64 (n, d), NaN where a cell is missing; objects if some column is no numbers."""
        if any(kind not in ("number", "boolean") for kind in self.kinds.values()):
            return np.array(self.rows(), object).reshape(self.shape)
        table = np.empty(self.shape)
        for place, column in enumerate(self._columns.values()):
            table[:, place] = column.values
            table[column.is_missing, place] = np.nan
        return table
