"""The target of a table: which column it is, and its values, none of them missing."""

import re
from collections.abc import Collection
from typing import Any

import numpy as np

from ..errors import InputError
from .frame import Column
from .frames import is_frame
from .table_files import Contents

_MAX_NAMES = 8  # of columns in a message
# A day of ISO 8601, with or without a time of day and its zone: 2024-05-31, 2024-05-31T18:30:00.5+02:00
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?\s?(Z|[+-]\d{2}(:?\d{2})?)?)?")


def split_target(contents: Contents, target: str | None, name: str) -> tuple[Any, np.ndarray | None, str | None]:
    """The table without its target, the target (n,) and its name; nothing is split off if there is none."""
    target = contents.target if target is None else target
    X = contents.X
    if target is None:
        return X, None, None
    if target in contents.beside:
        return X, _as_target(contents.beside[target], target, name), target
    if not is_frame(X):
        place = _place_of(target, X.shape[1], listed(contents.beside) or "no target", name)
        column = X[:, [place]].toarray() if hasattr(X, "toarray") else X[:, [place]]
        rest = np.delete(np.arange(X.shape[1]), place)
        return X[:, rest], _as_target(column[:, 0], target, name), target
    if target not in X.columns:
        known = listed(X.columns)
        if X.shape[1] == 1 and contents.separator is not None:
            known += f" alone, as the separator was taken to be {contents.separator!r}"
        target = X.columns[_place_of(target, X.shape[1], known, name)]
    return X.drop(target), _as_target(X[target], target, name), target


def _place_of(target: str, n_columns: int, known: str, name: str) -> int:
    """The column index of a number such as "0" or "-1"."""
    try:
        return range(n_columns)[int(target)]
    except (ValueError, IndexError):
        raise InputError(
            f"{name} has no column {target!r}; it has {known}. Numbers from 0 or, from the end, -1 name a column, too."
        ) from None


def _as_target(column: Any, target: str, name: str) -> np.ndarray:
    if isinstance(column, Column):
        is_missing, values = column.is_missing, column.values
        if column.kind not in ("number", "boolean"):
            texts = column[~is_missing].texts()
            if column.kind == "time" or (texts and all(_DATE.fullmatch(text or "") for text in texts)):
                raise _not_dates(target, name)
            values = np.array([text or "" for text in column.texts()], str)
    else:
        is_missing, values = np.zeros(len(column), bool), column
        if values.dtype.kind in "mM":
            raise _not_dates(target, name)
    if values.dtype.kind == "f":
        is_missing = is_missing | np.isnan(values)
    if is_missing.any():
        n_missing, first = int(is_missing.sum()), int(is_missing.argmax())
        rows = f"{n_missing} of {len(is_missing)} rows, first in row {first}"
        raise InputError(f"the target {target!r} of {name} is missing in {rows} (counted from 0); drop these rows.")
    return values


def _not_dates(target: str, name: str) -> InputError:
    return InputError(
        f"the target {target!r} of {name} holds dates or times; allowed are labels and numbers, such as days since one."
    )


def listed(names: Collection[Any]) -> str:
    """Some names as a message shows them.

    >>> listed("abcdefghijk")
    "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' and 3 more"
    """
    shown = ", ".join(repr(name) for name in list(names)[:_MAX_NAMES])
    return shown + (f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else "")
