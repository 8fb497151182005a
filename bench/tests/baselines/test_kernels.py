import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch_bench.baselines import fit_fourier, fit_linear, fit_nystroem
from repsketch_bench.baselines.ridge import fit_ridge

D = 4
# Numbers for each feature and once, by the docstrings.
METHODS = {
    "Fourier": (fit_fourier, {}, 2, D + 1),
    "Fourier, stored": (fit_fourier, {"stores_frequencies": True}, D + 2, 1),
    "Nyström": (fit_nystroem, {}, D + 1, D + 1),
}


@pytest.fixture(params=METHODS.values(), ids=METHODS)
def method(request):
    return request.param


def test_better_than_a_line(method, X, values):
    fit, options, *_ = method
    half = X[:450], values[:450]
    line = fit_linear(*half, task="regression")
    model = fit(*half, 400, task="regression", **options)
    errors = [np.abs(fitted.predict(X[450:]) - values[450:]).mean() for fitted in (line, model)]
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.parametrize("function", [np.cos, np.sin])
def test_even_and_odd_functions(method, function):
    fit, options, *_ = method
    x = np.random.default_rng(0).normal(size=500)
    x = np.concatenate([x, -x])[:, None].astype(np.float32)
    y = function(2.0 * x[:, 0])
    assert np.abs(fit(x, y, 60, task="regression", **options).predict(x) - y).mean() < 0.1


@pytest.mark.parametrize("n_numbers", [11, 12, 50, 333])
def test_numbers_by_hand(method, X, values, n_numbers):
    fit, options, each, fixed = method
    model = fit(X, values, n_numbers, task="regression", **options)
    n_each = (n_numbers - fixed) // each
    assert model.n_numbers == n_each * each + fixed <= n_numbers
    assert model.nbytes == 4 * model.n_numbers
    features_each = 1 if fit is fit_nystroem else 2  # a frequency makes two features
    assert model.settings["n_features"] == features_each * n_each
    assert model.flops == n_each * (D + features_each)
    assert model.settings["n_tried"] == 8


def test_log_odds_and_classes(method, X, values, labels):
    fit, options, *_ = method
    for targets in (values - 50.0, labels):
        model = fit(X, targets, 300, task="classification", validation=(X, labels), **options)
        assert ((model.predict(X) > 0) == labels).mean() > 0.9


def test_settings_are_chosen_on_the_validation_rows(X, values):
    rng = np.random.default_rng(1)
    noise = rng.normal(size=len(values))
    for_noise = fit_fourier(X, noise, 600, task="regression", validation=(X, noise))
    honest = fit_fourier(X, noise, 600, task="regression")
    assert for_noise.settings["validation_error"] < honest.settings["validation_error"]
    assert for_noise.settings["bandwidth"] <= honest.settings["bandwidth"]


def test_deterministic(method, X, values):
    fit, options, *_ = method
    runs = [fit(X, values, 100, task="regression", random_state=seed, **options).predict(X) for seed in (1, 1, 2)]
    assert runs[0].tobytes() == runs[1].tobytes() != runs[2].tobytes()


def test_no_more_landmarks_than_rows(X, values):
    model = fit_nystroem(X[:50], values[:50], 5000, task="regression")
    assert model.settings["n_features"] == 40


def test_too_few_numbers(method, X, values):
    fit, options, each, fixed = method
    with pytest.raises(InputError, match=f"n_numbers={each + fixed - 1}; one .* takes {each + fixed}"):
        fit(X, values, each + fixed - 1, task="regression", **options)


def test_refuses(X, values):
    with pytest.raises(InputError, match=r"n_numbers=100000 makes .*allowed are 8192: at most 8197 numbers"):
        fit_fourier(X, values, 100_000, task="regression")
    with pytest.raises(InputError, match="targets has shape"):
        fit_nystroem(X, values[:5], 100, task="regression")
    with pytest.raises(InputError, match="task='guessing'"):
        fit_fourier(X, values, 100, task="guessing")


def test_ridge_solves_its_normal_equations():
    rng = np.random.default_rng(0)
    F, y, importance = rng.normal(size=(5000, 3)) + 1.0, rng.normal(size=5000), rng.uniform(size=5000)  # two blocks
    penalty = np.diag([1.0, 2.0, 3.0])
    (line,) = fit_ridge(lambda X: X, F, y, [0.5], penalty, importance)
    share = importance / importance.sum()
    residual = F @ line.weights + line.intercept - y
    assert abs(share @ residual) < 1e-6
    np.testing.assert_allclose((share * residual) @ F, -0.5 * penalty @ line.weights, atol=1e-6)
