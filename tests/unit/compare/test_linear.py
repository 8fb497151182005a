"""Linear peers: the minimum of every loss, against scikit-learn; weights of the rows, soft labels, int8."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, QuantileRegressor, Ridge

from repsketch.compare.linear import Linear, fit_weights, to_int8
from repsketch.model.numbers import decode_bfloat16
from repsketch.train.objective import objective_of
from repsketch.train.training_data import TrainingData

N = 600
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4)).astype(np.float32)
COLUMNS = np.hstack([X, np.ones((N, 1), np.float32)])
NOISE = RNG.normal(size=N)
Z = X @ [1.0, -2.0, 0.5, 0.0] + 0.3 + NOISE
WEIGHTS = RNG.random(N) + 0.1
WEIGHTS /= WEIGHTS.mean()


def classes_of(n_classes: int) -> np.ndarray:
    return np.digitize(Z, np.quantile(Z, np.linspace(0, 1, n_classes + 1)[1:-1]))


def method_of(data, is_distilled=False):
    return Linear(data, seed=0, is_distilled=is_distilled, largest=4_096, is_screening=False)


def fitted(data, setting, is_distilled=False):
    ((_, model),) = method_of(data, is_distilled).fit_all([setting], 4_096)
    return model


@pytest.mark.parametrize("is_direct", [True, False])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_log_loss_is_minimised(n_classes, is_weighted, is_direct):
    ways = {} if is_direct else {"max_direct": 0}  # by default, so few columns are solved directly
    y, weights = classes_of(n_classes), WEIGHTS if is_weighted else None
    labels = np.eye(3)[y] if n_classes == 3 else y[:, None].astype(float)
    found = fit_weights(COLUMNS, objective_of("log_loss", labels, weights), 0.01, **ways)
    plain = LogisticRegression(C=1.0 / (0.01 * N), tol=1e-8, max_iter=1_000).fit(X, y, weights)
    # Logits of classes are known up to a constant for all.
    wanted = np.vstack([plain.coef_.T, plain.intercept_])
    difference = (found - found.mean(axis=1, keepdims=n_classes == 3) if n_classes == 3 else found) - wanted
    assert np.abs(difference).max() < 0.02 * np.abs(wanted).max()


def test_squared_error_is_minimised():
    found = fit_weights(COLUMNS, objective_of("squared_error", Z[:, None], WEIGHTS), 0.05)
    plain = Ridge(alpha=0.05 * N).fit(X, Z, WEIGHTS)
    np.testing.assert_allclose(found[:-1, 0], plain.coef_, atol=1e-3)
    np.testing.assert_allclose(found[-1, 0], plain.intercept_, atol=1e-3)


@pytest.mark.parametrize(("loss", "level"), [("absolute_error", 0.5), ("quantile", 0.9)])
def test_quantiles_are_those_of_the_rows(loss, level):
    found = fit_weights(COLUMNS, objective_of(loss, Z[:, None], level=level), 1e-6)
    plain = QuantileRegressor(quantile=level, alpha=0.0).fit(X, Z)
    np.testing.assert_allclose(found[:-1, 0], plain.coef_, atol=0.1)
    assert abs(float((COLUMNS @ found[:, 0] > Z).mean()) - level) < 0.02


def test_columns_that_depend_on_each_other():
    twice = np.hstack([X, X, COLUMNS])
    one, two = (fit_weights(table, objective_of("squared_error", Z[:, None]), 1e-6) for table in (COLUMNS, twice))
    np.testing.assert_allclose(COLUMNS @ one, twice @ two, atol=0.01)


def test_a_penalty_shrinks_weights_but_not_the_intercept():
    one, two = (fit_weights(COLUMNS, objective_of("squared_error", Z[:, None]), penalty) for penalty in (1e-6, 10.0))
    assert np.abs(two[:-1]).sum() < 0.2 * np.abs(one[:-1]).sum()
    assert abs(two[-1, 0] - Z.mean()) < 0.05


def test_weights_fill_int8():
    weights = RNG.normal(size=(50, 4))
    numbers, steps = to_int8(weights)
    assert (np.abs(numbers).max(axis=0) >= 126).all()
    assert np.abs(numbers * decode_bfloat16(steps) - weights).max() <= 0.51 * decode_bfloat16(steps).max()


def test_soft_labels_are_learned_from():
    labels = (Z > 0).astype(float)[:, None]
    data = TrainingData.of(X, labels, 1.0 - labels, "classification")
    accuracies = []
    for mixture in (0.0, 0.9):
        model = fitted(data, {"penalty": 1e-3, "mixture": mixture}, is_distilled=True)
        accuracies.append(float(((model.outputs(X) > 0) == (labels > 0.5)).mean()))
    assert accuracies[0] > 0.75
    assert accuracies[1] < 0.25


def test_rows_of_no_weight_change_nothing():
    labels = (Z > 0).astype(float)[:, None]
    weights = np.where(np.arange(N) < N // 2, 2.0, 0.0)
    flipped = np.where(weights[:, None] > 0, labels, 1.0 - labels)
    one, two = (TrainingData.of(X, y, None, "classification", weights=weights) for y in (labels, flipped))
    stored = [fitted(data, {"penalty": 1e-3, "mixture": 0.0}).stored for data in (one, two)]
    assert all(np.array_equal(stored[0][name], stored[1][name]) for name in ("weights", "offset"))


def test_validation_rows_change_nothing_that_is_fitted():
    data = TrainingData.of(X, (Z > 0).astype(float)[:, None], None, "classification")
    rows = data.validation_rows
    other = replace(data, X=data.X.copy(), labels=data.labels.copy())
    other.X[rows], other.labels[rows] = 9.0 - 3.0 * other.X[rows], 1.0 - other.labels[rows]
    one, two = (fitted(each, {"penalty": 1e-3, "mixture": 0.0}) for each in (data, other))
    assert {name: array.tobytes() for name, array in one.stored.items()} == {
        name: array.tobytes() for name, array in two.stored.items()
    }
    assert one.loss < 0.6 < two.loss  # the loss is that of the validation rows


def test_settings_are_penalties_from_weak_to_strong():
    data = TrainingData.of(X, (Z > 0).astype(float)[:, None], None, "classification")
    penalties = [setting["penalty"] for setting in method_of(data).settings(100)]
    assert len(penalties) == 36
    assert (min(penalties), max(penalties)) == pytest.approx((1e-6, 1.0))
    soft = data.with_soft_labels(data.labels)
    assert {setting["mixture"] for setting in method_of(soft, True).settings(100)} == {0.5, 0.9, 0.0}


def test_no_step_is_made_without_time():
    looks = iter([False, False, True])
    objective = objective_of("squared_error", Z[:, None])
    late = fit_weights(COLUMNS, objective, 1e-9, is_late=lambda: True)
    np.testing.assert_allclose(late[:, 0], [0.0, 0.0, 0.0, 0.0, Z.mean()], atol=1e-6)
    some = fit_weights(COLUMNS, objective, 1e-9, is_late=lambda: next(looks))
    np.testing.assert_allclose(some, fit_weights(COLUMNS, objective, 1e-9), atol=0.05)
