"""Matrices of a few non-zeros, stored in the smallest of three ways: all entries, with a bitmap, or as CSR."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

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


def unpack_matrix(packed: Mapping[str, np.ndarray], shape: tuple[int, int]) -> np.ndarray:
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


def most_nonzeros(widths: Sequence[int], nbytes: int) -> int:
    """Non-zeros of layers of these widths that fit into ``nbytes``, wherever they are; at most all.

    >>> most_nonzeros([16, 16], 48), most_nonzeros([16, 16], 300), most_nonzeros([100, 100], 500)
    (16, 256, 199)
    """
    n_weights = sum(a * b for a, b in pairwise(widths))
    if n_weights <= nbytes:
        return n_weights
    with_bits = nbytes - sum(-(-a * b // 8) for a, b in pairwise(widths))
    each = 1 + index_nbytes(max(widths[:-1]) - 1)
    by_rows = (nbytes - sum(widths[1:]) - (len(widths) - 1)) // each
    if by_rows > 255:  # starts take two bytes
        by_rows = max(255, (nbytes - 2 * sum(widths[1:]) - 2 * (len(widths) - 1)) // each)
    return max(0, with_bits, by_rows)
