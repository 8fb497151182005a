"""Matrices of a few non-zeros, stored in the smallest of three ways: all entries, with a bitmap, or as CSR."""

from collections.abc import Mapping

import numpy as np

from repsketch.model.numbers import packed_nbytes

from ..baselines.networks import index_nbytes

_INDEX = {1: np.uint8, 2: np.uint16, 4: np.uint32}


def pack_matrix(matrix: np.ndarray) -> dict[str, np.ndarray]:
    """The arrays that keep an int8 matrix (rows, columns); as many bytes as ``matrix_nbytes`` says.

    >>> packed = pack_matrix(np.eye(16, dtype=np.int8))
    >>> {name: array.nbytes for name, array in packed.items()}
    {'numbers': 16, 'bits': 32}
    """
    rows, columns = np.nonzero(matrix)
    numbers = matrix[rows, columns]
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(matrix)))])
    ways = [
        {"dense": matrix},
        {"numbers": numbers, "bits": np.packbits(matrix != 0)},
        {
            "numbers": numbers,
            "columns": columns.astype(_INDEX[index_nbytes(matrix.shape[1] - 1)]),
            "starts": starts.astype(_INDEX[index_nbytes(len(numbers))]),
        },
    ]
    return min(ways, key=lambda arrays: sum(array.nbytes for array in arrays.values()))


def unpack_matrix(packed: Mapping[str, np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """The matrix that ``pack_matrix`` stored.

    >>> matrix = np.array([[0, 3], [0, 0], [-1, 0]], np.int8)
    >>> unpack_matrix(pack_matrix(matrix), (3, 2)).tolist()
    [[0, 3], [0, 0], [-1, 0]]
    """
    if "dense" in packed:
        return packed["dense"]
    matrix = np.zeros(shape, np.int8)
    if "bits" in packed:
        matrix[np.unpackbits(packed["bits"], count=matrix.size).astype(bool).reshape(shape)] = packed["numbers"]
        return matrix
    places = np.arange(len(packed["numbers"]))
    matrix[np.searchsorted(packed["starts"], places, side="right") - 1, packed["columns"]] = packed["numbers"]
    return matrix


def nonzeros_nbytes(shape: tuple[int, int], n_nonzeros: int) -> int:
    """Bytes of a matrix (rows, columns) with so many non-zeros, wherever they are.

    >>> nonzeros_nbytes((16, 16), 16), nonzeros_nbytes((16, 16), 250), nonzeros_nbytes((100, 100), 20)
    (48, 256, 141)
    """
    n_rows, n_columns = shape
    size = n_rows * n_columns
    by_rows = n_nonzeros * (1 + index_nbytes(n_columns - 1)) + (n_rows + 1) * index_nbytes(n_nonzeros)
    return min(size, n_nonzeros + packed_nbytes(size, 1), by_rows)
