"""Labels and values in y: read, checked, and converted to probabilities of classes or numbers."""

from typing import Any

import numpy as np

from ..errors import InputError
from .arrays import as_outputs, check_not_masked
from .cells import is_missing, object_kind

_FEW_CLASSES = 20  # integers with more different values are values, not classes


def as_labels(y: Any, name: str = "y") -> np.ndarray:
    """``y`` as an array of numbers, booleans or text; objects must be of one kind, and none may be missing.

    >>> as_labels(["a", "b"]).tolist(), as_labels(np.array([1, 2], object)).dtype.kind
    (['a', 'b'], 'i')
    """
    if hasattr(y, "collect"):
        raise InputError(f"{name} is a {type(y).__name__}; collect it first.")
    try:
        values = y if isinstance(y, np.ndarray) else np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    except ValueError as error:  # ragged lists
        raise InputError(f"{name} is no array of labels or numbers: {error}") from error
    values = np.asarray(check_not_masked(values, name))
    if values.dtype.kind in "mM":
        raise InputError(f"{name} holds dates or times ({values.dtype}); allowed are labels and numbers.")
    if values.dtype.kind == "f":
        bad = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1) if values.ndim else np.zeros(0, bool)
        _check_none_missing(np.flatnonzero(bad), len(values), name)
    if values.dtype.kind != "O" or values.ndim == 0:
        return values
    cells = values.reshape(-1).tolist()
    _check_none_missing([row for row, cell in enumerate(cells) if is_missing(cell)], len(cells), name)
    kind = object_kind(cells, name)
    try:
        return np.array(cells, {"text": str, "boolean": bool}.get(kind)).reshape(values.shape)
    except OverflowError:
        raise InputError(f"{name} holds integers beyond 64 bits; allowed are labels and numbers.") from None


def _check_none_missing(rows: Any, n_rows: int, name: str) -> None:
    if len(rows):
        raise InputError(
            f"{name} holds NaN, infinity or missing values in {len(rows)} of {n_rows} rows, first in row "
            f"{int(rows[0])}; drop such rows."
        )


def read_labels(
    y: Any, n_rows: int, task: str | None, classes: np.ndarray | None
) -> tuple[np.ndarray, str, np.ndarray | None]:
    """Targets (n, C) float64, the task, and the classes or None.

    Targets are probabilities of classes (of the second, if there are two) or values.
    """
    values = as_labels(y)
    if values.shape[:1] != (n_rows,) or values.ndim > 2:
        raise InputError(f"y has shape {values.shape}; allowed is one entry for each of the {n_rows} rows of X.")
    task = task or _guess_task(values)
    if task == "regression":
        return as_outputs(values, n_rows, "y"), task, None
    if values.ndim == 2 and values.shape[1] != 1:
        raise InputError(f"y has {values.shape[1]} columns; allowed is one column of labels.")
    values = values.reshape(-1)
    found = np.unique(values)
    if len(found) > max(_FEW_CLASSES, n_rows // 2) or 2 < n_rows == len(found):
        raise InputError(
            f"y holds {len(found)} different labels in {n_rows} rows, such as {found[0].item()!r}; these are no "
            "classes: most occur once. Choose another target, or task='regression' for numbers."
        )
    classes = found if classes is None else classes
    unknown = np.setdiff1d(found, classes)
    if len(unknown):
        raise InputError(
            f"y holds {unknown[:4].tolist()}, which the model does not know; it has {classes.tolist()[:8]}."
        )
    if len(classes) < 2:
        raise InputError(f"y holds one class only, {found.tolist()[0]!r}; a classifier needs at least two.")
    order = np.argsort(classes)
    places = order[np.searchsorted(classes, values, sorter=order)]
    probabilities = np.eye(len(classes))[places]
    return (probabilities[:, 1:] if len(classes) == 2 else probabilities), task, classes


def _guess_task(values: np.ndarray) -> str:
    if values.dtype.kind in "bOUST":
        return "classification"
    if values.ndim == 2 and values.shape[1] > 1:
        return "regression"
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    is_integer = bool((finite == np.floor(finite)).all())
    return "classification" if is_integer and len(np.unique(finite)) <= _FEW_CLASSES else "regression"
