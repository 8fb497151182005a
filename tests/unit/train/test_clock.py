"""Time limits: long fits are cut short or given up, and there is always a sketch."""

import itertools

import numpy as np
import pytest

import repsketch as rs
from repsketch.train import clock
from repsketch.train import search as searching
from repsketch.train.clock import Clock
from repsketch.train.recipes import Recipe
from repsketch.train.search import GLANCE, Bench, search
from repsketch.train.training_data import TrainingData

X = np.random.default_rng(0).normal(size=(600, 4)).astype(np.float32)
PROBLEM = TrainingData.of(X, np.sin(2.0 * X[:, :1]) + X[:, 1:2], None, "regression")


def late_after(n_questions):
    asked = itertools.count()
    return lambda: next(asked) >= n_questions


def test_interpolated_rows_are_given_up():
    recipe = Recipe("interpolated", 0.0, n_components=4)
    assert Bench(PROBLEM, 600, 0, GLANCE, late_after(20)).fit(recipe) is None
    assert Bench(PROBLEM, 600, 0, GLANCE).fit(recipe) is not None


@pytest.mark.parametrize(("fewest", "n_rows"), [(0, 3), (9, 9)])
def test_greedy_rows_are_cut_short(fewest, n_rows):
    recipe = Recipe("thresholds", 0.0, counter_type="int8")
    cut = Bench(PROBLEM, 600, 0, GLANCE, late_after(2) if not fewest else late_after(0), fewest).fit(recipe)
    assert cut.n_rows == n_rows
    assert Bench(PROBLEM, 600, 0, GLANCE).fit(recipe).n_rows > 9


def test_a_search_that_is_late_from_the_start_finds_something(monkeypatch):
    seconds = itertools.count(0.0, 100.0)
    monkeypatch.setattr(clock.time, "monotonic", lambda: next(seconds))
    found = search(PROBLEM, 600, time_limit=1.0, progress=False)
    assert len(found) == 1


def test_a_clock():
    assert Clock(None).seconds_left == float("inf")
    assert not Clock(None).is_past(0.0)()
    assert Clock(1e-9).is_past(1.0)()
    assert Clock(1e-9).seconds_left < 0


def test_no_more_rows_than_a_time_limit_allows(monkeypatch):
    sizes, fit = [], Bench.fit

    def counted(bench, recipe):
        sizes.append(len(bench.data.train_rows))
        return fit(bench, recipe)

    monkeypatch.setattr(searching, "ROWS_A_SECOND", 500)
    monkeypatch.setattr(Bench, "fit", counted)
    big = np.random.default_rng(0).normal(size=(searching.SMALL_ROWS + 1_000, 3))
    rs.compress(None, big, big[:, 0] > 0, budget="200B", time_limit=9.0, random_state=0, progress=False)
    assert max(sizes) <= GLANCE.n_rows
