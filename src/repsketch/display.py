"""What shells and notebooks show: a short ``repr`` of objects with arrays, and tables without a style of their own."""

from collections.abc import Iterable
from dataclasses import MISSING, fields, is_dataclass
from html import escape
from typing import Any

import numpy as np

MAX_CHARACTERS = 190  # of a line
MAX_VALUE_CHARACTERS = 40


def repr_of_fields(self: Any) -> str:
    """The fields of a dataclass that are not at their default; arrays as type and shape, data classes as their name.

    >>> from repsketch.model.projection import Projection
    >>> Projection("float32", 2, np.zeros((3, 2), np.float32))
    Projection(kind='float32', n_components=2, matrix=float32 (3, 2))
    """
    shown = []
    for item in fields(self):
        value = getattr(self, item.name)
        if value is not None and item.repr and (item.default is MISSING or _differs(value, item.default)):
            shown.append(f"{item.name}={_short(value)}")
    return _cut(f"{type(self).__name__}({', '.join(shown)}", MAX_CHARACTERS) + ")"


def describe_outputs(task: str | None, n_outputs: int, classes: np.ndarray | None) -> str:
    """The outputs of a predictor in a few words.

    >>> describe_outputs("classification", 1, None), describe_outputs("regression", 2, None)
    ('classification of 2 classes', 'regression of 2 outputs')
    """
    if task == "classification":
        return f"classification of {max(2, n_outputs) if classes is None else len(classes)} classes"
    outputs = f"{n_outputs} output{'s' * (n_outputs != 1)}"
    return outputs if task is None else task if n_outputs == 1 else f"{task} of {outputs}"


def describe_columns(n_used: int, n_features: int) -> str:
    """The number of columns, and how many of them are used.

    >>> describe_columns(4, 7), describe_columns(1, 1)
    ('4 of 7 columns', '1 column')
    """
    columns = f"{n_features} column{'s' * (n_features != 1)}"
    return columns if n_used == n_features else f"{n_used} of {columns}"


def html_table(rows: Iterable[str]) -> str:
    """A table whose rows are joined cells."""
    return f"<table><tbody>{''.join(f'<tr>{cells}</tr>' for cells in rows)}</tbody></table>"


def html_cell(text: str, tag: str = "td", side: str = "left") -> str:
    """A cell with escaped text.

    >>> html_cell("a < b", "th")
    '<th style="text-align: left">a &lt; b</th>'
    """
    return f'<{tag} style="text-align: {side}">{escape(text)}</{tag}>'  # Jupyter would move text to the right


def _differs(value: Any, default: Any) -> bool:
    return isinstance(value, np.ndarray) or value != default


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    if is_dataclass(value):
        return type(value).__name__
    if isinstance(value, (tuple, list, bytes)) and len(repr(value)) > MAX_VALUE_CHARACTERS:
        return f"{len(value)} {'bytes' if isinstance(value, bytes) else 'items'}"
    return _cut(repr(value), MAX_VALUE_CHARACTERS)


def _cut(text: str, max_characters: int) -> str:
    return text if len(text) <= max_characters else text[: max_characters - 1] + "…"
