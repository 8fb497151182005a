"""Parquet files: pyarrow reads and validates them, NumPy holds their columns."""

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, require
from .frame import Column, Frame


def read_parquet(path: Path) -> Frame:
    """The table in a Parquet file; columns of other types than numbers, booleans, text and times are refused.

    >>> import tempfile, pyarrow.parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "trees.parquet")
    ...     pyarrow.parquet.write_table(pyarrow.table({"size": [1.5, None], "kind": ["oak", "ash"]}), path)
    ...     read_parquet(path).rows()
    [(1.5, 'oak'), (None, 'ash')]
    """
    arrow = require("pyarrow", "parquet")
    try:
        table = require("pyarrow.parquet", "parquet").read_table(path).replace_schema_metadata(None)
        table.validate(full=True)  # a damaged file raises here; read on, it may end the process
    except arrow.ArrowException as error:
        raise ValueError(error) from error
    names = table.column_names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"it has two columns named {twice!r}; rename or remove one of them")
    return Frame({name: _as_column(table[name], f"column {name!r} of {path.name}") for name in names})


def _as_column(cells: Any, label: str) -> Column:
    """A column of pyarrow, whose arrays have types that NumPy lacks, as one of ours."""
    arrow = require("pyarrow", "parquet")
    types, kind = arrow.types, cells.type
    is_missing = cells.is_null().to_numpy()
    if types.is_dictionary(kind):
        column = _as_column(cells.cast(kind.value_type), label)
        return Column(column.values, is_missing, "category" if column.kind == "text" else column.kind)
    if types.is_null(kind):
        return Column(np.zeros(len(cells), np.int64), is_missing, "number")
    if types.is_boolean(kind):
        return Column(cells.fill_null(False).to_numpy(), is_missing, "boolean")
    if types.is_integer(kind):
        return Column(cells.fill_null(0).to_numpy(), is_missing, "number")
    if types.is_floating(kind) or types.is_decimal(kind):
        floats = cells.cast(arrow.float64()) if types.is_decimal(kind) else cells
        return Column(floats.to_numpy(), is_missing, "number")
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return Column(np.array([*cells.to_pylist(), None], object)[:-1], is_missing, "text")
    if types.is_temporal(kind):
        return Column(cells.to_numpy(), is_missing, "time")
    raise InputError(f"{label} holds {kind}; allowed are numbers, booleans and text.")
