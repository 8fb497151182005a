import numpy as np
import pytest
import torch

from repsketch_bench.baselines import train_mlp
from repsketch_bench.baselines.mlp import widths_of

SMALL = {"hidden": (16, 8), "n_epochs": 20, "batch_size": 32, "dropout": 0.0, "learning_rate": 0.01, "random_state": 0}


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(400, 3)) * [1.0, 100.0, 1.0] + [0.0, 5000.0, 0.0]


def outputs_of(network, X):
    with torch.no_grad():
        return network(torch.tensor(X, dtype=torch.float32)).numpy()


def test_regression_in_the_units_of_the_targets(X):
    y = 1000.0 + 50.0 * X[:, 0]
    network = train_mlp(X, y, task="regression", **SMALL)
    assert np.abs(outputs_of(network, X)[:, 0] - y).mean() < 0.3 * np.abs(y - np.median(y)).mean()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classification(X, n_classes):
    y = np.digitize(X[:, 0], np.quantile(X[:, 0], np.arange(1, n_classes) / n_classes))
    outputs = outputs_of(train_mlp(X, y, task="classification", **SMALL), X)
    assert outputs.shape == (400, 1 if n_classes == 2 else 3)
    chosen = outputs[:, 0] > 0 if n_classes == 2 else outputs.argmax(axis=1)
    assert (chosen == y).mean() > 0.85


def test_same_seed_same_network_and_no_trace_in_torchs_own_generator(X):
    y = X[:, 0]
    before = torch.random.get_rng_state()
    first, second = (outputs_of(train_mlp(X, y, task="regression", **SMALL), X) for _ in range(2))
    assert first.tobytes() == second.tobytes()
    assert torch.equal(before, torch.random.get_rng_state())


def test_widths(X):
    assert widths_of(train_mlp(X, X[:, 0], task="regression", **{**SMALL, "n_epochs": 1})) == [3, 16, 8, 1]


def test_unknown_task(X):
    with pytest.raises(ValueError, match="allowed are"):
        train_mlp(X, X[:, 0], task="guessing")
