"""Columns of frames of pandas, polars and pyarrow, read through narwhals with the methods of our own ``Column``."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InputError, require
from .cells import object_kind, to_numbers


def columns_of(X: Any) -> Callable[[Any], "ForeignColumn"]:
    """A function that gives a column of a frame by its name.

    >>> import pandas
    >>> columns_of(pandas.DataFrame({"size": [1, 2]}))("size").integers().tolist()
    [1, 2]
    """
    frame = require("narwhals", "frames").from_native(X, eager_only=True)
    return lambda name: ForeignColumn(frame.get_column(name))


class ForeignColumn:
    """A column of another library.

    >>> import pandas
    >>> column = columns_of(pandas.DataFrame({"tree": ["oak", None]}))("tree")
    >>> column.kind_as("column 'tree'"), column.texts()
    ('text', ['oak', None])
    """

    def __init__(self, series: Any):
        self._series = series
        self._narwhals = require("narwhals", "frames")

    def kind_as(self, label: str) -> str:
        """The kind of the column, as in ``Columns``; one of other types is refused."""
        narwhals, dtype = self._narwhals, self._series.dtype
        if dtype == narwhals.Boolean:
            return "boolean"
        if dtype.is_numeric():
            return "number"
        if dtype.is_temporal():
            return "time"
        if dtype in (narwhals.Categorical, narwhals.Enum):
            return "category"
        if dtype == narwhals.String:
            return "text"
        if dtype == narwhals.Object:
            return object_kind(self._series.to_list(), label)
        if self._series.null_count() == len(self._series):  # such as polars' column of nulls
            return "number"
        raise InputError(f"{label} holds {dtype}; allowed are numbers, booleans and text.")

    def cells(self) -> list[Any]:
        """The cells as Python objects, None where one is missing."""
        pairs = zip(self._series.to_list(), self._series.is_null().to_list(), strict=True)
        return [None if is_null else value for value, is_null in pairs]

    def texts(self) -> list[str | None]:
        """The cells as text, None where one is missing."""
        texts = self._series.cast(self._narwhals.String).to_list()
        pairs = zip(texts, self._series.is_null().to_list(), strict=True)
        return [None if is_null else text for text, is_null in pairs]

    def numbers(self, label: str) -> np.ndarray:
        """Numbers and booleans, float32 (n,), NaN where one is missing."""
        narwhals, dtype = self._narwhals, self._series.dtype
        if dtype == narwhals.Object or not (dtype.is_numeric() or dtype == narwhals.Boolean):
            return to_numbers(self._series.to_list(), label)
        if (integers := self.integers()) is not None:  # pyarrow refuses to round them
            numbers = np.full(len(self._series), np.nan, np.float32)
            numbers[~np.asarray(self._series.is_null().to_numpy(), bool)] = integers
            return numbers
        with np.errstate(over="ignore"):
            return self._series.cast(narwhals.Float32).to_numpy()

    def integers(self) -> np.ndarray | None:
        """The cells (m,) that are not missing, if the column's type is one of integers."""
        return self._series.drop_nulls().to_numpy() if self._series.dtype.is_integer() else None
