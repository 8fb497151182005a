"""Raw tables: numbers, truth values and categories, some of them missing, as one array of float32.

A category becomes its index in the sorted list of its column's labels, a missing value NaN. Frames of pandas, polars
and pyarrow come through narwhals; arrays and sparse matrices are numbers already.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .arrays import as_table, is_sparse
from .errors import InputError, require

UNSEEN = -1.0  # a label that is none of a column's categories: no category of the sketch answers to it


@dataclass(frozen=True, eq=False)
class Columns:
    """A table in numbers.

    Attributes
    ----------
    numbers : (n, d) float32, NaN where a value is missing
    names : the columns' names, or None
    categories : for each categorical column, by its place, the labels in order
    used : places of the columns that are looked at; None for all
    """

    numbers: np.ndarray
    names: tuple[str, ...] | None = None
    categories: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    used: Collection[int] | None = None


def as_columns(X: Any, name: str = "X", known: Columns | None = None) -> Columns:
    """``X`` as numbers; with ``known``, categories and columns are read as they were there, unused ones as 0.

    >>> as_columns([[1, 2], [3, 4]]).numbers.tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    if not is_frame(X):
        table = as_table(X, name)
        dense = table.toarray() if is_sparse(table) else table
        numbers = np.ascontiguousarray(dense, np.float32)
        _check_no_infinity(numbers, name)
        return Columns(numbers)
    narwhals = require("narwhals", "frames")
    frame = narwhals.from_native(X, eager_only=True)
    given = {str(column): column for column in frame.columns}  # pandas counts columns that have no names
    names = tuple(given)
    if known is not None and known.names is not None:
        missing = [column for column in known.names if column not in names]
        if missing:
            raise InputError(f"{name} lacks the columns {missing[:5]}, which this model was made with.")
        names = known.names
    numbers = np.zeros((len(frame), len(names)), np.float32)
    categories: dict[int, tuple[str, ...]] = {}
    for place, column in enumerate(names):
        if known is not None and known.used is not None and place not in known.used:
            continue
        series = frame.get_column(given[column])
        labels = None if known is None else known.categories.get(place)
        if labels is None and (series.dtype.is_numeric() or series.dtype == narwhals.Boolean):
            numbers[:, place] = series.cast(narwhals.Float32).to_numpy()
        elif series.dtype.is_temporal():
            raise InputError(f"column {column!r} of {name} holds dates or times; pass numbers, such as days since one.")
        else:
            values = zip(series.cast(narwhals.String).to_list(), series.is_null().to_list(), strict=True)
            numbers[:, place], categories[place] = _to_indices([None if gone else v for v, gone in values], labels)
            if known is not None and labels is None and len(categories[place]) > 1:  # a single one is a constant
                found = ", ".join(map(repr, categories[place][:3]))
                raise InputError(f"column {column!r} of {name} holds text ({found}); this model reads numbers there.")
    _check_no_infinity(numbers, name)
    return Columns(numbers, names, categories)


def _check_no_infinity(numbers: np.ndarray, name: str) -> None:
    if np.isinf(numbers).any():
        row, column = np.argwhere(np.isinf(numbers))[0]
        raise InputError(f"{name} holds infinity (inf) at row {row}, column {column}; allowed are numbers and NaN.")


def is_frame(X: Any) -> bool:
    """True for data frames, whose columns have names and types of their own."""
    return hasattr(X, "columns") and hasattr(X, "shape") and not isinstance(X, np.ndarray)


def _to_indices(values: list, labels: tuple[str, ...] | None) -> tuple[np.ndarray, tuple[str, ...]]:
    if labels is None:
        labels = tuple(sorted({value for value in values if value is not None}))
    place_of: dict[Any, float] = {label: float(place) for place, label in enumerate(labels)}
    place_of[None] = np.nan
    return np.array([place_of.get(value, UNSEEN) for value in values], np.float32), labels
