"""Losses against scikit-learn's, slopes against finite differences, curvatures against second ones."""

import numpy as np
import pytest
from sklearn.metrics import log_loss, mean_absolute_error, mean_pinball_loss, mean_squared_error

from repsketch.train.objective import Absolute, Logistic, Objective, Quantile, Softmax, Squared, center_of, objective_of

RNG = np.random.default_rng(0)


def probabilities(n: int, n_classes: int) -> np.ndarray:
    drawn = RNG.random((n, n_classes)) + 0.1
    return drawn / drawn.sum(axis=1, keepdims=True)


OBJECTIVES = {
    "logistic": Logistic(probabilities(20, 2)[:, :1]),
    "softmax": Softmax(probabilities(20, 4)),
    "absolute": Absolute(RNG.normal(size=(20, 2)), delta=0.5),
    "squared": Squared(RNG.normal(size=(20, 2))),
    "quantile": Quantile(RNG.normal(size=(20, 2)), level=0.8, delta=0.5),
    "weighted": Softmax(probabilities(20, 4), RNG.random(20)),
}


def row_losses(objective: Objective, outputs: np.ndarray) -> np.ndarray:
    """The differentiable loss of every row."""
    if isinstance(objective, Absolute):
        gaps = outputs - objective.targets
        return (np.sqrt(gaps**2 + objective.delta**2) - objective.delta).sum(axis=1)
    if isinstance(objective, Quantile):
        gaps = outputs - objective.targets
        rounded = 0.5 * (np.sqrt(gaps**2 + objective.delta**2) - objective.delta)
        return (rounded - (objective.level - 0.5) * gaps).sum(axis=1)
    if isinstance(objective, Squared):
        return 0.5 * np.square(outputs - objective.targets).sum(axis=1)
    rows = [np.array([row]) for row in range(len(outputs))]
    return np.array([objective.take(row).loss(outputs[row]) for row in rows])


def test_losses_are_those_of_scikit_learn():
    labels, odds, logits = RNG.integers(0, 3, 50), 3.0 * RNG.normal(size=(50, 1)), 3.0 * RNG.normal(size=(50, 3))
    values = RNG.normal(size=(50, 2))
    powers = np.exp(logits)
    expected = log_loss(labels == 1, 1.0 / (1.0 + np.exp(-odds[:, 0])))
    assert Logistic((labels == 1)[:, None].astype(float)).loss(odds) == pytest.approx(expected)
    expected = log_loss(labels, powers / powers.sum(axis=1, keepdims=True))
    assert Softmax(np.eye(3)[labels]).loss(logits) == pytest.approx(expected)
    assert Absolute(values).loss(logits[:, :2]) == pytest.approx(mean_absolute_error(values, logits[:, :2]))
    assert Squared(values).loss(logits[:, :2]) == pytest.approx(mean_squared_error(values, logits[:, :2]))
    for level in (0.1, 0.5, 0.9):
        expected = mean_pinball_loss(values, logits[:, :2], alpha=level)
        assert Quantile(values, level=level).loss(logits[:, :2]) == pytest.approx(expected)


@pytest.mark.parametrize("loss", ["log_loss", "squared_error", "absolute_error", "quantile"])
def test_a_weight_of_two_is_the_same_row_twice(loss):
    targets = RNG.random((30, 1))
    counts = RNG.integers(0, 4, 30)
    outputs = RNG.normal(size=(30, 1))
    weighted = objective_of(loss, targets, counts.astype(float), level=0.7)
    repeated = objective_of(loss, targets.repeat(counts, axis=0), level=0.7)
    again = outputs.repeat(counts, axis=0)
    assert weighted.losses(outputs).sum() == pytest.approx(repeated.losses(again).sum())
    for one, other in zip(weighted.slopes(outputs), repeated.slopes(again), strict=True):
        np.testing.assert_allclose(one.sum(axis=0), other.sum(axis=0))
    np.testing.assert_allclose(weighted.start(30), repeated.start(30), atol=0.05)


def test_the_center_of_values_has_the_least_loss():
    values = RNG.exponential(size=(400, 1))
    for loss in ("squared_error", "absolute_error", "quantile"):
        center = center_of(values, loss, 0.8)
        objective = objective_of(loss, values, level=0.8)
        losses = [objective.loss(np.repeat((center + step)[None], 400, axis=0)) for step in (-0.05, 0.0, 0.05)]
        assert losses[1] < min(losses[0], losses[2])


def test_the_loss_of_soft_labels_by_hand():
    """Three quarters of the loss of one class and a quarter of the other's, of the probabilities 1/3 and 2/3."""
    soft = 0.75 * np.log(3.0) + 0.25 * np.log(1.5)
    assert Logistic(np.array([[0.75]])).loss(np.log([[0.5]])) == pytest.approx(soft)
    assert Softmax(np.array([[0.75, 0.25]])).loss(np.log([[2.0, 4.0]])) == pytest.approx(soft)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_slopes_are_differences(name):
    objective = OBJECTIVES[name]
    outputs = RNG.normal(size=objective.targets.shape)
    slope, _ = objective.slopes(outputs)
    for column in range(outputs.shape[1]):
        step = np.zeros_like(outputs)
        step[:, column] = 1e-5
        high, low = row_losses(objective, outputs + step), row_losses(objective, outputs - step)
        np.testing.assert_allclose(slope[:, column], (high - low) / 2e-5, atol=1e-6)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_newton_step_of_the_curvature_does_not_overshoot(name):
    """The curvature bounds the loss from above where it is a majoriser, so that a full step never loses."""
    objective = OBJECTIVES[name]
    outputs = 0.5 * RNG.normal(size=objective.targets.shape)
    slope, curvature = objective.slopes(outputs)
    before, after = row_losses(objective, outputs), row_losses(objective, outputs - slope / curvature)
    assert (after <= before + 1e-12).mean() == 1.0
    assert (after < before).any()


def test_the_start_is_the_best_constant():
    np.testing.assert_allclose(
        1 / (1 + np.exp(-OBJECTIVES["logistic"].start())), OBJECTIVES["logistic"].targets.mean(axis=0), atol=1e-6
    )
    powers = np.exp(OBJECTIVES["softmax"].start(60))
    np.testing.assert_allclose(powers / powers.sum(), OBJECTIVES["softmax"].targets.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(OBJECTIVES["absolute"].start(), np.median(OBJECTIVES["absolute"].targets, axis=0))
