"""The default teacher: sizes from which its options change, labels of new tables, and its time limit."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from repsketch.teacher import default
from repsketch.teacher.default import FIRST_TREES, ToNumbers, train_teacher

X = np.random.default_rng(0).normal(size=(520, 2))
Y = X[:, 0] + X[:, 1] ** 2


@pytest.mark.parametrize(("n_rows", "leaf"), [(19, 1), (40, 2), (399, 19), (400, 20), (520, 20)])
def test_small_tables_have_small_leaves(n_rows, leaf):
    trees = train_teacher(X[:n_rows], Y[:n_rows], "regression", 0, 1e-9)[-1]
    assert trees.min_samples_leaf == leaf


def test_early_stopping_needs_rows():
    found = [train_teacher(X[:n], Y[:n], "regression", 0, 1e-9)[-1].early_stopping for n in (499, 500)]
    assert found == [False, True]
    for n_rare, stops in ((9, False), (10, True)):
        y = np.arange(520) < n_rare
        assert train_teacher(X, y, "classification", 0, 1e-9)[-1].early_stopping == stops


def test_a_label_has_the_index_that_it_had_in_training():
    to_numbers = ToNumbers().fit(pandas.DataFrame({"tree": ["ash", "elm", "oak", None]}))
    found = to_numbers.transform(pandas.DataFrame({"tree": ["oak", "fir", None]}))
    np.testing.assert_array_equal(found[:, 0], [2, -1, np.nan])


@pytest.mark.parametrize(("seconds_a_look", "n_trees"), [(0.0, 100), (4.0, 4 * FIRST_TREES), (100.0, FIRST_TREES)])
def test_trees_are_grown_until_the_time_is_over(seconds_a_look, n_trees, monkeypatch):
    """After 5, 10 and 20 trees 4, 8 and 12 seconds are over: the next ones would take 24 of 20."""
    now = [0.0]

    def monotonic():
        now[0] += seconds_a_look
        return now[0]

    monkeypatch.setattr(default, "time", SimpleNamespace(monotonic=monotonic))
    assert train_teacher(X[:100], Y[:100], "regression", 0, seconds=20.0)[-1].n_iter_ == n_trees


@pytest.mark.parametrize(("time_limit", "seconds"), [(None, None), (50.0, 5.0)])
def test_a_tenth_of_a_time_limit_is_for_the_teacher(time_limit, seconds, monkeypatch):
    seen = []
    monkeypatch.setattr(default, "train_teacher", lambda X, y, *given: seen.append(given[:3]))
    for y, task in ((Y, "regression"), (Y > 0, "classification"), (Y.reshape(-1, 1), "regression")):
        default.default_teacher(X, y, None, seed=3, time_limit=time_limit, progress=False)
        assert seen.pop() == (task, 3, seconds)


def test_regressors_minimise_the_squared_error_or_the_loss_given():
    assert train_teacher(X[:50], Y[:50], "regression", 0)[-1].loss == "squared_error"
    teacher = default.default_teacher(X, Y, None, seed=0, progress=False, loss="quantile", quantile=0.9)
    assert (teacher[-1].loss, teacher[-1].quantile) == ("quantile", 0.9)
    assert (teacher.predict(X) > Y).mean() == pytest.approx(0.9, abs=0.05)


def test_weights_of_rows_reach_the_trees():
    """Two rows at each of a few places, with values 0 and 1: trees predict the weighted mean."""
    places, y = np.repeat(np.arange(40.0), 20)[:, None], np.tile([0.0, 1.0], 400)
    weights = np.where(y == 1.0, 3.0, 1.0)
    teacher = default.default_teacher(places, y, "regression", seed=0, progress=False, sample_weight=weights)
    np.testing.assert_allclose(teacher.predict(places), 0.75, atol=0.1)  # 0.5 without weights


@pytest.mark.parametrize(("seconds", "n_rows", "is_slow"), [(1e9, 5_000, False), (19.0, 500, False), (4.0, 500, True)])
def test_a_time_limit_allows_so_many_rows(seconds, n_rows, is_slow, monkeypatch):
    """A tree of any number of rows takes a second here: four times as many rows must be expected within a fifth."""
    now = itertools.count()
    monkeypatch.setattr(default, "time", SimpleNamespace(monotonic=lambda: float(next(now))))
    X = np.random.default_rng(0).normal(size=(5_000, 2))
    classes = np.where(np.arange(5_000) < 4_988, X[:, 0] > 0, 2)
    for y, kind in ((X[:, 0], HistGradientBoostingRegressor), (classes, HistGradientBoostingClassifier)):
        rows, slow = default._rows_in_time(kind(random_state=0), X, y, seconds)
        assert (len(rows), slow) == (n_rows, is_slow)
        assert (np.diff(rows) > 0).all()
    assert (rows >= 4_988).sum() == (12 if n_rows == 5_000 else 10)  # of a rare class, as many as a split needs


def test_slow_trees_are_grown_one_at_a_time(monkeypatch):
    monkeypatch.setattr(default, "_rows_in_time", lambda *_: (np.arange(100), True))
    teacher = train_teacher(np.repeat(X, 2, axis=0), np.repeat(Y, 2), "regression", 0, 1e-9)
    assert teacher[-1].n_iter_ == 1
