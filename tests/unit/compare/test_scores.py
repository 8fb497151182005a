"""Scores of rows are in the units of the values, and their mean is the score of scikit-learn."""

from functools import partial

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, mean_absolute_error, mean_pinball_loss, r2_score, roc_auc_score

from repsketch.compare.scores import as_outputs, metric_of, row_scores, score_of, scores_by, sign_of
from repsketch.train.goal import Goal
from repsketch.train.metric import Metric
from repsketch.train.training_data import TrainingData


def test_errors_are_those_of_the_values():
    y = 1_000.0 + 50.0 * np.random.default_rng(0).normal(size=(100, 1))
    data = TrainingData.of(np.zeros((100, 1), np.float32), y, None, "regression", loss="absolute_error")
    truth = y[data.validation_rows]
    np.testing.assert_allclose(row_scores(data, truth + 3.0), 3.0)
    np.testing.assert_allclose(row_scores(data, truth - 0.5), 0.5)


def test_classes_are_right_or_wrong():
    labels = np.eye(3)[np.arange(100) % 3]
    for given, wrong in ((labels, np.roll(labels, 1, axis=1)), (labels[:, 1:2], 1.0 - labels[:, 1:2])):
        data = TrainingData.of(np.zeros((100, 1), np.float32), given, None, "classification")
        for outputs, score in ((given, 1.0), (wrong, 0.0)):
            assert (row_scores(data, outputs[data.validation_rows] - 0.5) == score).all()


def test_scores_of_values_by_their_loss():
    rng = np.random.default_rng(1)
    y = 1_000.0 + 50.0 * rng.normal(size=(200, 1))
    for loss, name, sign in (("squared_error", "R2", 1.0), ("quantile", "pinball loss", -1.0)):
        data = TrainingData.of(np.zeros((200, 1), np.float32), y, None, "regression", loss=loss, level=0.8)
        truth = y[data.validation_rows]
        outputs = truth + 20.0 * rng.normal(size=truth.shape)
        expected = r2_score(truth, outputs) if name == "R2" else mean_pinball_loss(truth, outputs, alpha=0.8)
        assert (metric_of(data), sign_of(name)) == (name, sign)
        assert row_scores(data, outputs).mean() == pytest.approx(expected)


def test_weights_of_rows_count():
    rng = np.random.default_rng(3)
    truth, weights = rng.normal(size=(50, 1)), rng.random(50)
    outputs = truth + rng.normal(size=truth.shape) * weights[:, None]
    for name, scorer, level in (
        ("R2", r2_score, 0.5),
        ("MAE", mean_absolute_error, 0.5),
        ("pinball loss", partial(mean_pinball_loss, alpha=0.8), 0.8),
    ):
        expected = scorer(truth, outputs, sample_weight=weights)
        assert scores_by(name, truth, outputs, level, weights).mean() == pytest.approx(expected)
        assert scores_by(name, truth, outputs, level, np.zeros(50)).mean() == pytest.approx(
            scores_by(name, truth, outputs, level).mean()
        )
    classes = (truth[:, 0] > 0).astype(int)
    expected = accuracy_score(classes, outputs[:, 0] > 0, sample_weight=weights)
    assert scores_by("accuracy", classes, outputs, weights=weights).mean() == pytest.approx(expected)


@pytest.mark.parametrize("metric", [None, "accuracy"])
def test_weights_of_rows_count_and_those_of_classes_do_not(metric):
    rng = np.random.default_rng(4)
    labels, outputs, weights = rng.random((200, 1)).round(), rng.normal(size=(200, 1)), rng.random(200)
    classes = np.array(["no", "yes"])
    options = Goal(metric=metric, sample_weight=weights, class_weight={"yes": 9.0}).options(
        "classification", labels, classes
    )
    data = TrainingData.of(np.zeros((200, 1), np.float32), labels, None, "classification", classes=classes, **options)
    rows = data.validation_rows
    expected = accuracy_score(labels[rows, 0], outputs[rows, 0] > 0, sample_weight=weights[rows])
    assert score_of(data, outputs[rows]) == pytest.approx(expected)
    assert row_scores(data, outputs[rows]).mean() == pytest.approx(expected, abs=0.01)
    few = data.subset(20, 0)
    assert score_of(few, outputs[rows]) == pytest.approx(expected)


def test_values_that_never_change_are_scored_as_in_scikit_learn():
    truth = np.array([[3.0, 1.0], [3.0, 2.0], [3.0, 6.0]])
    for outputs in (truth, truth + np.array([0.0, 1.0]), truth + np.array([0.5, 0.0]), truth - 1.0):
        assert scores_by("R2", truth, outputs).mean() == pytest.approx(r2_score(truth, outputs))


def test_labels_become_outputs():
    """Probabilities of 0 and 1 stay finite; a score of them is that of the labels."""
    shares = np.array([[0.0], [0.25], [1.0]])
    data = TrainingData.of(np.zeros((3, 1), np.float32), shares, None, "classification")
    log_odds = as_outputs(data, shares)
    assert np.isfinite(log_odds).all()
    np.testing.assert_allclose(1.0 / (1.0 + np.exp(-log_odds)), shares, atol=1e-11)
    classes = np.array([[0.0, 0.4, 0.6], [1.0, 0.0, 0.0]])
    data = TrainingData.of(np.zeros((2, 1), np.float32), classes, None, "classification")
    np.testing.assert_allclose(np.exp(as_outputs(data, classes)), classes, atol=1e-11)
    y = 1_000.0 + 50.0 * np.arange(30.0)[:, None]
    data = TrainingData.of(np.zeros((30, 1), np.float32), y, None, "regression")
    np.testing.assert_allclose(as_outputs(data, data.labels), y)


def test_the_metric_of_the_user_is_the_score():
    rng = np.random.default_rng(2)
    y = (rng.random((300, 1)) < 0.3).astype(float)
    metric = Metric("roc_auc", "classification")
    data = TrainingData.of(np.zeros((300, 1), np.float32), y, None, "classification", metric=metric)
    rows = data.validation_rows
    outputs = y + rng.normal(size=y.shape)
    scores = row_scores(data, outputs[rows])
    expected = roc_auc_score(y[rows, 0], outputs[rows, 0])
    assert metric_of(data) == "roc_auc"
    assert score_of(data, outputs[rows]) == pytest.approx(expected)
    assert scores.mean() == pytest.approx(expected, abs=0.01)
