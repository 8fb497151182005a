"""Limits of a search: shares of a time limit, sizes from which it changes its ways."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from repsketch.progress import ProgressBar
from repsketch.train import clock, fitter, greedy, search
from repsketch.train.candidates import Thresholds
from repsketch.train.choice import DEEP_CONCAT, best_of_race
from repsketch.train.effort import NORMAL, SCREENING
from repsketch.train.families import threshold_family
from repsketch.train.fitter import RecipeFitter
from repsketch.train.objective import Absolute
from repsketch.train.recipes import GreedyRecipe
from repsketch.train.stage_trials import StageRows
from repsketch.train.training_data import TrainingData
from repsketch.train.trials import GreedyTrials

X = np.random.default_rng(0).normal(size=(300, 3)).astype(np.float32)
DATA = TrainingData.of(X, X[:, :1] + 0.1 * X[:, 1:2], None, "regression")
MANY_ROWS = TrainingData.of(
    np.arange(25_000, dtype=np.float32)[:, None], np.arange(25_000.0)[:, None], None, "regression"
)
RECIPE = GreedyRecipe("thresholds", 0.0, n_concat=2, counter_type="int8")
LIMIT = 100.0


@pytest.fixture
def now(monkeypatch):
    """The time in seconds, in a list: it stands still until a test changes it."""
    now = [0.0]
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


@pytest.fixture
def made(monkeypatch):
    """Every fitter that a search makes."""
    made = []

    class Listed(RecipeFitter):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            made.append(self)

    monkeypatch.setattr(search, "RecipeFitter", Listed)
    return made


def new_search(data=DATA, budget=300, time_limit=LIMIT, **effort):
    return search._Search(
        data, budget, 0, time_limit, lambda recipe: recipe, replace(NORMAL, **({"full_rows": 1} | effort))
    )


def fitted():
    return RECIPE, RecipeFitter(DATA, 300, 0, SCREENING).fit(RECIPE)


def late_from(is_late, now) -> float:
    """The share of the time after which a function says that it is late."""
    shares = np.arange(0, 1.21, 0.05)
    found = []
    for share in shares:
        now[0] = float(share * LIMIT + 0.01)
        found.append(is_late())
    assert found == sorted(found)
    return round(float(shares[found.index(True)]), 2) if any(found) else float("inf")


def test_fits_are_late_after_their_share_of_the_time(now, made):
    one = new_search()
    chosen = fitted()
    one.bar = ProgressBar()
    one._tasks_of_rung([], one.effort.rungs[1], 0.7)
    one._search_locally([chosen[0]])
    one._fit_finally([chosen], [])
    one.retrained(*chosen)
    assert [late_from(fitter.is_late, now) for fitter in made] == [
        0.3,
        0.3,
        0.7,
        0.6,
        1.0,
        1.1,
    ]  # the first two: shapes of stages, greedy rows


@pytest.mark.parametrize(("start", "end", "is_retrained"), [(89, 109, True), (91, 91, False), (89, 111, False)])
def test_the_last_training_has_the_rest_of_the_time(now, monkeypatch, start, end, is_retrained):
    class Slow(RecipeFitter):
        def fit(self, recipe):
            trial = super().fit(recipe)
            now[0] = float(end)
            return trial

    one, chosen = new_search(), fitted()
    now[0] = float(start)
    monkeypatch.setattr(search, "RecipeFitter", Slow)
    assert (one.retrained(*chosen).retrained is not None) == is_retrained


@pytest.mark.parametrize(("max_retrained_rows", "is_retrained"), [(300, True), (299, False)])
def test_large_tables_are_not_trained_again(max_retrained_rows, is_retrained):
    found = new_search(time_limit=None, max_retrained_rows=max_retrained_rows).retrained(*fitted())
    assert (found.retrained is not None) == is_retrained


@pytest.mark.parametrize(("budget", "shares"), [(2_048, (1.0,)), (2_049, (1.0, 0.5, 0.25))])
def test_above_2_kilobytes_fewer_rows_are_tried(made, budget, shares):
    one, chosen = new_search(budget=budget, time_limit=None), fitted()
    short = replace(one.effort.final, max_rows=8, refits=one.effort.final.refits[:1])
    one.effort = replace(one.effort, final=short)
    one.bar = ProgressBar()
    one._fit_finally([chosen], [])
    assert made[-1].effort.shares == shares


def test_above_2_kilobytes_deeper_rows_are_tried():
    raced = [fitted()]
    assert best_of_race(raced, DATA, 2_048) == [RECIPE]
    assert best_of_race(raced, DATA, 2_049) == [RECIPE, replace(RECIPE, n_concat=DEEP_CONCAT)]


@pytest.mark.parametrize(
    ("data", "budget", "is_large"),
    [(DATA, len(DATA.train_rows) // 4, False), (DATA, len(DATA.train_rows) // 4 + 1, True),
     (MANY_ROWS, 4_096, False), (MANY_ROWS, 4_097, True)],
)  # fmt: skip
def test_with_few_rows_a_byte_recipes_may_use_less(monkeypatch, data, budget, is_large):
    """More than one byte for four training rows, or so much that a search at fewer bytes comes first."""
    asked = []

    def listen(data, seed, *, is_large, best):
        asked.append(is_large)
        return iter([])

    monkeypatch.setattr(search, "first_stage_recipes", listen)
    one = new_search(data, budget=budget, time_limit=None)
    monkeypatch.setattr(one, "_screen", lambda *_: ([], []))
    assert one.run(ProgressBar()) is None
    assert asked == [is_large]


def test_rows_times_values_are_limited(monkeypatch):
    monkeypatch.setattr(fitter, "MAX_ENTRIES", 3 * 100)
    few = RecipeFitter(DATA, 300, 0, SCREENING)
    assert len(few.data.train_rows) == len(few.stage_rows.data.train_rows) == 100
    assert len(few.data.validation_rows) == len(DATA.validation_rows)


@pytest.mark.parametrize(("n_searched", "strength"), [(300, 2.0), (299, 2.0 * 299 / 300), (75, 0.5)])
def test_codes_compared_on_some_rows_are_regularised_in_proportion(monkeypatch, n_searched, strength):
    seen, choose = [], greedy.choose_codes

    def listen(candidates, numbers, n_concat, strength, *others):
        seen.append((len(numbers), strength))
        return choose(candidates, numbers, n_concat, strength, *others)

    monkeypatch.setattr(greedy, "choose_codes", listen)
    codes = Thresholds.between(np.round(10 * X.T).astype(np.int64))
    greedy.grow_rows(codes, Absolute(X[:, :1].astype(float)), 2, 2, strength=2.0, n_searched=n_searched)
    assert seen == [(n_searched, pytest.approx(strength))] * 2


def test_growing_stops_without_a_gain_in_validation_loss():
    """Labels that follow from nothing: the first rows already fit noise alone."""
    noise = np.random.default_rng(1).random((300, 1)).round()
    data = TrainingData.of(X, noise, None, "classification")
    family = threshold_family(data, data.ranged)
    n_rows = [
        len(GreedyTrials(data, family, 2, 0.3, 0.0, "int8", 1 << 20, max_rows=80, patience=patience).grown.codes)
        for patience in (16, 24, 1_000)
    ]
    assert n_rows[0] < n_rows[1] < n_rows[2] == 80


@pytest.mark.parametrize(
    ("n_columns", "n_rows", "n_greedy"), [(3, 8_000, 400), (2_000, 2_500, 100), (10**6, 1_000, 20)]
)
def test_of_wide_tables_fewer_rows_are_read_in_time(made, monkeypatch, n_columns, n_rows, n_greedy):
    monkeypatch.setattr(TrainingData, "n_values", n_columns)
    one = search._Search(DATA, 600, 0, 0.5, lambda recipe: recipe, NORMAL)
    assert (one.screening.n_rows, one.min_greedy_rows) == (n_rows, n_greedy)
    assert search._Search(DATA, 600, 0, None, lambda recipe: recipe, NORMAL).screening.n_rows == 8_000


@pytest.mark.parametrize(("budget", "screened"), [(8_192, 8_192), (8_193, 8_192)])
def test_greedy_rows_are_screened_at_few_bytes(budget, screened):
    one = new_search(budget=budget, time_limit=None)
    assert (one.screener.budget, one.greedy_screener.budget) == (budget, screened)


def test_fits_of_the_same_rows_share_them():
    shared = StageRows(DATA)
    every, few = (RecipeFitter(DATA, 300, 0, replace(SCREENING, n_rows=n), shared=shared) for n in (1 << 40, 50))
    assert every.stage_rows is shared
    assert len(few.stage_rows.data.train_rows) == 50
