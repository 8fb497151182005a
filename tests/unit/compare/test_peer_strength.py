"""Peers are as strong as they can be: every setting matters, the best parameters are taken, soft labels are used."""

import re

import numpy as np
import pytest

from repsketch.compare.boosted import Boosted
from repsketch.compare.histogram import HistogramBoosted
from repsketch.compare.linear import Linear
from repsketch.compare.network import Network
from repsketch.compare.tuning import N_FINAL, N_SCREENED, tune_each
from repsketch.train.training_data import TrainingData

lightgbm = pytest.importorskip("lightgbm")


def curved(n: int = 1_500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).normal(size=(n, 3)).astype(np.float32)
    return X, (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0).astype(float)[:, None]


def method_of(kind, data: TrainingData, is_distilled: bool = False):
    return kind(data, seed=0, is_distilled=is_distilled, largest=4_096, is_screening=True)


def test_settings_are_those_that_were_promised():
    data = TrainingData.of(*curved(), None, "classification")
    assert (N_SCREENED, N_FINAL) == (36, 3)
    soft = data.with_soft_labels(data.labels)
    for kind in (Boosted, Network, Linear):
        settings = list(method_of(kind, data).settings(1_024))
        assert len(settings) == N_SCREENED
        assert all(len({setting[name] for setting in settings}) > 1 for name in settings[0] if name != "mixture")
        assert {setting["mixture"] for setting in method_of(kind, soft, True).settings(1_024)} == {0.5, 0.9, 0.0}


def test_a_penalty_shrinks_leaves():
    data = TrainingData.of(*curved(), None, "classification")
    setting = {"n_leaves": 8, "rate": 0.3, "mixture": 0.0}
    sizes = [
        np.abs(np.concatenate(method_of(Boosted, data)._grow(setting | {"penalty": penalty}, 200).leaves)).mean()
        for penalty in (0.0, 30.0)
    ]
    assert sizes[1] < 0.9 * sizes[0]


def test_trees_learn_from_soft_labels():
    """Labels of training rows are mostly noise; the teacher knows better."""
    X, truth = curved()
    data = TrainingData.of(X, truth, 0.98 * truth + 0.01, "classification")
    rows = data.train_rows[np.random.default_rng(2).random(len(data.train_rows)) < 0.4]
    data.labels[rows] = 1.0 - data.labels[rows]
    X_test, y_test = curved(seed=1)
    method, accuracies = method_of(Boosted, data, True), []
    for mixture in (0.0, 0.9):
        ((_, model),) = method.fit_all([{"n_leaves": 8, "rate": 0.3, "penalty": 0.0, "mixture": mixture}], 1_024)
        accuracies.append(float(((model.outputs(X_test) > 0) == (y_test > 0.5)).mean()))
    assert accuracies[1] > accuracies[0] + 0.03


def test_categories_are_split_as_sets():
    X = np.random.default_rng(0).integers(0, 40, (1_500, 1)).astype(np.float32)
    y = X % 2.0  # one split into two sets of labels, or 39 of numbers
    accuracies = []
    for n_categories in ({0: 40}, None):
        data = TrainingData.of(X, y.astype(np.float64), None, "classification", n_categories=n_categories)
        model = tune_each(Boosted, data, [64], is_quick=True)[64]
        accuracies.append(float(((model.outputs(X) > 0) == (y > 0.5)).mean()))
    assert accuracies[0] == 1.0
    assert accuracies[1] < 0.8


@pytest.mark.slow
def test_with_generous_bytes_trees_are_as_good_as_plain_lightgbm():
    X, y = curved(2_000)
    X_test, y_test = curved(2_000, seed=1)
    data = TrainingData.of(X, y, None, "classification")
    ours = tune_each(Boosted, data, [65_536], is_quick=True)[65_536]
    plain = lightgbm.LGBMClassifier(n_estimators=100, verbose=-1, n_jobs=1).fit(X, y[:, 0])
    accuracy = float(((ours.outputs(X_test) > 0) == (y_test > 0.5)).mean())
    assert accuracy > float((plain.predict(X_test) == y_test[:, 0]).mean()) - 0.01


def test_a_linear_model_is_as_good_as_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 4)).astype(np.float32) * np.float32([1, 100, 0.01, 1])
    y = (X @ [1.0, 0.02, 90.0, 0.0] + 0.3 * rng.normal(size=1_000) > 0).astype(float)
    data = TrainingData.of(X, y[:, None], None, "classification")
    model = tune_each(Linear, data, [200], is_quick=True)[200]
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    plain = LogisticRegression().fit(scaled, y).score(scaled, y)
    assert float(((model.outputs(X)[:, 0] > 0) == (y > 0.5)).mean()) > plain - 0.02


@pytest.mark.parametrize(
    ("nbytes", "leaves", "rates"),
    [
        (1_024, {2, 4, 8, 16}, {0.3, 0.6, 1.0}),
        (1_025, {4, 8, 16, 31}, {0.1, 0.3, 0.6}),
        (4_096, {4, 8, 16, 31}, {0.1, 0.3, 0.6}),
        (4_097, {4, 8, 16, 31}, {0.05, 0.1, 0.3}),
        (65_536, {4, 8, 16, 31}, {0.05, 0.1, 0.3}),
    ],
)
def test_trees_grow_with_the_bytes(nbytes, leaves, rates):
    data = TrainingData.of(*curved(100), None, "classification")
    settings = list(method_of(Boosted, data).settings(nbytes))
    assert {setting["n_leaves"] for setting in settings} == leaves
    assert {setting["rate"] for setting in settings} == rates


@pytest.mark.parametrize(("n_rows", "fewest"), [(200, 3), (1_500, 12), (3_000, 20)])
def test_small_tables_have_small_leaves(n_rows, fewest):
    """A hundredth of the training rows, but at least 3 and at most 20."""
    data = TrainingData.of(*curved(n_rows), None, "classification")
    setting = {"n_leaves": 31, "rate": 0.3, "penalty": 0.0, "mixture": 0.0}
    booster = method_of(Boosted, data)._grow(setting, 200).booster
    assert booster.params["min_data_in_leaf"] == fewest
    first = booster.dump_model(num_iteration=1)["tree_info"][0]  # of later trees LightGBM estimates the counts
    counts = [int(count) for count in re.findall(r"'leaf_count': (\d+)", str(first))]
    assert fewest <= min(counts) < len(data.X) // 31


def test_scikit_learns_trees_split_categories_as_sets():
    X = np.random.default_rng(0).permutation(np.repeat(np.arange(40), 15))[:, None].astype(np.float32)
    y = X % 2.0
    data = TrainingData.of(X, y.astype(np.float64), None, "classification", n_categories={0: 40})
    setting = {"n_leaves": 2, "rate": 1.0, "penalty": 0.0, "mixture": 0.0}
    ((_, model),) = method_of(HistogramBoosted, data).fit_all([setting], 64)
    assert float(((model.outputs(X) > 0) == (y > 0.5)).mean()) == 1.0


def test_trees_stop_growing_when_the_time_is_over():
    data = TrainingData.of(*curved(), None, "classification")
    setting = {"n_leaves": 4, "rate": 0.1, "penalty": 0.0, "mixture": 0.0}
    method, looks = method_of(Boosted, data), iter([False] * 6 + [True] * 9)
    method.is_late = lambda: next(looks)
    assert len(method._grow(setting, 10_000).leaves) == 7
