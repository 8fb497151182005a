"""A model's raw outputs for some rows as one array of numbers or of labels."""

from typing import Any

import numpy as np

from ..errors import TeacherError


def as_raw_outputs(outputs: Any, n_rows: int, name: str) -> np.ndarray:
    """Raw outputs as an array (n, C) of numbers or booleans, or (n, 1) of text.

    >>> as_raw_outputs(["a", "b"], 2, "f").tolist()
    [['a'], ['b']]
    """
    raw = np.asarray(None if isinstance(outputs, tuple) else outputs)
    matrix = raw[:, None] if raw.ndim == 1 else raw
    if raw.dtype.kind == "O" and raw.ndim:
        matrix = _without_objects(matrix, name)
    if raw.dtype.kind == "T":
        matrix = np.array(matrix.tolist()).reshape(matrix.shape)
    if matrix.dtype.kind not in "biufU":
        given = f"a {type(outputs).__name__} of dtype {raw.dtype}"
        raise TeacherError(f"{name} returned {given}; allowed is one array of real numbers, or of labels.")
    if matrix.ndim != 2 or matrix.shape[0] != n_rows or matrix.shape[1] == 0:
        given = f"shape {raw.shape} on {n_rows} rows"
        raise TeacherError(f"{name} returned {given}; allowed is (n,) or (n, C) for n rows, C >= 1.")
    return matrix


def _without_objects(matrix: np.ndarray, name: str) -> np.ndarray:
    """Python objects of one kind as an array of that kind: text, booleans or numbers."""
    values = matrix.ravel().tolist()
    kind = next((kind for kind in (str, bool, (int, float)) if isinstance(values[0], kind)), None) if values else None
    if kind is None:
        return matrix
    for place, value in enumerate(values):
        if not isinstance(value, kind):
            given = f"{value!r:.50} for row {place // matrix.shape[1]}, after {values[0]!r:.50} for row 0"
            raise TeacherError(f"{name} returned {given}; allowed are labels, or numbers, of one type for all rows.")
    return np.array(values).reshape(matrix.shape)
