"""What boosted trees and forests share: leaves of one byte on one grid, and sums of the leaves that a row ends in."""

from collections.abc import Callable

import numpy as np

from ..model.numbers import decode_bfloat16, encode_bfloat16

LARGEST = 127
MAX_TREES = 2000
PATIENCE = 50  # trees without a better validation loss before growing stops
FIXED = {"num_threads": 1, "deterministic": True, "force_row_wise": True, "verbose": -1}  # parameters of LightGBM
STEP_NBYTES = 2
_BLOCK_ROWS = 4_096  # computed at a time

#: Raw rows (n, d) -> the index (n, T) of the leaf that each row ends in, in each of T trees.
LeafIndices = Callable[[np.ndarray], np.ndarray]


def tree_nbytes(n_leaves: int) -> int:
    """Bytes of a tree packed tightly: 3 for a split (column, threshold), 1 for a leaf.

    >>> tree_nbytes(2)
    5
    """
    return 4 * n_leaves - 3


def integer_leaves(leaves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leaves (N, C) of all trees as int8, and the one step of all, in bfloat16.

    >>> quantized, step = integer_leaves(np.array([[-1.0], [0.5]]))
    >>> quantized.tolist(), step.nbytes
    ([[-127], [64]], 2)
    """
    step = encode_bfloat16(np.array([max(float(np.abs(leaves).max()), 1e-12) / LARGEST]))
    multiples = np.rint(leaves / float(decode_bfloat16(step)[0]))
    return np.clip(multiples, -LARGEST, LARGEST).astype(np.int8), step


def leaf_sums(
    leaf_indices: LeafIndices, starts: np.ndarray, leaves: np.ndarray, n_outputs: int, X: np.ndarray
) -> np.ndarray:
    """Sums (n, C) of the leaves that rows end in, int64.

    Parameters
    ----------
    starts : (T,) index of the first leaf of every tree
    leaves : (N, C) of all trees; or (N, 1), where tree t adds to output t modulo C
    """
    sums = np.zeros((len(X), n_outputs), np.int64)
    for first in range(0, len(X), _BLOCK_ROWS):
        rows = slice(first, first + _BLOCK_ROWS)
        found = leaves[leaf_indices(X[rows]) + starts].astype(np.int64)
        sums[rows] = found.reshape(len(found), -1, n_outputs).sum(axis=1)
    return sums
