"""The search: every kind of recipe gives what its trial says, neighbours differ in one thing, and the loss falls."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from repsketch.sketch import CompiledSketch
from repsketch.train import search as searching
from repsketch.train.choice import varied
from repsketch.train.effort import FitEffort, Rung
from repsketch.train.fitter import RecipeFitter
from repsketch.train.recipes import GreedyRecipe
from repsketch.train.search import search
from repsketch.train.stage_recipes import StageRecipe
from repsketch.train.stage_work import WORK_PER_STEP
from repsketch.train.training_data import TrainingData
from repsketch.train.trials import Refit, Trial, loss_of

N = 400
EFFORT = FitEffort(1 << 30, 60, (Refit(3.0), Refit(30.0, True)), (1.0, 0.5))


def make_data(task="classification", n_classes=2, n_columns=5):
    rng = np.random.default_rng(2)
    X = rng.normal([0.0, 10.0, -3.0, 0.0, 1.0], [1.0, 5.0, 0.1, 1.0, 1.0], (N, 5)).astype(np.float32)[:, :n_columns]
    X[:, 3:4] = rng.integers(0, 3, (N, 1))
    X[rng.random(N) < 0.1, 0] = np.nan
    wave = np.nan_to_num(np.sin(2.0 * X[:, 0])) + (X[:, 3] == 1) + 0.1 * X[:, 1]
    if task == "regression":
        return TrainingData.of(X, wave[:, None] * 7.0 + 100.0, None, task, n_categories={3: 3}, seed=1)
    places = np.digitize(wave, np.quantile(wave, np.linspace(0, 1, n_classes + 1)[1:-1]))
    probabilities = np.eye(n_classes)[places]
    labels = probabilities[:, 1:] if n_classes == 2 else probabilities
    return TrainingData.of(
        X, labels, 0.8 * labels + 0.1, task, classes=np.arange(n_classes), n_categories={3: 3}, seed=1
    )


KINDS = {
    "thresholds": GreedyRecipe("thresholds", 0.5, n_concat=2),
    "fine thresholds": GreedyRecipe("fine thresholds", 0.5, n_concat=4, shrinkage=0.6),
    "rows": StageRecipe(0.5, 0),
    "scaled": StageRecipe(0.5, 1, n_entries=4, scaling="scaled"),
    "common": StageRecipe(0.5, 2, scaling="common"),
    "network": StageRecipe(0.5, 1, "relu", sparsity=0.5),
}


def with_counters(kind: str, counter_type: str):
    """A recipe of this kind, its counters of this type if it is greedy."""
    recipe = KINDS[kind]
    return replace(recipe, counter_type=counter_type) if recipe.is_greedy else recipe


@pytest.mark.parametrize("data", [("classification", 2), ("classification", 4), ("regression", 1)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_trial_is_what_its_model_does(kind, data):
    task, n_classes = data
    counters = "int8" if task == "regression" else "int4"
    given = make_data(task, n_classes)
    trial = RecipeFitter(given, 600, 3, EFFORT).fit(with_counters(kind, counters))
    assert trial.model.nbytes <= 600
    outputs = CompiledSketch(trial.model).outputs(given.X[given.validation_rows]).astype(np.float64)
    loss = given.validation_objective.loss((outputs - given.middle) / given.unit)
    assert loss == pytest.approx(trial.loss, rel=1e-4)
    constant = np.repeat(given.validation_objective.start()[None], len(given.validation_rows), axis=0)
    assert trial.loss < given.validation_objective.loss(constant)


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_that_is_missing_in_a_validation_row_alone(kind):
    given = make_data("regression")
    X = np.nan_to_num(given.X)
    X[given.validation_rows[0], 1] = np.nan
    labels = given.labels * given.unit + given.middle
    few = TrainingData.of(X, labels, None, "regression", n_categories={3: 3}, seed=1)
    assert np.array_equal(few.validation_rows, given.validation_rows)
    model = RecipeFitter(few, 600, 3, EFFORT).fit(with_counters(kind, "int8")).model
    assert np.isfinite(CompiledSketch(model).outputs(X)).all()


def rounds(*n_steps: int, n_recipes: int = 4, n_best: int = 2) -> tuple[Rung, ...]:
    """Rounds of successive halving with so many steps each."""
    return tuple(Rung(n_recipes, n_best, steps) for steps in n_steps)


class Watched(RecipeFitter):
    """A fitter that lists the recipes it fits, with the steps of its effort."""

    fitted: ClassVar[list] = []

    def fit(self, recipe):
        self.fitted.append((recipe, self.effort.n_steps))
        return super().fit(recipe)


@pytest.fixture
def fitted(monkeypatch):
    """All fits of a search, in the order in which they began."""
    monkeypatch.setattr(Watched, "fitted", [])
    monkeypatch.setattr(searching, "RecipeFitter", Watched)
    return Watched.fitted


def no_greedy(recipe):
    return None if recipe.is_greedy else recipe


@pytest.fixture
def usual_work(monkeypatch):
    """A step of a model of the budget is the usual work, so that rounds have the recipes that their effort says."""
    monkeypatch.setattr(searching, "work_at", lambda data, budget: WORK_PER_STEP)


def test_rounds_keep_the_best_and_vary_them(brief_effort, fitted, usual_work):
    """Of six recipes the best two are trained for longer, with two variations; last, the best one and its restarts."""
    effort = replace(brief_effort, rungs=(Rung(6, 0, 40), Rung(4, 2, 80), Rung(3, 1, 120)), max_retrained_rows=0)
    trials = search(make_data(), 600, progress=False, change=no_greedy, effort=effort)
    by_steps = {steps: [recipe for recipe, n in fitted if n == steps] for steps in (40, 80, 120)}
    assert [len(recipes) for recipes in by_steps.values()] == [6, 4, 3]
    losses = {recipe: trial_loss(trials, recipe, 40) for recipe in by_steps[40]}
    kept = [recipe for recipe in by_steps[80] if recipe in by_steps[40]]
    assert kept == sorted(by_steps[40], key=losses.__getitem__)[:2]
    last = by_steps[120][:3]
    assert last[0].restart == 0
    assert [replace(recipe, restart=0) for recipe in last] == [last[0]] * 3
    assert sorted(recipe.restart for recipe in last) == [0, 1, 2]


def trial_loss(trials: list[Trial], recipe: StageRecipe, n_steps: int) -> float:
    """The loss of the fit of a recipe in the round of so many steps."""
    n_steps = round(recipe.steps * n_steps)
    return min(trial.loss for trial in trials if trial.n_steps == n_steps and trial.name.startswith(f"{recipe}, "))


def test_more_steps_find_a_smaller_loss(brief_effort):
    short, long = (
        search(make_data(), 600, progress=False, change=no_greedy, effort=replace(brief_effort, rungs=rounds(*steps)))
        for steps in ((10,), (10, 100, 600))
    )
    assert long[0].loss < 0.8 * short[0].loss


def test_few_rows_are_searched_less(brief_effort, fitted, usual_work):
    """Of 320 training rows: four tenths of the recipes of two rounds, half of the steps, each in five folds."""
    effort = replace(brief_effort, rungs=(Rung(10, 0, 20), Rung(5, 5, 40), Rung(3, 2, 80)), full_rows=3_000)
    search(make_data(), 600, progress=False, change=no_greedy, effort=replace(effort, max_retrained_rows=0))
    # The one chosen is then fitted once more, to the training rows alone.
    assert {n: sum(steps == n for _, steps in fitted) for n in (10, 20)} == {10: 4 * 5, 20: 2 * 5 + 1}
    assert len(fitted) == 6 * 5 + 1
    assert effort.for_rows(3_000) == effort
    assert len(effort.for_rows(2_999).rungs) == 2


@pytest.mark.parametrize("n_rows", [20, 200])  # the first are too few for validation rows of their own
def test_models_of_few_rows_are_small(brief_effort, n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 3)).astype(np.float32)
    data = TrainingData.of(X, X[:, :1], None, "regression")
    assert data.trains_on_all == (n_rows == 20)
    trials = search(data, 4_096, progress=False, effort=replace(brief_effort, full_rows=3_000))
    assert max(trial.model.nbytes for trial in trials) <= max(512, 4 * len(data.train_rows))


def test_threads_do_not_change_what_is_found(brief_effort, monkeypatch):
    found = []
    for n in (1, 2, 4):
        monkeypatch.setattr("repsketch.parallel.n_threads", lambda n=n: n)
        trials = search(make_data("regression"), 400, progress=False, effort=brief_effort)
        found.append([(trial.name, trial.loss) for trial in trials])
    assert found[0] == found[1] == found[2]


def test_greedy_recipes_far_behind_are_not_searched(brief_effort, fitted, monkeypatch):
    """Each is screened; a local search and final fits follow only where one is close to the best."""

    def count(is_close):
        fitted.clear()
        monkeypatch.setattr(
            searching, "close_to_best", lambda found, data, share=0: [r for r, _ in found] if is_close else []
        )
        monkeypatch.setattr(
            searching, "smallest_of_the_best", lambda found: next(p for p in found if not p[0].is_greedy)
        )
        trials = search(make_data(), 400, progress=False, effort=replace(brief_effort, max_retrained_rows=0))
        n_greedy = sum(recipe.is_greedy for recipe, _ in fitted)
        assert sum("stage" not in trial.name for trial in trials) == n_greedy  # what was fitted is what is compared
        return n_greedy

    n_screened = 4  # two families, with and without the teacher
    assert count(is_close=False) == n_screened
    assert count(is_close=True) > n_screened + 2


def test_a_greedy_recipe_without_a_final_fit_gets_one_when_chosen(brief_effort, fitted, monkeypatch):
    picked = []

    def pick_the_worst(found):
        picked.append([pair for pair in found if pair[0].is_greedy][-1])
        return picked[-1]

    monkeypatch.setattr(searching, "smallest_of_the_best", pick_the_worst)
    monkeypatch.setattr(searching, "is_as_good", lambda trial, other: True)
    effort = replace(brief_effort, max_retrained_rows=0, n_final=0)
    chosen = search(make_data(), 400, progress=False, effort=effort)[0]
    assert fitted[-1] == (picked[0][0], effort.final.n_steps)
    assert chosen is not picked[0][1]


def test_what_is_tried_in_place_of_a_recipe(brief_effort, fitted):
    """No stages, and thresholds without reuse of codes: in all phases."""

    def change(recipe):
        seen.append(recipe)
        return replace(recipe, reuse=0.0) if recipe.is_greedy else None

    seen: list = []
    found = search(make_data(), 400, progress=False, change=change, effort=brief_effort)
    assert any(not recipe.is_greedy for recipe in seen)
    assert len(fitted) > 5
    assert all(recipe.is_greedy and recipe.reuse == 0.0 for recipe, _ in fitted)
    assert all("stage" not in trial.name for trial in found)


def test_the_chosen_model_is_retrained_on_all_rows_if_they_are_few(brief_effort):
    given = make_data("regression")
    many = replace(brief_effort, max_retrained_rows=0)
    retrained, others = (search(given, 400, progress=False, effort=effort) for effort in (brief_effort, many))
    assert retrained[0].loss == others[0].loss  # of rows that it had not seen
    outputs = [CompiledSketch(found[0].model).outputs(given.X) for found in (retrained, others)]
    assert not np.array_equal(*outputs)


@pytest.mark.parametrize(("more", "is_kept"), [(-1e-6, True), (1e-6, False)])
def test_a_last_training_that_is_worse_on_all_rows_is_dropped(brief_effort, monkeypatch, more, is_kept):
    """It is compared with the chosen model by the loss of both on the same rows."""
    given = make_data("regression")
    trial = search(given, 400, progress=False, effort=replace(brief_effort, max_retrained_rows=0))[0]
    least = loss_of(trial.fitted, given.on_all_rows()) + more
    fit = searching.RecipeFitter.fit

    def set_loss(self, recipe):
        found = fit(self, recipe)
        return replace(found, losses=np.full(N, least)) if found and self.data.trains_on_all else found

    monkeypatch.setattr(searching.RecipeFitter, "fit", set_loss)
    chosen = search(given, 400, progress=False, effort=brief_effort)[0]
    assert chosen.loss == trial.loss
    assert (chosen.retrained is not None) == is_kept


@pytest.fixture
def searched(monkeypatch):
    """The budgets of the searches that are made, one within the other."""
    searched, run = [], searching._Search.run

    def listed(self, bar, smaller):
        searched.append(self.budget)
        return run(self, bar, smaller)

    monkeypatch.setattr(searching._Search, "run", listed)
    return searched


@pytest.mark.parametrize(
    ("budget", "time_limit", "budgets"),
    [(4_096, None, [4_096]), (4_097, None, [1_024, 4_097]), (65_536, None, [4_096, 16_384, 65_536]),
     (65_536, 100.0, [65_536])],
)  # fmt: skip
def test_a_search_at_a_quarter_of_a_large_budget_comes_first(brief_effort, searched, budget, time_limit, budgets):
    def change(recipe):
        return None if recipe.is_greedy else KINDS["rows"]

    found = search(make_data(), budget, progress=False, time_limit=time_limit, change=change, effort=brief_effort)
    assert searched == budgets
    assert len(found) >= len(budgets)


def test_the_best_recipes_of_the_search_at_fewer_bytes_come_first(brief_effort, fitted, usual_work):
    """At all and at half of the bytes; they are a quarter of the first recipes."""
    effort = replace(brief_effort, rungs=(Rung(8, 0, 40), Rung(3, 1, 80)))
    outcomes: dict = {}
    search(make_data(), 1_200, progress=False, change=no_greedy, effort=effort, outcomes=outcomes)
    best = varied(list(dict.fromkeys(replace(recipe, restart=0) for recipe, _ in outcomes[1_200][2])), 2)
    fitted.clear()
    search(make_data(), 4_800, progress=False, change=no_greedy, effort=effort, outcomes=outcomes)
    firsts = [recipe for recipe, n_steps in fitted if n_steps == 40]
    assert len(firsts) == 8
    assert {replace(recipe, size=size) for recipe in best for size in (1.0, 0.5)} <= set(firsts)


def test_the_best_of_searches_of_all_sizes_is_chosen(brief_effort, monkeypatch):
    """Here the training of large models diverges: the chosen model is of the search at a quarter."""
    fit = searching.RecipeFitter.fit

    def fit_small(self, recipe):
        return fit(self, recipe) if self.budget <= 1_200 else None

    monkeypatch.setattr(searching.RecipeFitter, "fit", fit_small)
    found = search(make_data(), 4_800, progress=False, change=no_greedy, effort=brief_effort)
    assert found[0].loss <= min(trial.loss for trial in found[1:]) + 0.01
    assert found[0].model.nbytes <= 1_200


def test_searches_of_other_budgets_are_not_made_again(brief_effort, searched):
    def names(budget, outcomes=None):
        found = search(make_data(), budget, progress=False, change=no_greedy, effort=brief_effort, outcomes=outcomes)
        return [(trial.name, trial.loss) for trial in found]

    known: dict = {}
    assert names(1_200, known) == names(1_200)
    searched.clear()
    few = names(4_800, known)
    assert (searched, sorted(known)) == ([4_800], [1_200, 4_800])
    assert few == names(4_800)


def test_labels_of_validation_rows_do_not_change_the_fit():
    given = make_data("regression")
    changed = given.labels.copy()
    changed[given.validation_rows] += 50.0
    recipe = replace(KINDS["thresholds"], counter_type="int8")
    trials = [
        RecipeFitter(replace(given, labels=labels), 400, 3, replace(EFFORT, refits=(Refit(3.0),), shares=(1.0,))).fit(
            recipe
        )
        for labels in (given.labels, changed)
    ]
    counters = [trial.model.row_groups[0].counters for trial in trials]
    np.testing.assert_array_equal(*counters)


def test_growth_stops_early():
    """Labels drawn at random: there is room for thousands of rows, and no use for them."""
    rng = np.random.default_rng(0)
    given = TrainingData.of(
        rng.normal(size=(400, 5)), rng.integers(0, 2, (400, 1)).astype(float), None, "classification"
    )
    effort = FitEffort(400, 10, (Refit(10.0),), patience=24)
    found = RecipeFitter(given, 1 << 16, 0, effort).fit(GreedyRecipe("thresholds", 0.0, n_concat=2))
    assert 24 <= found.n_rows < 100
    fewer = RecipeFitter(given, 1 << 16, 0, replace(effort, max_rows=10)).fit(
        GreedyRecipe("thresholds", 0.0, n_concat=2)
    )
    assert fewer.n_rows == 10
