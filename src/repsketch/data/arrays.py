"""The types that ``X`` may have, and how it becomes plain float32 rows.

Takes arrays, scipy sparse matrices and numeric data frames; hands on C-contiguous float32 blocks.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import InputError, RepSketchError
from .sparse import as_csr, is_sparse

BLOCK_ROWS = 65_536  # rows in a block, at most
LARGEST_OUTPUT = 1e37  # sums and differences of a few outputs stay within float32
_BLOCK_VALUES = 1 << 24  # values in a block, at most: 64 MiB


def take_rows(X: Any, start: int, stop: int) -> np.ndarray:
    """Rows ``start:stop`` of ``X`` as dense float32 of shape (stop - start, d), values unchecked."""
    rows = X[start:stop]
    # Values beyond float32 become infinite here and are refused by check_finite, with their place.
    with np.errstate(over="ignore"):
        return np.require(rows.toarray() if is_sparse(X) else rows, np.float32, ["C", "ALIGNED"])


def as_table(X: Any, name: str = "X") -> Any:
    """``X`` as a 2-D float array or CSR matrix that slices by rows; values are not checked yet.

    Accepts anything NumPy turns into numbers, scipy sparse matrices and numeric data frames. An array of real
    numbers is not copied. The masked entries of a masked array are missing values, NaN.

    >>> as_table([[1, 2], [3, 4]]).shape
    (2, 2)
    >>> as_table([1.0, 2.0])
    Traceback (most recent call last):
    ...
    repsketch.errors.InputError: X has shape (2,); a table needs 2 dimensions. Reshape your data: \
X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one row.
    """
    if is_sparse(X):
        table = _as_real(as_csr(X, name) if X.ndim == 2 else X, name)
    else:
        table = _as_real(_as_array(X, name), name)
    if table.ndim != 2:
        raise InputError(
            f"{name} has shape {table.shape}; a table needs 2 dimensions. Reshape your data: "
            f"{name}.reshape(-1, 1) for one feature, {name}.reshape(1, -1) for one row."
        )
    return table


def as_checked(X: Any, name: str = "X") -> Any:
    """``X`` for other libraries, which do not check sparse matrices and ignore masks: those as from ``as_table``.

    >>> as_checked(np.ma.array([[1, 2]], mask=[[False, True]]))
    array([[ 1., nan]])
    """
    return as_table(X, name) if is_sparse(X) or isinstance(X, np.ma.MaskedArray) else X


def as_row(row: Any, n_features: int) -> np.ndarray:
    """One row of ``n_features`` values as a table of one row, (1, d); values are not checked yet.

    >>> as_row([1, 2], 2)
    array([[1, 2]])
    """
    if is_sparse(row):
        raise InputError("the row is a sparse matrix; allowed is an array or a list. Use predict for sparse rows.")
    values = _as_array(row, "the row")
    if values.ndim != 1:
        raise InputError(f"the row has shape {values.shape}; allowed is ({n_features},). Use predict for tables.")
    return as_table(values[None])


def check_not_masked(values: Any, name: str) -> Any:
    """Return ``values`` unchanged, or name the first row with a masked entry.

    >>> check_not_masked(np.ma.array([1, 2], mask=[False, True]), "y")
    Traceback (most recent call last):
    ...
    repsketch.errors.InputError: y holds a masked entry at row 1; drop such rows or fill the entry.
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        row = np.argwhere(np.ma.getmaskarray(values))[0][:1]
        where = f" at row {row[0]}" if len(row) else ""
        raise InputError(f"{name} holds a masked entry{where}; drop such rows or fill the entry.")
    return values


def _as_array(X: Any, name: str) -> np.ndarray:
    try:
        values = X.to_numpy() if hasattr(X, "to_numpy") else X
        if isinstance(values, (list, tuple)) and any(isinstance(row, np.ma.MaskedArray) for row in values):
            values = np.ma.array(values)
        return _unmasked(values, name) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    except (RepSketchError, MemoryError):
        raise
    except Exception as error:  # whatever the object raises when NumPy converts it
        raise InputError(f"{name} is no table of numbers: {error}") from error


def _unmasked(values: np.ma.MaskedArray, name: str) -> np.ndarray:
    """The numbers, with NaN for masked ones; integers become floats then."""
    if not np.ma.is_masked(values):
        return np.asarray(values.data)
    if values.dtype.kind not in "biufO":
        return np.asarray(check_not_masked(values, name))
    numbers = values.data.astype(np.float64) if values.dtype.kind in "biu" else values.data.copy()
    numbers[np.ma.getmaskarray(values)] = np.nan
    return np.asarray(numbers)


def _as_real(table: Any, name: str) -> Any:
    if table.dtype.kind in "biuf":
        return table
    if table.dtype.kind in "mM":
        raise InputError(f"{name} holds dates or times ({table.dtype}); pass numbers, such as days since a fixed one.")
    if table.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {name} has dtype {table.dtype}; pass real numbers.")
    try:
        return table.astype(np.float64)
    except OverflowError as error:
        raise InputError(
            f"{name} holds a number that is too large ({error}); allowed is what float32 holds."
        ) from error
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} holds {table.dtype} values that are not numbers ({error}); "
            "encode text and categories as numbers first."
        ) from error


def check_finite(
    block: np.ndarray, first_row: int = 0, name: str = "X", *, accepts_missing: bool = False
) -> np.ndarray:
    """Return ``block`` (n, d) unchanged, or name the first NaN or infinity by row and column.

    >>> check_finite(np.array([[1.0, np.nan]]), first_row=7)
    Traceback (most recent call last):
    ...
    repsketch.errors.InputError: X holds NaN at row 7, column 1; fill or drop it (every value must be finite \
and within float32).
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total = block.sum(dtype=np.float64)  # one pass without allocation; only a sum that is not finite is looked into
    if np.isfinite(total):
        return block
    bad = np.isinf(block) if accepts_missing else ~np.isfinite(block)
    if not bad.any():
        return block
    row, column = np.argwhere(bad)[0]
    value = block[row, column]
    raise InputError(
        f"{name} holds {'NaN' if np.isnan(value) else 'infinity (inf)'} at row {first_row + row}, column {column}; "
        "fill or drop it (every value must be finite and within float32)."
    )


def check_width(table: Any, n_features: int, name: str = "X") -> None:
    """Refuse a table whose number of columns differs from ``n_features``."""
    if table.shape[1] != n_features:
        raise InputError(f"{name} has {table.shape[1]} features, but this model takes {n_features}.")


def check_not_empty(table: Any, name: str = "X") -> None:
    """Refuse a table without rows or without columns."""
    rows, columns = table.shape
    if rows == 0 or columns == 0:
        missing = "row" if rows == 0 else "feature"
        raise InputError(f"{name} has shape {(rows, columns)}: at least one {missing} is required.")


def iterate_blocks(
    X: Any, name: str = "X", block_rows: int = BLOCK_ROWS, *, accepts_missing: bool = False
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield ``(first_row, block)`` with finite float32 blocks of at most ``block_rows`` rows.

    With ``accepts_missing`` NaN passes.

    >>> [(start, block.shape) for start, block in iterate_blocks(np.ones((5, 2)), block_rows=3)]
    [(0, (3, 2)), (3, (2, 2))]
    """
    block_rows = max(1, min(block_rows, _BLOCK_VALUES // max(1, X.shape[1])))
    for start in range(0, X.shape[0], block_rows):
        block = take_rows(X, start, min(start + block_rows, X.shape[0]))
        yield start, check_finite(block, start, name, accepts_missing=accepts_missing)


def sample_rows(table: Any, n_rows: int) -> np.ndarray:
    """At most ``n_rows`` evenly spaced rows of a table, as finite float32 (n, d).

    >>> sample_rows(np.arange(10.0)[:, None], 4)[:, 0].tolist()
    [0.0, 3.0, 6.0, 9.0]
    """
    chosen = np.linspace(0, table.shape[0] - 1, min(table.shape[0], n_rows)).astype(np.int64)
    return check_finite(take_rows(table[chosen], 0, len(chosen)))


def as_outputs(values: Any, n_rows: int, name: str = "targets", largest: float = LARGEST_OUTPUT) -> np.ndarray:
    """``values`` as finite float64 of shape (n_rows, C); a vector becomes one column.

    >>> as_outputs([1, 2, 3], 3).shape
    (3, 1)
    """
    outputs = _as_real(_as_array(check_not_masked(values, name), name), name).astype(np.float64, copy=False)
    if outputs.ndim == 1:
        outputs = outputs[:, None]
    if outputs.ndim != 2 or outputs.shape[0] != n_rows or outputs.shape[1] == 0:
        raise InputError(
            f"{name} has shape {np.shape(values)}; allowed is ({n_rows},) or ({n_rows}, C), one row for each row of X."
        )
    check_finite(outputs, name=name)
    if np.abs(outputs).max(initial=0.0) > largest:
        raise InputError(f"{name} reach {np.abs(outputs).max():.3g}; allowed is {largest:.0e}, well within float32.")
    return outputs
