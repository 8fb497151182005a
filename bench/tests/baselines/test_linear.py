import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch_bench.baselines import fit_linear


def test_finds_a_line_in_raw_units(X):
    y = 3.0 + 2.0 * X[:, 0] - 0.5 * X[:, 1] + 100.0 * X[:, 2]
    model = fit_linear(X, y, task="regression")
    assert np.abs(model.predict(X) - y).mean() < 0.01 * y.std()
    assert (model.n_numbers, model.flops, model.nbytes) == (5, 4, 20)
    assert model.settings["n_tried"] == 4


def test_least_absolute_error_ignores_gross_ones(X):
    y = 2.0 * X[:, 0].astype(np.float64)
    y[::10] += 1000.0  # least squares would shift by 100
    model = fit_linear(X, y, task="regression")
    assert np.abs(model.predict(X) - 2.0 * X[:, 0]).max() < 1.0


def test_logistic_regression_gives_log_odds(X):
    rng = np.random.default_rng(0)
    log_odds = 2.0 * X[:, 0] - 1.0
    y = rng.uniform(size=len(X)) < 1.0 / (1.0 + np.exp(-log_odds))
    model = fit_linear(X, y, task="classification")
    slope, intercept = np.polyfit(log_odds, model.predict(X), 1)
    # Standard errors of the two coefficients at n = 900 are about 0.15 and 0.1; five of them.
    assert abs(slope - 1.0) < 0.75 / 2.0
    assert abs(intercept) < 0.5 + 0.375


def test_deterministic(X, y, task):
    runs = [fit_linear(X, y, task=task, random_state=1).predict(X) for _ in range(2)]
    assert runs[0].tobytes() == runs[1].tobytes()


def test_refuses(X, values):
    with pytest.raises(InputError, match="allowed are the classes 0 and 1"):
        fit_linear(X, values, task="classification")
    with pytest.raises(InputError, match="task=None; allowed are"):
        fit_linear(X, values, task=None)
