"""Rows that occur several times in small tables, and weights that say so.

A row of a small integer weight k is the same as k equal rows, and the order of rows means nothing: ``arranged`` puts
small tables into one order, in which both are the same table. Equal rows are then on one side of every split of the
rows, so that nothing is scored on rows that it was trained on.
"""

from typing import Any

import numpy as np

from .frames import as_columns, is_frame, some_rows

MAX_ROWS = 1_000  # larger tables keep their order, and weights stay weights
MAX_REPEATS = 5  # more equal rows are a distribution, and are split like others; larger weights stay weights


def arranged(X: Any, y: Any, weights: np.ndarray | None) -> tuple[Any, Any, np.ndarray | None, np.ndarray | None]:
    """Table, labels and weights without rows of weight 0; small tables also in an order of their own.

    In a small array or sparse matrix integer weights of at most ``MAX_REPEATS`` become repeated rows, if the table
    stays small. In a frame they do not: integers that number its rows would not be known as such any more.

    Parameters
    ----------
    X : table of any kind
    y : (n,) or (n, C) labels or values, or None
    weights : (n,) float64, or None for 1

    Returns
    -------
    table, labels, weights that remain or None, and the rows (m,) of the result in X, or None if they are all as given

    >>> X, y, weights, _ = arranged(np.array([[2.0], [1.0], [3.0]]), np.array([5, 6, 7]), np.array([1.0, 2.0, 0.0]))
    >>> X.tolist(), y.tolist(), weights
    ([[2.0], [1.0], [1.0]], [5, 6, 6], None)
    """
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    rows = np.arange(n_rows) if weights is None else np.flatnonzero(weights)
    counts = np.ones(len(rows)) if weights is None else weights[rows]
    are_repeats = (counts == np.rint(counts)).all() and counts.max(initial=0.0) <= MAX_REPEATS
    if not is_frame(X) and counts.sum() <= MAX_ROWS and are_repeats:
        rows = np.repeat(rows, counts.astype(np.int64))
        counts = np.ones(len(rows))
    is_small = len(rows) <= MAX_ROWS
    if len(rows) == n_rows and not is_small:
        return X, y, weights, None
    if is_small:
        order = _order_of(some_rows(X, rows), None if y is None else np.asarray(y)[rows], counts)
        rows, counts = rows[order], counts[order]
    remaining = None if (counts == 1.0).all() else counts
    return some_rows(X, rows), None if y is None else np.asarray(y)[rows], remaining, rows


def groups_of_equal(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(n,) the first row that equals each row in X (n, d) and labels (n, C); itself in large tables and groups.

    >>> groups_of_equal(np.arange(60)[:, None] // 2, np.zeros((60, 1)))[:5].tolist()
    [0, 0, 2, 2, 4]
    """
    n_rows = len(X)
    if n_rows > MAX_ROWS:
        return np.arange(n_rows)
    firsts: dict[bytes, int] = {}
    groups = np.array([firsts.setdefault(key, row) for row, key in enumerate(_keys(X, labels))], np.int64)
    is_large = np.bincount(groups, minlength=n_rows) > MAX_REPEATS
    return np.where(is_large[groups], np.arange(n_rows), groups)


def grouped(order: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The rows (m,) in their order, each followed by the others of its group.

    >>> grouped(np.array([3, 1, 0, 2]), np.array([0, 1, 2, 0])).tolist()
    [3, 0, 1, 2]
    """
    firsts: dict[int, int] = {}
    places = [firsts.setdefault(group, place) for place, group in enumerate(groups[order].tolist())]
    return order[np.argsort(places, kind="stable")]


def _order_of(X: Any, y: np.ndarray | None, weights: np.ndarray) -> list[int]:
    """An order of the rows that depends on what they hold alone."""
    codes = np.zeros(len(weights)) if y is None else np.unique(y, return_inverse=True)[1].reshape(len(y), -1)
    keys = _keys(as_columns(X).numbers, codes, weights)
    return sorted(range(len(keys)), key=keys.__getitem__)


def _keys(*columns: np.ndarray) -> list[bytes]:
    """Bytes that are equal for equal rows of all arrays."""
    table = np.hstack([np.asarray(column, np.float64).reshape(len(column), -1) for column in columns])
    return [row.tobytes() for row in table + 0.0]  # without negative zeros
