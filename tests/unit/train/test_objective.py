"""Losses against scikit-learn's, slopes against finite differences, curvatures against second ones."""

import numpy as np
import pytest
from sklearn.metrics import log_loss, mean_absolute_error

from repsketch.train.objective import Absolute, Logistic, Objective, Softmax

RNG = np.random.default_rng(0)


def probabilities(n: int, n_classes: int) -> np.ndarray:
    drawn = RNG.random((n, n_classes)) + 0.1
    return drawn / drawn.sum(axis=1, keepdims=True)


OBJECTIVES = {
    "logistic": Logistic(probabilities(20, 2)[:, :1]),
    "softmax": Softmax(probabilities(20, 4)),
    "absolute": Absolute(RNG.normal(size=(20, 2)), delta=0.5),
}


def row_losses(objective: Objective, outputs: np.ndarray) -> np.ndarray:
    """The differentiable loss of every row."""
    if isinstance(objective, Absolute):
        gaps = outputs - objective.targets
        return (np.sqrt(gaps**2 + objective.delta**2) - objective.delta).sum(axis=1)
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
