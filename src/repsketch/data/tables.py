"""Tables in files: columns to predict from, and a target to predict.

Takes CSV, Parquet, LIBSVM and npz files (``table_files``), hands on a ``Table`` whose X is what ``compress`` and
``predict`` take: a frame where columns have names, else an array or a sparse matrix.
"""

import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from .frame import Frame
from .frames import is_frame
from .table_files import Hints, read_contents
from .table_target import listed, split_target


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a file.

    Attributes
    ----------
    name : name of the file, for messages
    X : (n, d) ``Frame``, array or CSR matrix
    y : (n,) numbers, booleans or text; None without a target
    target : name of y
    weights : (n,) float64 weights of the rows, or None
    """

    name: str
    X: Any
    y: np.ndarray | None = None
    target: str | None = None
    weights: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """Rows, n."""
        return self.X.shape[0]

    @property
    def text_columns(self) -> list[str]:
        """Names of the columns that hold categories, not numbers."""
        if not is_frame(self.X):
            return []
        return [name for name, kind in self.X.kinds.items() if kind not in ("number", "boolean")]

    def take(self, rows: np.ndarray) -> "Table":
        """Some of the rows."""
        y, weights = (None if each is None else each[rows] for each in (self.y, self.weights))
        return replace(self, X=self.X[rows], y=y, weights=weights)

    def ordered_as(self, other: "Table") -> "Table":
        """The same rows with the columns of ``other``, in its order."""
        if not (is_frame(self.X) and is_frame(other.X)):
            return self
        lacking = [name for name in other.X.columns if name not in self.X.columns]
        if lacking:
            raise InputError(f"{self.name} lacks the columns {listed(lacking)} of {other.name}.")
        return replace(self, X=self.X.select(other.X.columns))


def read_table(
    path: str | os.PathLike,
    target: str | None = None,
    *,
    drop: Collection[str] = (),
    text: Collection[str] = (),
    n_features: int | None = None,
    encoding: str | None = None,
) -> Table:
    """The table in a file, its target split off.

    Parameters
    ----------
    path : a .csv, .csv.gz, .tsv, .parquet, .npz file, or LIBSVM text (.libsvm, .svmlight, .svm, .txt)
    target : a column's name, or its number (-1 is the last one). An npz file has its table in the array X and its
        target in y unless told otherwise; a LIBSVM file has one target, "label"
    drop : names of columns that are left out
    text : names of columns that hold categories even if they look like numbers
    n_features : number of columns of a LIBSVM file, which does not say it
    encoding : of a CSV file that is not UTF-8 and has no byte order mark, such as "cp1252"

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "trees.csv")
    ...     _ = path.write_text("height,kind,is_old\\n12.5,oak,1\\n?,ash,0\\n")
    ...     table = read_table(path, "is_old")
    >>> table.X.rows(), table.y.tolist(), table.text_columns
    ([(12.5, 'oak'), (None, 'ash')], [1, 0], ['kind'])
    """
    path = Path(path)
    contents = read_contents(path, Hints(text, n_features, encoding))
    if is_frame(contents.X):
        _check_columns(contents.X, path.name)
    table = Table(path.name, *split_target(contents, target, path.name))
    table = replace(table, X=_without(table, drop))
    if 0 in table.X.shape:
        missing = "rows" if table.n_rows == 0 else "columns to predict from"
        raise InputError(f"{path.name} has no {missing}; a table needs at least one of each.")
    return table


def _check_columns(frame: Frame, name: str) -> None:
    for column, kind in frame.kinds.items():
        values = frame[column].values
        if kind == "number" and values.dtype.kind == "f" and np.isinf(values).any():
            row = int(np.isinf(values).argmax())
            raise InputError(f"column {column!r} of {name} holds infinity in row {row}; allowed are finite numbers.")


def _without(table: Table, drop: Collection[str]) -> Any:
    if not drop:
        return table.X
    if not is_frame(table.X):
        raise InputError(f"{table.name} has no names of columns, so none can be dropped by name.")
    unknown = [name for name in drop if name not in table.X.columns]
    if unknown:
        raise InputError(f"{table.name} has no column {unknown[0]!r} to drop; it has {listed(table.X.columns)}.")
    return table.X.drop(*drop)
