"""Data that every kind of teacher is trained on."""

import numpy as np
import pytest

N_ROWS, N_FEATURES = 240, 4


@pytest.fixture(scope="session")
def X():
    return np.random.default_rng(0).normal(size=(N_ROWS, N_FEATURES))


@pytest.fixture(scope="session")
def binary(X):
    return np.where(X[:, 0] + 0.5 * X[:, 1] > 0, "yes", "no")


@pytest.fixture(scope="session")
def triple(X):
    return np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
