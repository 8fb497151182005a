"""Small data of unequal columns, curved without jumps, and networks trained on them."""

import numpy as np
import pytest

from repsketch_bench.baselines import train_mlp


@pytest.fixture(scope="session")
def X():
    rng = np.random.default_rng(0)
    return (rng.normal(size=(900, 4)) * [1.0, 30.0, 0.01, 1.0] + [0.0, 100.0, 0.0, -2.0]).astype(np.float32)


@pytest.fixture(scope="session")
def values(X):
    """A curved function of two columns, far from zero."""
    return 50.0 + 4.0 * np.sin(2.0 * X[:, 0]) + 0.1 * (X[:, 1] - 100.0)


@pytest.fixture(scope="session")
def labels(values):
    return (values > 50.0).astype(np.int64)


@pytest.fixture(scope="session", params=["classification", "regression"])
def task(request):
    return request.param


@pytest.fixture(scope="session")
def y(task, values, labels):
    return labels if task == "classification" else values


@pytest.fixture(scope="session")
def teacher(X, y, task):
    options = {"n_epochs": 25, "batch_size": 32, "dropout": 0.0, "learning_rate": 0.01, "progress": False}
    return train_mlp(X, y, (24, 12), task=task, **options)


@pytest.fixture(scope="session")
def deviation(values):
    """Mean absolute error of the best constant."""
    return float(np.abs(values - np.median(values)).mean())
