"""Rounding, sparse matrices and features, each against plain arithmetic."""

import numpy as np
import pytest
import torch

from repsketch.compare.features import FARTHEST, Features
from repsketch.model.numbers import decode_bfloat16
from repsketch_bench.baselines.networks import matrix_nbytes
from repsketch_bench.peers.rounding import rounded, rounded_halves, to_int8
from repsketch_bench.peers.sparse import nonzeros_nbytes, pack_matrix, unpack_matrix
from support.datasets import data_of, rows_of


def test_what_is_trained_is_what_is_kept():
    values = torch.randn(2, 30, 5, generator=torch.Generator().manual_seed(0), requires_grad=True)
    trained = rounded(values, (1,))
    for member in range(2):
        numbers, steps = to_int8(values[member].detach(), (0,))
        assert np.array_equal(trained[member].detach().numpy(), numbers * decode_bfloat16(steps))
        assert np.abs(numbers).max() >= 126  # steps have eight bits, and may be a little too large
    trained.sum().backward()
    assert torch.equal(values.grad, torch.ones_like(values))
    assert torch.equal(rounded_halves(torch.tensor([1.0009])), torch.tensor([1.0]))


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.97])
def test_packed_matrices(share):
    rng = np.random.default_rng(0)
    matrix = np.where(rng.random((40, 300)) < share, rng.integers(1, 127, (40, 300)), 0).astype(np.int8)
    packed = pack_matrix(matrix)
    assert sum(array.nbytes for array in packed.values()) == matrix_nbytes(matrix, 1)
    assert np.array_equal(unpack_matrix(packed, matrix.shape), matrix)


@pytest.mark.parametrize("n_nonzeros", [0, 20, 90, 300, 1_100, 1_500])
def test_bytes_of_nonzeros_wherever_they_are(n_nonzeros):
    rng = np.random.default_rng(0)
    for _ in range(20):
        matrix = (rng.permutation(1_500) < n_nonzeros).reshape(50, 30).astype(np.int8)
        size = sum(array.nbytes for array in pack_matrix(matrix).values())
        assert size == nonzeros_nbytes(matrix.shape, n_nonzeros)


def test_features_are_standardised_marked_and_one_hot():
    data = data_of("values")
    features = Features.of(data)
    values = features.values(data.X)
    assert features.columns.tolist() == [0, 1, 2, 3]  # the constant is left out, which one bit a column says
    assert values.shape[1] == features.n_values == 8
    assert features.stored["columns"].nbytes == 1
    is_missing = np.isnan(data.X[:, 0])
    assert np.array_equal(values[:, 1], is_missing)
    assert (values[is_missing, 0] == 0).all()
    assert np.abs(values[:, [0, 2]].mean(axis=0)).max() < 0.6
    assert np.abs(values[:, 2].std() - 1.0) < 0.25
    category = data.X[:, 3]
    assert np.array_equal(values[:, 4:].sum(axis=1) == 0, np.isnan(category))
    assert np.array_equal(values[~np.isnan(category), 4:].argmax(axis=1), category[~np.isnan(category)])
    far = rows_of(2)
    far[:, 1] = 1e9
    assert (features.values(far)[:, 2] == FARTHEST).all()


def test_columns_of_one_measure_share_center_and_scale():
    from repsketch.train.training_data import TrainingData

    X = np.random.default_rng(0).integers(0, 17, (200, 6)).astype(np.float32)
    data = TrainingData.of(X, X[:, :1].astype(np.float64), None, "regression")
    features = Features.of(data)
    assert features.nbytes == 2
    assert np.abs(features.values(X).std() - 1.0) < 0.1
