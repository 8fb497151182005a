"""The rows of ``repsketch compress``: training and test rows, and whether a file can hold their text."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..data.frames import is_frame
from ..data.table_target import listed
from ..data.tables import Table, read_table
from ..errors import InputError, require
from ..io.strings import STRING_CAP
from .summary import TEST_ROWS, TRAINING_ROWS

TEST_FRACTION, MAX_TEST_ROWS = 0.2, 10_000  # of the test rows
_CELLS_PER_SECOND = 200_000  # of the time limit; a cell of text takes microseconds, and is read several times
_MIN_ROWS = 1_000  # of training, whatever the time limit


def split_table(table: Table, seed: int) -> tuple[Table, Table]:
    """Training rows and test rows; the same rows where there are too few for a test set."""
    order = np.random.default_rng([seed, 11]).permutation(table.n_rows)
    n_test = min(int(TEST_FRACTION * table.n_rows), MAX_TEST_ROWS)
    if n_test == 0:
        return table, replace(table, name=TRAINING_ROWS)
    test_table = replace(table.take(np.sort(order[:n_test])), name=TEST_ROWS)
    return table.take(np.sort(order[n_test:])), test_table


def thinned(table: Table, time_limit: float, seed: int) -> Table:
    """A random sample of as many rows as can be read several times within the limit."""
    max_rows = max(_MIN_ROWS, int(_CELLS_PER_SECOND * time_limit / table.X.shape[1]))
    if table.n_rows <= max_rows:
        return table
    return table.take(np.sort(np.random.default_rng([seed, 12]).permutation(table.n_rows)[:max_rows]))


def read_test(path: Path, table: Table, encoding: str | None, weights: str | None = None) -> Table:
    """Test rows from another file, with the columns of ``table``; their weights are 1 without a column of weights."""
    test = read_table(path, table.target, text=table.text_columns, n_features=table.X.shape[1], encoding=encoding)
    has_weights = is_frame(test.X) and weights in test.X.columns
    test = with_weights(test, weights if has_weights else None).ordered_as(table)
    return replace(test, name=f"rows of {test.name}")


def with_forced_columns(table: Table, use: Collection[str]) -> Table:
    """The table with these columns as categories or floats, which ``compress`` always uses."""
    if not use:
        return table
    unknown = [name for name in use if not is_frame(table.X) or name not in table.X.columns]
    if unknown:
        raise InputError(f"{table.name} has no column {unknown[0]!r} to use; it has {listed(table.X.columns)}.")
    columns = {name: table.X[name] for name in use}
    forced = {
        name: replace(column, kind="category")
        if name in table.text_columns
        else replace(column, values=column.values.astype(np.float64), kind="number")
        for name, column in columns.items()
    }
    return replace(table, X=table.X.with_columns(forced))


def with_weights(table: Table, column: str | None) -> Table:
    """The table with this column as the weights of its rows, and no column of X any more."""
    if column is None:
        return table
    if not is_frame(table.X) or column not in table.X.columns:
        names = listed(table.X.columns) if is_frame(table.X) else "columns without names"
        raise InputError(f"{table.name} has no column {column!r} of weights; it has {names}.")
    if column in table.text_columns or table.X[column].is_missing.any():
        raise InputError(
            f"column {column!r} of {table.name} holds text or missing values; allowed are numbers from 0 up."
        )
    require("sklearn", "train")
    from ..train.goal import Goal

    weights = Goal(sample_weight=table.X[column].values).row_weights(table.n_rows)
    return replace(table, X=table.X.drop(column), weights=weights)


def check_text(table: Table) -> None:
    """Refuse, before anything is trained, text that a .rsk file cannot hold: too long, or with a NUL."""
    names = [*(table.X.columns if is_frame(table.X) else ()), table.target or ""]
    _check_texts(names, f"a column of {table.name} has a name", "Rename it.")
    if table.y is not None and table.y.dtype.kind == "U":
        _check_texts(
            np.unique(table.y).tolist(), f"the target {table.target!r} of {table.name} has a label", "Rename it."
        )


def _check_texts(texts: Iterable[str], where: str, advice: str) -> None:
    for text in texts:
        if "\0" in text:
            raise InputError(f"{where} with a NUL, {text[:20]!r}; allowed is text without any. {advice}")
        if len(text.encode()) > STRING_CAP:
            what = f"{where} of {len(text.encode())} bytes, {text[:20]!r}..."
            raise InputError(f"{what}; allowed are {STRING_CAP}. {advice}")
