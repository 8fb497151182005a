"""Scorers of scikit-learn on known outputs: their scores, their noise, and what they refuse."""

import numpy as np
import pytest
from sklearn import metrics

from repsketch.errors import InputError
from repsketch.train.metric import Metric, stratified_groups

RNG = np.random.default_rng(0)
N = 400
BINARY = (RNG.random((N, 1)) < 0.25).astype(float)
ODDS = BINARY * 2.0 - 1.0 + RNG.normal(size=(N, 1))
CLASSES = np.eye(3)[RNG.integers(0, 3, N)]
LOGITS = 2.0 * CLASSES + RNG.normal(size=(N, 3))
VALUES = 5.0 + RNG.normal(size=(N, 1))
OUTPUTS = VALUES + 0.5 * RNG.normal(size=(N, 1))


def test_scores_are_those_of_scikit_learn():
    truth, odds = BINARY[:, 0], ODDS[:, 0]
    probability = 1.0 / (1.0 + np.exp(-odds))
    expected = {
        "accuracy": metrics.accuracy_score(truth, odds > 0),
        "roc_auc": metrics.roc_auc_score(truth, odds),
        "average_precision": metrics.average_precision_score(truth, odds),
        "f1": metrics.f1_score(truth, odds > 0),
        "neg_log_loss": -metrics.log_loss(truth, probability),
        "neg_brier_score": -metrics.brier_score_loss(truth, probability),
    }
    for name, score in expected.items():
        assert Metric(name, "classification").score(BINARY, ODDS) == pytest.approx(score), name
    classes = CLASSES.argmax(axis=1)
    f1 = metrics.f1_score(classes, LOGITS.argmax(axis=1), average="macro")
    assert Metric("f1_macro", "classification").score(CLASSES, LOGITS) == pytest.approx(f1)
    assert Metric("r2", "regression").score(VALUES, OUTPUTS) == pytest.approx(metrics.r2_score(VALUES, OUTPUTS))
    error = -metrics.median_absolute_error(VALUES, OUTPUTS)
    assert Metric("neg_median_absolute_error", "regression").score(VALUES, OUTPUTS) == pytest.approx(error)


def test_weights_count():
    weights = RNG.random(N)
    expected = metrics.roc_auc_score(BINARY[:, 0], ODDS[:, 0], sample_weight=weights)
    assert Metric("roc_auc", "classification").score(BINARY, ODDS, weights) == pytest.approx(expected)
    losses = Metric("roc_auc", "classification").losses(BINARY, ODDS, weights)
    assert -losses.mean() == pytest.approx(expected, abs=0.01)


def test_pseudo_values_of_a_mean_are_the_means_of_groups():
    """For a score that is a mean over rows the jackknife is exact."""
    groups = stratified_groups(BINARY, 16)
    right = (ODDS[:, 0] > 0) == (BINARY[:, 0] > 0.5)
    expected = [-right[groups == group].mean() for group in range(16)]
    np.testing.assert_allclose(Metric("accuracy", "classification").losses(BINARY, ODDS), expected)


def test_the_noise_of_a_score_is_that_of_repeated_draws():
    """The standard error of a ROC AUC by the jackknife against 200 draws of the data, which vary by 5 % of it."""
    metric, errors, scores = Metric("roc_auc", "classification"), [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        labels = (rng.random((N, 1)) < 0.25).astype(float)
        outputs = labels + rng.normal(size=(N, 1))
        scores.append(metric.score(labels, outputs))
        if seed < 40:
            errors.append(metric.losses(labels, outputs).std(ddof=1) / 4.0)
    assert np.mean(errors) == pytest.approx(np.std(scores), rel=0.35)


def test_every_group_has_rows_of_a_rare_class():
    labels = np.zeros((320, 1))
    labels[:32] = 1.0
    groups = stratified_groups(labels, 16)
    assert [int(labels[groups == group].sum()) for group in range(16)] == [2] * 16


def test_outputs_that_cannot_be_scored_are_the_worst():
    metric = Metric("roc_auc", "classification")
    assert metric.score(np.zeros((5, 1)), np.ones((5, 1))) < -1e8  # one class alone has no ROC curve
    assert metric.score(BINARY, np.full((N, 1), np.nan)) < -1e8


@pytest.mark.parametrize(
    ("name", "task", "said"),
    [
        ("roc_auk", "classification", "did you mean 'roc_auc'"),
        (None, "classification", "is no scorer"),
        ("accuracy", "regression", "scores classifications; this is a regression"),
        ("r2", "classification", "scores regressions; this is a classification"),
    ],
)
def test_wrong_names(name, task, said):
    with pytest.raises(InputError, match=said):
        Metric(name, task)


@pytest.mark.parametrize("name", ["f1", "average_precision", "roc_auc", "precision"])
def test_metrics_of_two_classes_refuse_three(name):
    if name == "average_precision":  # scikit-learn extends this one to several classes
        Metric(name, "classification").check(CLASSES)
        return
    instead = "'roc_auc_ovo' or" if name == "roc_auc" else f"'{name}_macro' or"
    with pytest.raises(InputError, match=f"metric='{name}' cannot score this classification.*scored by {instead}"):
        Metric(name, "classification").check(CLASSES)
    Metric(name, "classification").check(BINARY)


def test_a_metric_that_nothing_can_replace_says_why_alone():
    with pytest.raises(InputError, match=r"^metric='neg_mean_squared_log_error' cannot.*contain[^.]*\.$"):
        Metric("neg_mean_squared_log_error", "regression").check(VALUES - 100.0)
