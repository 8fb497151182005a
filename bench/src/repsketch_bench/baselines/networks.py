"""A plain network as a compared model: outputs in blocks, and its size with zeros left out."""

from typing import Any

import numpy as np
import torch
from torch import nn

from repsketch.errors import InputError

from .compared import Compared
from .layers import layers_of

BLOCK_ROWS = 4096  # rows at a time: the hidden layers of the paper's teachers then take a few megabytes


def compare_network(name: str, network: nn.Sequential, settings: dict[str, Any] | None = None) -> Compared:
    """A network of Linear and ReLU layers from raw inputs to one output, counted without its zeros.

    >>> from repsketch_bench.baselines.layers import network_of
    >>> pair = compare_network("pair", network_of([np.array([[2.0, 0.0]])], [np.array([1.0])]))
    >>> pair.predict(np.ones((1, 2), np.float32)).tolist(), pair.n_numbers, pair.flops, pair.nbytes
    ([3.0], 2, 1, 9)
    """
    layers = layers_of(check_one_output(network))
    flops = sum(int(np.count_nonzero(weight)) for weight, _ in layers)
    n_biases = sum(int(np.count_nonzero(bias)) for _, bias in layers)
    nbytes = sum(matrix_nbytes(weight) + vector_nbytes(bias) for weight, bias in layers)

    def predict(X: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            blocks = torch.from_numpy(np.ascontiguousarray(X, np.float32)).split(BLOCK_ROWS)
            return torch.cat([network(block)[:, 0] for block in blocks]).numpy()

    return Compared(name, predict, flops + n_biases, flops, nbytes, settings or {})


def check_one_output(network: nn.Sequential) -> nn.Sequential:
    """Return a plain network if it has one output."""
    n_outputs = len(layers_of(network)[-1][1])
    if n_outputs != 1:
        raise InputError(f"the network has {n_outputs} outputs; allowed is one: log-odds of two classes, or a value.")
    return network


def matrix_nbytes(weight: np.ndarray, number_nbytes: int = 4) -> int:
    """Bytes of a matrix (out, in), the smallest of three: all entries, non-zeros with CSR, with a bitmap.

    CSR stores a column for each non-zero and a start for each row and the end, in the smallest of 1, 2 or 4 bytes that
    holds them. The bitmap stores one bit for each entry. An entry takes ``number_nbytes``, 4 in float32.

    >>> matrix_nbytes(np.eye(16)), matrix_nbytes(np.ones((2, 3))), matrix_nbytes(np.eye(16), 1)
    (96, 24, 48)
    """
    n_rows, n_columns = weight.shape
    n_nonzeros = int(np.count_nonzero(weight))
    csr = n_nonzeros * index_nbytes(n_columns - 1) + (n_rows + 1) * index_nbytes(n_nonzeros)
    bitmap = -(-weight.size // 8)
    return min(number_nbytes * weight.size, number_nbytes * n_nonzeros + min(csr, bitmap))


def vector_nbytes(bias: np.ndarray) -> int:
    """Bytes of float32 biases (out,): all of them, or the non-zero ones and a bitmap, whichever is less.

    >>> vector_nbytes(np.array([0.0, 0.0, 1.0])), vector_nbytes(np.ones(3))
    (5, 12)
    """
    return min(4 * bias.size, 4 * int(np.count_nonzero(bias)) + -(-bias.size // 8))


def index_nbytes(largest: int) -> int:
    """Bytes of an index up to ``largest``: 1, 2 or 4.

    >>> index_nbytes(255), index_nbytes(256)
    (1, 2)
    """
    return 1 if largest < 1 << 8 else 2 if largest < 1 << 16 else 4
