"""Single cells of raw tables: text that reads as a number, labels that have an index, objects of one kind.

Takes the cells of one column as a list; hands on float32 numbers or indices, or an error that names the column, the
row and the value.
"""

from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from ..errors import InputError

_UNSEEN = -1.0  # the index of an unknown label


def is_missing(value: Any) -> bool:
    """True for None, NaN, and pandas' NA and NaT.

    >>> [is_missing(value) for value in (None, float("nan"), np.float32("nan"), 0.0, "")]
    [True, True, True, False, False]
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, Decimal)) and bool(value != value)


def to_numbers(cells: Sequence[Any], label: str) -> np.ndarray:
    """Cells of ``label``, a column in words, as float32 (n,): numbers, or text that reads as one; NaN where missing.

    >>> to_numbers(["47.6", None, 3], "column 'size'").tolist()
    [47.599998474121094, nan, 3.0]
    >>> to_numbers(["47,6"], "column 'size'")
    Traceback (most recent call last):
    ...
    repsketch.errors.InputError: column 'size' holds '47,6' in row 0, which is no number; this model reads numbers \
there. Give a number such as 47.6, or leave it missing (None, NaN).
    """
    numbers = np.full(len(cells), np.nan, np.float32)
    for row, value in enumerate(cells):
        if is_missing(value):
            continue
        try:
            if isinstance(value, str) and "_" in value:  # float() would accept it, but it is no number in a table
                raise ValueError(value)
            with np.errstate(over="ignore"):
                numbers[row] = float(value)
        except (TypeError, ValueError, OverflowError):
            shown = f"{value!r:.60}"
            raise InputError(
                f"{label} holds {shown} in row {row}, which is no number; this model reads numbers there. "
                "Give a number such as 47.6, or leave it missing (None, NaN)."
            ) from None
    return numbers


def labels_to_indices(
    cells: Sequence[str | None], labels: tuple[str, ...] | None = None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The index of each cell among ``labels``, float32 (n,), and the labels; by default the sorted distinct cells.

    >>> labels_to_indices(["oak", None, "elm"], ("ash", "oak"))
    (array([ 1., nan, -1.], dtype=float32), ('ash', 'oak'))
    """
    if labels is None:
        labels = tuple(sorted({cell for cell in cells if cell is not None}))
    index_of: dict[Any, float] = {label: float(index) for index, label in enumerate(labels)}
    index_of[None] = np.nan
    return np.array([index_of.get(cell, _UNSEEN) for cell in cells], np.float32), labels


def text_of_number(value: Any, labels: Sequence[str]) -> str | None:
    """A number as it is written among ``labels``: integers of a column with missing values arrive as 5.0 instead of 5.

    >>> text_of_number(5.0, ("4", "5")), text_of_number(True, ("false", "true"))
    ('5', 'true')
    """
    if is_missing(value):
        return None
    texts = [str(value), str(value).lower()]
    if not isinstance(value, (bool, np.bool_)) and float(value).is_integer():
        texts.append(str(int(value)))
    return next((text for text in texts if text in labels), texts[0])


def object_kind(cells: Sequence[Any], label: str) -> str:
    """The kind of a column of Python objects: "text", "boolean" or "number", if all cells that are not missing agree.

    >>> object_kind(["a", None], "column 'x'"), object_kind([1, 2.5, None], "column 'x'")
    ('text', 'number')
    """
    kinds: dict[str, tuple[int, Any]] = {}
    for row, value in enumerate(cells):
        if not is_missing(value):
            kinds.setdefault(_kind_of(value), (row, value))
    if set(kinds) <= {"boolean", "number"}:
        return "boolean" if set(kinds) == {"boolean"} else "number"
    if set(kinds) == {"text"}:
        return "text"
    row, value = kinds.get("other") or max(kinds.values(), key=lambda pair: pair[0])
    found = " and ".join(sorted("objects" if kind == "other" else kind for kind in kinds))
    raise InputError(
        f"{label} holds {found}: {value!r:.60} of type {type(value).__name__} in row {row}; allowed is one kind, "
        "numbers or text. Convert the column."
    )


def _kind_of(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, (bool, np.bool_)):
        return "boolean"
    is_complex = isinstance(value, np.complexfloating)
    return "number" if isinstance(value, (Real, Decimal, np.number)) and not is_complex else "other"
