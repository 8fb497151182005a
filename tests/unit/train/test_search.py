"""The search: every kind of recipe gives what its trial says, neighbours differ in one thing, and the loss falls."""

from dataclasses import asdict, replace
from types import SimpleNamespace

import numpy as np
import pytest

from repsketch.sketch import CompiledSketch
from repsketch.train import search as searching
from repsketch.train.effort import FitEffort, SearchEffort
from repsketch.train.fitter import RecipeFitter
from repsketch.train.recipes import CONCATS, FEW_TRAIN_ROWS, SHRINKAGES, Recipe, first_recipes, neighbours
from repsketch.train.search import local_search, search
from repsketch.train.training_data import TrainingData
from repsketch.train.trials import Refit, Trial

N = 400
EFFORT = FitEffort(1 << 30, 1 << 30, 60, (Refit(3.0), Refit(30.0, True)), (1.0, 0.5))


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
    "thresholds": Recipe("thresholds", 0.5, n_concat=2),
    "fine thresholds": Recipe("fine thresholds", 0.5, n_concat=4, shrinkage=0.6),
    "bits": Recipe("bits", 0.5),
    "interpolated": Recipe("interpolated", 0.5, n_components=3),
    "scaled": Recipe("interpolated", 0.5, n_components=2, n_levels=4, scaling="scaled"),
    "common": Recipe("interpolated", 0.5, n_components=2, n_levels=16, scaling="common"),
    "ternary": Recipe("interpolated", 0.5, n_components=2, projection_type="ternary"),
    "stacked": Recipe("interpolated", 0.5, n_components=2, n_stacked=2),
}


@pytest.mark.parametrize("data", [("classification", 2), ("classification", 4), ("regression", 1)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_trial_is_what_its_model_does(kind, data):
    task, n_classes = data
    counters = "int8" if task == "regression" else "int4"
    given = make_data(task, n_classes)
    trial = RecipeFitter(given, 600, 3, EFFORT).fit(replace(KINDS[kind], counter_type=counters))
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
    model = RecipeFitter(few, 600, 3, EFFORT).fit(replace(KINDS[kind], counter_type="int8")).model
    assert np.isfinite(CompiledSketch(model).outputs(X)).all()


def test_stacked_rows_have_two_groups():
    model = (
        RecipeFitter(make_data("regression"), 600, 3, EFFORT).fit(replace(KINDS["stacked"], counter_type="int8")).model
    )
    assert [group.source for group in model.row_groups] == ["projected", "values"]


@pytest.mark.parametrize("recipe", KINDS.values(), ids=KINDS)
def test_neighbours_differ_in_one_thing(recipe):
    found = list(neighbours(recipe, make_data()))
    assert len(set(found)) == len(found) > 3
    for near in found:
        differing = {name for name, value in asdict(near).items() if asdict(recipe)[name] != value}
        assert len(differing - {"shrinkage"}) == 1 or differing == {"shrinkage"}


def test_first_recipes_are_of_every_kind():
    def fits(recipe: Recipe) -> bool:
        return recipe.n_components <= 8

    assert len(make_data().train_rows) < FEW_TRAIN_ROWS
    few = [recipe.n_components for recipe in first_recipes(make_data(), fits) if not recipe.is_greedy]
    assert few == [2, 8, 2, 8]
    found = list(first_recipes(make_data(), fits, few_rows=1))
    greedy = [(recipe.family, recipe.mixture) for recipe in found if recipe.is_greedy]
    assert greedy == [(name, share) for name in ("thresholds", "fine thresholds", "bits") for share in (0.5, 0.0)]
    interpolated = [
        (recipe.n_components, recipe.start, recipe.weight_decay) for recipe in found if not recipe.is_greedy
    ]
    others = [(4, "screened", 0.1), (5, "screened", 0.1), (5, "principal", 1.0), (8, "principal", 1.0)]
    assert interpolated == [*((n, "principal", 0.1) for n in (2, 4, 5, 8)), *others]
    booleans = TrainingData.of(
        (make_data().X[:, :2] > 0).astype(np.float32), make_data().labels, None, "classification"
    )
    assert "fine thresholds" not in {recipe.family for recipe in first_recipes(booleans, fits)}
    wide = TrainingData.of(
        np.random.default_rng(0).normal(size=(90, 30)), make_data().labels[:90], None, "classification"
    )
    assert {recipe.projection_type for recipe in first_recipes(wide, fits)} == {"int8", "ternary"}


def test_few_levels_are_looked_at_where_there_are_many_classes():
    def fits(recipe: Recipe) -> bool:
        return recipe.n_components * recipe.n_levels <= 40

    assert {recipe.n_levels for recipe in first_recipes(make_data(), fits)} == {8}
    found = [recipe for recipe in first_recipes(make_data(n_classes=4), fits) if recipe.n_levels == 4]
    assert [(recipe.n_components, recipe.scaling) for recipe in found] == [
        (8, "standard"), (10, "standard"), (8, "common"), (10, "common"),
    ]  # fmt: skip


def search_of_steps(*n_steps: int, **options: int) -> list[Trial]:
    """A search of interpolated rows alone, with a number of steps for each of its three phases."""

    def change(recipe: Recipe) -> Recipe | None:
        return None if recipe.is_greedy else replace(recipe, n_stacked=0)

    effort = SearchEffort(*(replace(EFFORT, n_steps=n) for n in n_steps), **options)
    return search(make_data(), 600, progress=False, change=change, effort=effort)


@pytest.mark.parametrize(("n_steps", "is_taken"), [(90, True), (5, False)])
def test_the_final_fit_is_chosen_unless_it_is_worse(n_steps, is_taken):
    chosen, *others = search_of_steps(41, 42, n_steps, few_rows=1, full_rows=1)  # as many fits as for many rows
    assert (chosen.n_steps == n_steps) == is_taken
    assert {trial.n_steps for trial in others} >= {41, 42}


def test_a_recipe_without_a_final_fit_gets_one_when_chosen(monkeypatch):
    picked = []

    def pick_the_worst(found):
        picked.append(found[-1])
        return found[-1]

    monkeypatch.setattr(searching, "smallest_of_the_best", pick_the_worst)
    monkeypatch.setattr(searching, "is_as_good", lambda trial, other: True)
    chosen = search_of_steps(41, 42, 90)[0]
    _, short = picked[0]
    assert short.n_steps in (41, 42)
    assert chosen.n_steps == 90
    assert chosen.fitted.nbytes == short.fitted.nbytes


def test_the_smallest_of_those_that_are_as_good():
    """Some are within half a standard error of the best; the smallest is too far behind. A few bytes do not count."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=400)
    noise = (noise - noise.mean()) / noise.std() / 20  # half a standard error of the mean is 0.00125

    def trial(nbytes: int, behind: float) -> tuple[Recipe, Trial]:
        losses = np.full(400, 0.3) if not behind else 0.3 + behind + noise
        return Recipe("bits", nbytes / 1e4), Trial(str(nbytes), losses, SimpleNamespace(nbytes=nbytes))

    found = [trial(900, 0.0), trial(700, 0.0005), trial(500, 0.0012), trial(100, 0.0013)]
    assert searching.smallest_of_the_best(found)[1].name == "500"
    assert searching.smallest_of_the_best(found[:1])[1].name == "900"
    assert searching.smallest_of_the_best([*found[:2], trial(540, 0.001), *found[2:]])[1].name == "540"


def test_a_local_search_finds_the_minimum():
    """A loss with one minimum, K = 5 and shrinkage 0.6, two steps away."""
    fitted = []

    def fit(recipe):
        fitted.append(recipe)
        distance = abs(CONCATS.index(recipe.n_concat) - 4) + abs(SHRINKAGES.index(recipe.shrinkage) - 3)
        return Trial(str(recipe), np.full(3, distance + 0.1 * (recipe.counter_type == "int8")), None)

    unlabelled = replace(make_data(), soft_labels=None)
    found = local_search(
        [Recipe("bits", 0.5)],
        lambda recipe: neighbours(recipe, unlabelled),
        fit,
        lambda found: [found[0][0]],
        lambda recipe: 1.0,
        12.0,
    )
    assert (found[0][0].n_concat, found[0][0].shrinkage) == (5, 0.6)
    assert len(fitted) == len(set(fitted)) == 12
    assert [trial.loss for _, trial in found] == sorted(trial.loss for _, trial in found)


def test_bits_are_not_grown_beyond_a_size():
    fitter = RecipeFitter(make_data(), 600, 3, replace(EFFORT, max_bit_bytes=300))
    assert fitter.fit(KINDS["bits"]).model.nbytes <= 300 < fitter.fit(KINDS["thresholds"]).model.nbytes


def test_close_recipes_take_turns_in_the_local_search():
    fitted = []

    def fit(recipe):
        fitted.append(recipe)
        return Trial(str(recipe), np.full(3, 1.0 if recipe in starts else 2.0), None)

    starts = [Recipe("bits", 0.5), Recipe("thresholds", 0.5)]
    local_search(starts, lambda recipe: neighbours(recipe, make_data()), fit, lambda _: starts, lambda recipe: 1.0, 8.0)
    assert [recipe.family for recipe in fitted[2:]] == ["bits", "thresholds"] * 3


def test_a_race_leaves_those_close_to_the_best():
    """What a constant explains is 0.69 of the loss: 0.03 of that is close."""
    given = make_data()
    losses = {"thresholds": (0.20, 0.21), "fine thresholds": (0.30, 0.19), "bits": (0.19, 0.2)}
    raced = [
        (Recipe(family, mixture), Trial(family, np.full(3, loss), None))
        for family, both in losses.items()
        for mixture, loss in zip((0.5, 0.0), both, strict=True)
    ]
    raced.sort(key=lambda pair: pair[1].loss)
    found = {(recipe.family, recipe.mixture) for recipe in searching.best_of_race(raced, given, 2048)}
    assert found == {("fine thresholds", 0.0), ("bits", 0.5), ("thresholds", 0.5)}
    deeper = searching.best_of_race(raced, given, 4096)
    assert [recipe.n_concat for recipe in deeper] == [4] * 3 + [searching.DEEP_CONCAT] * 3


def test_what_is_tried_in_place_of_a_recipe(brief_effort):
    """No interpolated rows, and thresholds without reuse of codes: in all three phases."""

    def change(recipe: Recipe) -> Recipe | None:
        seen.append(recipe)
        return None if recipe.family == "interpolated" else replace(recipe, reuse=0.0)

    seen: list[Recipe] = []
    fitted = []

    class Watched(RecipeFitter):
        def fit(self, recipe):
            fitted.append(recipe)
            return super().fit(recipe)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "RecipeFitter", Watched)
        found = search(make_data(), 400, progress=False, change=change, effort=brief_effort)
    assert any(recipe.family == "interpolated" for recipe in seen)
    assert len(fitted) > 5
    assert all(recipe.is_greedy and recipe.reuse == 0.0 for recipe in fitted)
    assert all("interpolated" not in trial.name for trial in found)


def test_the_chosen_model_is_retrained_on_all_rows_if_they_are_few(brief_effort):
    given = make_data("regression")
    many = replace(brief_effort, max_retrained_rows=0)
    retrained, others = (search(given, 400, seed=1, progress=False, effort=effort) for effort in (brief_effort, many))
    assert retrained[0].loss == others[0].loss  # of rows that it had not seen
    outputs = [CompiledSketch(found[0].model).outputs(given.X) for found in (retrained, others)]
    assert not np.array_equal(*outputs)


def test_a_last_training_that_fails_is_dropped(brief_effort, monkeypatch):
    """On rows that it has seen a sketch must not be worse than the one that had not."""
    given = make_data("regression")
    good = search(given, 400, progress=False, effort=brief_effort)[0]
    assert good.retrained is not None
    fit = searching.RecipeFitter.fit

    def failing(self, recipe):
        trial = fit(self, recipe)
        return replace(trial, losses=trial.losses + 9.0) if trial and self.data.trains_on_all else trial

    monkeypatch.setattr(searching.RecipeFitter, "fit", failing)
    dropped = search(given, 400, progress=False, effort=brief_effort)[0]
    assert (dropped.retrained, dropped.loss) == (None, good.loss)


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
    effort = FitEffort(400, 400, 10, (Refit(10.0),), patience=24)
    found = RecipeFitter(given, 1 << 16, 0, effort).fit(Recipe("thresholds", 0.0, n_concat=2))
    assert 24 <= found.n_rows < 100
    fewer = RecipeFitter(given, 1 << 16, 0, replace(effort, max_rows=10)).fit(Recipe("thresholds", 0.0, n_concat=2))
    assert fewer.n_rows == 10
