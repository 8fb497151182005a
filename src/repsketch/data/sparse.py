"""Sparse matrices of scipy: checked, and converted to CSR with rising columns.

Takes any format of scipy; hands on a CSR matrix whose arrays agree with each other. Flags of the matrix are not
trusted, and nothing is passed to scipy unchecked: its conversions read and write wherever the indices point.
"""

from typing import Any

import numpy as np

from ..errors import InputError, RepSketchError


def is_sparse(X: Any) -> bool:
    """True for scipy's sparse matrices and arrays, without importing scipy.

    >>> is_sparse([[1.0]])
    False
    """
    return any(base.__module__.startswith("scipy.sparse") for base in type(X).__mro__)


def as_csr(X: Any, name: str = "X") -> Any:
    """A CSR matrix (n, d) with the numbers of ``X``, columns rising within each row; ``X`` itself where it is one.

    Duplicate entries are added up, unless the matrix claims to have none (``has_canonical_format``).

    >>> from scipy.sparse import csr_matrix
    >>> as_csr(csr_matrix(([1.0, 2.0], [1, 1], [0, 2]), shape=(1, 2))).toarray()
    array([[0., 3.]])
    >>> as_csr(csr_matrix(([1.0, 2.0], [0, 7], [0, 2]), shape=(1, 2)))
    Traceback (most recent call last):
    ...
    repsketch.errors.InputError: X holds column index 7 in row 0; allowed is 0 to 1. Correct the matrix first.
    """
    try:
        if X.format in ("csr", "csc", "bsr"):
            _check_compressed(X, name)
        elif X.format == "coo":
            _check_coordinates(X, name)
        elif X.format == "lil":
            _check_lists(X, name)
        elif X.format == "dok":
            return as_csr(_from_keys(X), name)
        elif X.format == "dia":
            _check_diagonals(X, name)
        table = X if X.format == "csr" else X.tocsr()
        row = _first_not_rising(table.indptr, table.indices)
        if row is None:
            return table
        if _claims_order(X):
            raise InputError(
                f"{name} says has_canonical_format, but the columns of row {row} do not rise, or one is there twice; "
                f"make a new matrix of its arrays and call sum_duplicates()."
            )
        return _summed(table, name)
    except (RepSketchError, MemoryError):
        raise
    except Exception as error:  # whatever scipy raises for arrays it cannot use
        raise InputError(f"{name} is no {X.format.upper()} matrix of numbers: {error}") from error


def _claims_order(X: Any) -> bool:
    """True if the matrix is marked as sorted and without duplicates; scipy's own check would read the arrays."""
    flags = vars(X)
    is_marked = flags.get("_has_canonical_format", flags.get("has_canonical_format", False))
    return bool(is_marked and flags.get("_has_sorted_indices", True))


def _check_compressed(X: Any, name: str) -> None:
    """Refuse the arrays of a CSR, CSC or BSR matrix that contradict each other or its shape."""
    kind, shape = X.format, X.shape
    unit = " of blocks" if kind == "bsr" else ""
    if kind == "bsr":
        shape = tuple(size // step for size, step in zip(shape, X.blocksize, strict=True))
    (n_major, n_minor), (major, minor) = (
        (shape[::-1], ("column", "row")) if kind == "csc" else (shape, ("row", "column"))
    )
    for field, dimensions in (("indptr", 1), ("indices", 1), ("data", 3 if kind == "bsr" else 1)):
        _check_array(getattr(X, field), field, dimensions, f"{name} is no {kind.upper()} matrix")
    ends, indices, data = X.indptr, X.indices, X.data
    given = None
    if len(ends) != n_major + 1:
        given = f"indptr has length {len(ends)}; allowed is {n_major + 1}, one more than {major}s"
    elif ends[0] != 0:
        given = f"indptr begins with {ends[0]}; allowed is 0"
    elif len(indices) != len(data):
        given = f"indices has {len(indices)} entries, data {len(data)}; allowed are as many"
    elif (ends[1:] < ends[:-1]).any():
        place = int(np.argmax(ends[1:] < ends[:-1]))
        given = f"indptr falls from {ends[place]} to {ends[place + 1]} after {major} {place}; it must not"
    elif ends[-1] > len(data):
        given = f"indptr ends at {ends[-1]}, beyond the {len(data)} stored numbers"
    if given is not None:
        raise InputError(f"{name} is no {kind.upper()} matrix: {given}.")
    used = indices[: int(ends[-1])]
    bad = _first_outside(used, n_minor)
    if bad is not None:
        place = int(np.searchsorted(ends, bad, side="right")) - 1
        _refuse_index(used[bad], n_minor, minor, f" in {major} {place}{unit}", name)


def _check_coordinates(X: Any, name: str) -> None:
    for field, minor, size in (("row", "row", X.shape[0]), ("col", "column", X.shape[1])):
        indices = getattr(X, field)
        _check_array(indices, field, 1, f"{name} is no COO matrix")
        if len(indices) != len(X.data):
            given = f"{field} has {len(indices)} entries, data {len(X.data)}; allowed are as many"
            raise InputError(f"{name} is no COO matrix: {given}.")
        bad = _first_outside(indices, size)
        if bad is not None:
            _refuse_index(indices[bad], size, minor, f" at stored number {bad}", name)


def _check_lists(X: Any, name: str) -> None:
    for row, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if len(columns) != len(values):
            raise InputError(f"{name} is no LIL matrix: row {row} has {len(columns)} columns, {len(values)} numbers.")
        for column in columns:
            if not 0 <= column < X.shape[1]:
                _refuse_index(column, X.shape[1], "column", f" in row {row}", name)


def _check_diagonals(X: Any, name: str) -> None:
    _check_array(X.offsets, "offsets", 1, f"{name} is no DIA matrix")
    if len(X.offsets) != len(X.data):
        raise InputError(f"{name} is no DIA matrix: {len(X.offsets)} offsets for {len(X.data)} diagonals.")
    offsets, counts = np.unique(X.offsets, return_counts=True)
    if (counts > 1).any():
        raise InputError(f"{name} is no DIA matrix: offset {offsets[counts > 1][0]} is there twice.")


def _from_keys(X: Any) -> Any:
    table = X.tocoo()
    table.has_canonical_format = False  # scipy sets it, but keys come in the order in which they were added
    return table


def _check_array(array: Any, field: str, dimensions: int, what: str) -> None:
    if not isinstance(array, np.ndarray):
        raise InputError(f"{what}: {field} is a {type(array).__name__}; allowed is a NumPy array.")
    if array.ndim != dimensions:
        allowed = "one dimension" if dimensions == 1 else f"{dimensions} dimensions"
        raise InputError(f"{what}: {field} has shape {array.shape}; allowed is {allowed}.")
    if field != "data" and array.dtype.kind not in "iu":
        raise InputError(f"{what}: {field} has dtype {array.dtype}; allowed are integers.")


def _first_outside(indices: np.ndarray, size: int) -> int | None:
    """Position of the first index that is not in 0 to ``size`` - 1."""
    if len(indices) == 0 or (indices.min() >= 0 and indices.max() < size):
        return None
    return int(np.argmax((indices < 0) | (indices >= size)))


def _refuse_index(index: Any, size: int, kind: str, where: str, name: str) -> None:
    raise InputError(f"{name} holds {kind} index {index}{where}; allowed is 0 to {size - 1}. Correct the matrix first.")


def _first_not_rising(ends: np.ndarray, columns: np.ndarray) -> int | None:
    """The first row whose columns do not rise strictly."""
    n = int(ends[-1])
    falls = columns[1:n] <= columns[: max(n - 1, 0)]
    starts = ends[1:-1]
    falls[starts[(starts > 0) & (starts < n)] - 1] = False  # columns may fall from one row to the next
    return int(np.searchsorted(ends, int(np.argmax(falls)) + 1, side="right")) - 1 if falls.any() else None


def _summed(table: Any, name: str) -> Any:
    """A new matrix, whose flags are not those of ``table``, with duplicate entries added up."""
    from scipy.sparse import csr_array

    data = table.data.astype(np.float64) if table.dtype.itemsize == 2 and table.dtype.kind == "f" else table.data
    summed = csr_array((data, table.indices, table.indptr), table.shape, copy=True)
    _check_compressed(summed, name)  # again: another thread may have changed the arrays before they were copied
    summed.sum_duplicates()
    return summed
