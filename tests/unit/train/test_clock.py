"""Time limits: long fits are cut short or given up, and there is always a sketch."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from repsketch.compress import compress_with_effort
from repsketch.train import clock
from repsketch.train.clock import Clock
from repsketch.train.effort import MAX_RETRAINED_ROWS, NORMAL, SCREENING
from repsketch.train.fitter import RecipeFitter
from repsketch.train.recipes import GreedyRecipe
from repsketch.train.search import search
from repsketch.train.stage_recipes import StageRecipe
from repsketch.train.training_data import TrainingData

X = np.random.default_rng(0).normal(size=(600, 4)).astype(np.float32)
DATA = TrainingData.of(X, np.sin(2.0 * X[:, :1]) + X[:, 1:2], None, "regression")


def late_after(n_questions):
    calls = itertools.count()
    return lambda: next(calls) >= n_questions


def test_stages_are_given_up():
    recipe = StageRecipe(0.0, 1)
    assert RecipeFitter(DATA, 600, 0, SCREENING, late_after(2)).fit(recipe) is None
    assert RecipeFitter(DATA, 600, 0, SCREENING).fit(recipe) is not None


@pytest.mark.parametrize(("min_rows", "n_rows"), [(0, 3), (9, 9)])
def test_greedy_rows_are_cut_short(min_rows, n_rows):
    recipe = GreedyRecipe("thresholds", 0.0, counter_type="int8")
    cut = RecipeFitter(DATA, 600, 0, SCREENING, late_after(2) if not min_rows else late_after(0), min_rows).fit(recipe)
    assert cut.n_rows == n_rows
    assert RecipeFitter(DATA, 600, 0, SCREENING).fit(recipe).n_rows > 9


def test_a_search_that_is_late_from_the_start_finds_something(monkeypatch):
    seconds = itertools.count(0.0, 100.0)
    monkeypatch.setattr(clock.time, "monotonic", lambda: next(seconds))
    found = search(DATA, 600, time_limit=1.0, progress=False)
    assert len(found) == 1


def test_a_clock():
    assert Clock(None).seconds_left == float("inf")
    assert not Clock(None).is_past(0.0)()
    assert Clock(1e-9).is_past(1.0)()
    assert Clock(1e-9).seconds_left < 0


def test_no_more_rows_than_a_time_limit_allows(monkeypatch):
    sizes, fit = [], RecipeFitter.fit

    def counted(fitter, recipe):
        sizes.append(len(fitter.data.train_rows))
        return fit(fitter, recipe)

    monkeypatch.setattr(RecipeFitter, "fit", counted)
    big = np.random.default_rng(0).normal(size=(MAX_RETRAINED_ROWS + 1_000, 3))
    options = {"budget": "200B", "time_limit": 1.0, "random_state": 0, "progress": False}
    compress_with_effort(None, big, big[:, 0] > 0, **options, effort=replace(NORMAL, rows_per_second=4_500))
    assert SCREENING.n_rows < 9_000 < MAX_RETRAINED_ROWS
    assert max(sizes) <= SCREENING.n_rows  # of more, 4,500 for each of less than a second
