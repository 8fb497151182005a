import numpy as np
import pytest
import torch

from repsketch.errors import InputError
from repsketch.theory import Cost
from repsketch_bench.baselines.layers import fold_network, network_of, rescale_network
from repsketch_bench.baselines.networks import compare_network, matrix_nbytes, vector_nbytes


def sparse(n_rows, n_columns, n_nonzeros):
    weight = np.zeros(n_rows * n_columns)
    weight[:n_nonzeros] = 1.0
    return weight.reshape(n_rows, n_columns)


@pytest.mark.parametrize(
    ("shape", "n_nonzeros", "nbytes"),
    [
        ((10, 100), 20, 80 + 20 * 1 + 11 * 1),  # CSR, one-byte columns and starts; a bitmap takes 125
        ((10, 300), 20, 80 + 20 * 2 + 11 * 1),  # columns beyond 255 take two bytes
        ((2, 256), 60, 240 + 60 + 3),  # column 255 still fits into a byte
        ((10, 1000), 300, 1200 + 300 * 2 + 11 * 2),  # starts beyond 255 too
        ((10, 100), 300, 1200 + 125),  # bitmap; CSR takes 322
        ((10, 100), 1000, 4000),  # dense
        ((10, 100), 0, 11),  # the starts alone
    ],
)
def test_bytes_of_a_matrix(shape, n_nonzeros, nbytes):
    assert matrix_nbytes(sparse(*shape, n_nonzeros)) == nbytes


@pytest.mark.parametrize(("n_nonzeros", "nbytes"), [(0, 2), (3, 14), (9, 36)])
def test_bytes_of_biases(n_nonzeros, nbytes):
    assert vector_nbytes(sparse(1, 9, n_nonzeros)[0]) == nbytes


def test_sizes_of_a_tiny_network_by_hand():
    weights = [sparse(3, 20, 4), np.array([[0.0, 2.0, 0.0]])]
    network = compare_network("tiny", network_of(weights, [np.array([1.0, 0.0, 0.0]), np.ones(1)]))
    assert (network.n_numbers, network.flops) == (4 + 1 + 1 + 1, 5)
    first, first_bias = 16 + min(4 + 4, 8), 5  # 4 columns and 4 starts, or 60 bits
    second, second_bias = 4 + 1, 4  # 3 bits
    assert network.nbytes == first + first_bias + second + second_bias


def test_a_dense_network_costs_what_cost_says(teacher):
    network, cost = compare_network("teacher", fold_network(teacher)), Cost.of_mlp([4, 24, 12, 1])
    assert (network.n_numbers, network.flops, network.nbytes) == (cost.parameters, cost.paper_flops, cost.nbytes(32))


def test_predicts_as_the_network_in_blocks(teacher, X):
    many = np.tile(X, (6, 1))  # more than a block
    with torch.no_grad():
        expected = teacher(torch.from_numpy(many))[:, 0].numpy()
    outputs = compare_network("teacher", fold_network(teacher)).predict(many)
    assert outputs.shape == (len(many),)
    np.testing.assert_allclose(outputs, expected, atol=1e-3)


def test_folding_twice_changes_nothing(teacher, X):
    once = fold_network(teacher)
    twice = fold_network(once)
    assert torch.equal(once(torch.from_numpy(X)), twice(torch.from_numpy(X)))


def test_rescaling_back_is_the_identity(teacher, X):
    plain = fold_network(teacher)
    there = rescale_network(plain, 2.0, 3.0, 4.0, 5.0)
    back = rescale_network(there, 0.5, -1.5, 0.25, -1.25)
    x = torch.from_numpy(X)
    torch.testing.assert_close(there(x), plain(2.0 * x + 3.0) * 4.0 + 5.0, rtol=1e-4, atol=1e-2)
    torch.testing.assert_close(back(x), plain(x), rtol=1e-4, atol=1e-3)


def test_making_networks_leaves_torchs_generator_alone(teacher):
    before = torch.random.get_rng_state()
    fold_network(teacher)
    assert torch.equal(before, torch.random.get_rng_state())


def test_refuses_other_networks():
    two = network_of([np.ones((2, 3))], [np.ones(2)])
    with pytest.raises(InputError, match="2 outputs; allowed is one"):
        compare_network("two", two)
    with pytest.raises(InputError, match=r"Tanh.*allowed are Linear and ReLU"):
        fold_network(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1)))
    with pytest.raises(InputError, match=r"is a Linear; allowed is torch\.nn\.Sequential"):
        fold_network(torch.nn.Linear(2, 1))
