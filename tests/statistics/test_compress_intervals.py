"""The intervals that compress leaves: 95 % of them hold the value of a row that nobody has seen."""

import os
from math import sqrt

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import repsketch as rs
from repsketch.errors import InputError
from repsketch.train.training_data import VALIDATION_FRACTION
from repsketch_bench.datasets import load_split

CONFIDENCE = 0.95


def shares_of(split, teacher=None, seed=0, time_limit=1.0):
    """Share of test rows inside their intervals, of compress and with widths a fifth smaller; and validation rows."""
    X, y, X_test, y_test = split
    model = teacher and teacher.fit(X, y)
    sketch = rs.compress(
        model, X, y, budget="1KB", task="regression", random_state=seed, time_limit=time_limit, progress=False
    )
    assert sketch.nbytes <= 1024
    low, high = sketch.predict_interval(X_test, CONFIDENCE)
    residuals, widths = np.abs(y_test - (low + high) / 2), (high - low) / 2
    return (residuals <= widths).mean(), (residuals <= 0.8 * widths).mean(), sketch.model.intervals.n_rows


def tolerance(n_validation, n_test, n_splits=1):
    """Five standard deviations of the mean share over splits: p (1 - p) (1/valid + 1/test) is one split's variance.

    No allowance for the choice of hyper-parameters on these rows, which makes a sketch a little better on them.
    """
    return 5.0 * sqrt(CONFIDENCE * (1.0 - CONFIDENCE) * (1.0 / n_validation + 1.0 / n_test) / n_splits)


def uneven(n, seed):
    """Values whose deviation grows with one column."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, (n, 3))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + np.exp(0.7 * X[:, 0]) * rng.normal(size=n)


def test_uneven_noise():
    inside, narrower, n_validation = shares_of((*uneven(10_000, 1), *uneven(20_000, 2)))
    assert n_validation == VALIDATION_FRACTION * 10_000
    assert abs(inside - CONFIDENCE) < tolerance(n_validation, 20_000)
    assert abs(narrower - CONFIDENCE) > tolerance(n_validation, 20_000)  # twin


def test_diabetes():
    X, y = load_diabetes(return_X_y=True)
    shares, n_validation = [], 0
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = order[:300], order[300:]
        share, _, n_validation = shares_of((X[train], y[train], X[test], y[test]), seed=seed)
        shares.append(share)
    assert abs(np.mean(shares) - CONFIDENCE) < tolerance(n_validation, 142, n_splits=5)


def test_too_few_rows_to_hold_any_out():
    X, y = uneven(20, 0)
    sketch = rs.compress(None, X, y, budget=256, task="regression", random_state=0, time_limit=1.0, progress=False)
    assert sketch.model.intervals is None
    with pytest.raises(InputError, match="with_intervals"):
        sketch.predict_interval(X)


@pytest.mark.slow
@pytest.mark.skipif("REPSKETCH_DATA" not in os.environ, reason="REPSKETCH_DATA is not set: no real data")
@pytest.mark.parametrize("name", ["abalone", "yearmsd"])
def test_real_data(name):
    """Five seeds: 93 to 97 % in the mean, and within the tolerance of the formula; widths a fifth smaller are not."""
    shares, narrower = [], []
    for seed in range(5):
        split = load_split(name, seed)
        teacher = HistGradientBoostingRegressor(loss="absolute_error", random_state=seed)
        rows = (split.X_train, split.y_train, split.X_test, split.y_test)
        share, less, n_validation = shares_of(rows, teacher, seed, time_limit=10.0)
        shares.append(share)
        narrower.append(less)
    allowed = tolerance(n_validation, len(split.y_test), n_splits=5)
    assert 0.93 <= np.mean(shares) <= 0.97
    assert abs(np.mean(shares) - CONFIDENCE) < allowed
    assert abs(np.mean(narrower) - CONFIDENCE) > allowed
