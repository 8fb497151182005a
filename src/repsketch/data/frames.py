"""Raw tables: numbers, booleans and categories, some of them missing, as one array of float32.

A category becomes its index in the sorted list of its column's labels, a missing value NaN. Frames are our own
(``frame``) or, through narwhals, those of pandas, polars and pyarrow (``foreign_columns``); arrays and sparse matrices
are numbers already.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..display import repr_of_fields
from ..errors import InputError, require
from .arrays import as_table, is_sparse
from .cells import labels_to_indices, object_kind, text_of_number, to_numbers
from .foreign_columns import columns_of
from .frame import Frame


@dataclass(frozen=True, eq=False)
class Columns:
    """A table in numbers.

    Attributes
    ----------
    numbers : (n, d) float32, NaN where a value is missing
    names : the columns' names, or None
    categories : for each categorical column, by its index, the labels in order
    used : indices of the columns in use; None for all
    kinds : of every column of a frame: "number", "boolean", "text", "category" (a categorical dtype), "identifier"
        (integers that number the rows) or "time" (dates and times, which are not used)
    """

    numbers: np.ndarray
    names: tuple[str, ...] | None = None
    categories: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    used: Collection[int] | None = None
    kinds: tuple[str, ...] = ()

    __repr__ = repr_of_fields

    def with_labels(self, places: Mapping[int, np.ndarray]) -> "Columns":
        """The same table with fewer labels: in each given column those of these indices (m,); others become -1."""
        numbers, categories = self.numbers.copy(), dict(self.categories)
        for place, some in places.items():
            moved = np.full(len(categories[place]), UNSEEN, np.float32)
            moved[some] = np.arange(len(some))
            is_label = numbers[:, place] >= 0  # neither missing nor unseen
            numbers[is_label, place] = moved[numbers[is_label, place].astype(np.int64)]
            categories[place] = tuple(categories[place][label] for label in some)
        return replace(self, numbers=numbers, categories=categories)


UNSEEN = -1.0  # the index of a label that is not among a column's categories
_MIN_NUMBERED_ROWS = 40  # with fewer rows, different numbers do not prove an identifier
_EXACT, _SERIAL = 1 << 53, 1 << 24  # the ranges of integers that float64 and float32 hold exactly


def as_columns(X: Any, name: str = "X", known: Columns | None = None) -> Columns:
    """``X`` as numbers; with ``known``, by its columns and categories, and 0 for its unused columns.

    >>> as_columns([[1, 2], [3, 4]]).numbers.tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    if not is_frame(X):
        table = as_table(X, name)
        dense = table.toarray() if is_sparse(table) else table
        with np.errstate(over="ignore"):  # values beyond float32 become infinite and are refused
            numbers = np.ascontiguousarray(dense, np.float32)
        check_no_infinity(numbers, None, name)
        return Columns(numbers)
    given = _names_of(X, name)
    column_of = X.__getitem__ if isinstance(X, Frame) else columns_of(X)
    names = tuple(given)
    if known is not None and known.names is not None:
        missing = [column for column in known.names if column not in given]
        if missing:
            raise InputError(f"{name} lacks the columns {missing[:5]}, which this model was made with.")
        names = known.names
    numbers = np.zeros((X.shape[0], len(names)), np.float32)
    categories: dict[int, tuple[str, ...]] = {}
    kinds = []
    for place, column in enumerate(names):
        if known is not None and known.used is not None and place not in known.used:
            continue
        label = f"column {column!r} of {name}"
        cells = column_of(given[column])
        kinds.append(cells.kind_as(label))
        if known is not None:
            numbers[:, place] = _read_known(cells, kinds[-1], label, known.categories.get(place))
        elif kinds[-1] in ("text", "category"):
            numbers[:, place], categories[place] = labels_to_indices(cells.texts())
        elif kinds[-1] != "time":
            numbers[:, place] = cells.numbers(label)
            integers = cells.integers() if kinds[-1] == "number" else None
            if integers is not None and _is_identifier(integers):
                kinds[-1] = "identifier"
    check_no_infinity(numbers, names, name)
    if known is not None:
        return replace(known, numbers=numbers)
    used = None if "time" not in kinds else [place for place, kind in enumerate(kinds) if kind != "time"]
    return Columns(numbers, names, categories, used, tuple(kinds))


def some_rows(X: Any, rows: np.ndarray) -> Any:
    """Some rows (m,) of a table of any kind, as a table of that kind.

    >>> some_rows([[1, 2], [3, 4]], np.array([1, 1])).tolist()
    [[3, 4], [3, 4]]
    """
    if is_frame(X) and not isinstance(X, Frame):
        frame = require("narwhals", "frames").from_native(X, eager_only=True)
        return frame[rows.tolist()].to_native()
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]


def read_row(row: Any, known: Columns, name: str = "row") -> np.ndarray:
    """One row, float32 (d,): by name from a mapping or a pandas Series, else entry by entry in the columns' order.

    >>> known = Columns(np.empty((0, 2), np.float32), ("size", "tree"), {1: ("ash", "oak")})
    >>> read_row({"tree": "oak", "size": "4.5"}, known).tolist(), read_row([2, "elm"], known).tolist()
    ([4.5, 1.0], [2.0, -1.0])
    """
    d, names = known.numbers.shape[1], known.names or tuple(map(str, range(known.numbers.shape[1])))
    if isinstance(row, Mapping) or (hasattr(row, "index") and hasattr(row, "items")):
        entries = {str(key): value for key, value in row.items()}
        wanted = range(d) if known.used is None else known.used
        missing = [names[place] for place in wanted if names[place] not in entries]
        if missing:
            raise InputError(f"{name} lacks the columns {missing[:5]}, which this model was made with.")
    else:
        cells = np.asarray(row, object)
        if cells.shape != (d,):
            raise InputError(f"{name} has shape {cells.shape}; allowed is one entry for each of the {d} columns.")
        entries = dict(zip(names, cells.tolist(), strict=True))
    numbers = np.zeros((1, d), np.float32)
    for place, column in enumerate(names):
        if known.used is not None and place not in known.used:
            continue
        label = f"column {column!r} of {name}"
        value, labels = entries[column], known.categories.get(place)
        kind = object_kind([value], label)
        if labels is None:
            numbers[0, place] = to_numbers([value], label)[0]
        else:
            text = value if kind == "text" else text_of_number(value, labels)
            numbers[0, place] = labels_to_indices([text], labels)[0][0]
    check_no_infinity(numbers, names, name)
    return numbers[0]


def is_frame(X: Any) -> bool:
    """True for data frames, whose columns have names and types."""
    return hasattr(X, "columns") and hasattr(X, "shape") and not isinstance(X, np.ndarray)


def collected(X: Any) -> Any:
    """``X`` itself, or the collected frame of a polars LazyFrame."""
    return X.collect() if type(X).__name__ == "LazyFrame" and hasattr(X, "collect") else X


def check_no_infinity(numbers: np.ndarray, names: Sequence[str] | None, name: str) -> None:
    """Refuse infinities, naming the first by row and column."""
    if np.isinf(numbers).any():
        row, column = np.argwhere(np.isinf(numbers))[0]
        named = column if names is None else repr(names[column])
        raise InputError(
            f"{name} holds infinity (inf) at row {row}, column {named}; allowed are numbers within float32, and NaN."
        )


def _names_of(X: Any, name: str) -> dict[str, Any]:
    """The columns of a frame by their names as text; in pandas, names may be integers."""
    columns = list(getattr(X, "column_names", X.columns))  # pyarrow's columns are the data
    names = [str(column) for column in columns]
    if len(set(names)) < len(names):
        twice = next(column for column in names if names.count(column) > 1)
        raise InputError(f"{name} has {names.count(twice)} columns called {twice!r}; rename or drop all but one.")
    return dict(zip(names, columns, strict=True))


def _is_identifier(values: np.ndarray) -> bool:
    """True for integers that identify rows: all different, as no sample of a quantity is.

    At least half of all integers in their range occur; or they are time stamps or serial numbers, large and close.
    """
    if len(values) < _MIN_NUMBERED_ROWS or len(np.unique(values)) < len(values):
        return False
    low, high = int(values.min()), int(values.max())
    is_dense = high - low < 2 * len(values)
    return is_dense or max(-low, high) >= _EXACT or (low >= _SERIAL and high - low <= low // 16)


def _read_known(cells: Any, kind: str, label: str, labels: tuple[str, ...] | None) -> np.ndarray:
    """A column as a model reads it: indices of labels, or numbers."""
    if kind == "time":
        raise InputError(f"{label} holds dates or times; pass numbers, such as days since one.")
    if labels is None and kind in ("text", "category"):
        return to_numbers(cells.texts(), label)
    if labels is None:
        return cells.numbers(label)
    if kind in ("text", "category"):
        return labels_to_indices(cells.texts(), labels)[0]
    return labels_to_indices([text_of_number(value, labels) for value in cells.cells()], labels)[0]
