"""The local search: it finds a minimum, and close recipes take turns."""

import numpy as np

from repsketch.train.local_search import local_search
from repsketch.train.recipes import CONCATS, SHRINKAGES, GreedyRecipe, greedy_neighbours
from repsketch.train.training_data import TrainingData
from repsketch.train.trials import Trial

COIN = np.tile([[0.0], [1.0]], (200, 1))
DATA = TrainingData.of(np.zeros((400, 1), np.float32), COIN, None, "classification", seed=1)
TAUGHT = DATA.with_soft_labels(COIN)


def test_a_local_search_finds_the_minimum():
    """A loss with one minimum, K = 5 and shrinkage 0.6, two steps away."""
    fitted = []

    def fit(recipe):
        fitted.append(recipe)
        distance = abs(CONCATS.index(recipe.n_concat) - 4) + abs(SHRINKAGES.index(recipe.shrinkage) - 3)
        return Trial(str(recipe), np.full(3, distance + 0.1 * (recipe.counter_type == "int8")), None)

    found = local_search(
        [GreedyRecipe("fine thresholds", 0.5)],
        lambda recipe: greedy_neighbours(recipe, DATA),
        fit,
        lambda found: [found[0][0]],
        1.0,
        12.0,
    )
    assert (found[0][0].n_concat, found[0][0].shrinkage) == (5, 0.6)
    assert len(fitted) == len(set(fitted)) == 12
    assert [trial.loss for _, trial in found] == sorted(trial.loss for _, trial in found)


def test_close_recipes_take_turns_in_the_local_search():
    fitted = []

    def fit(recipe):
        fitted.append(recipe)
        return Trial(str(recipe), np.full(3, 1.0 if recipe in starts else 2.0), None)

    starts = [GreedyRecipe("fine thresholds", 0.5), GreedyRecipe("thresholds", 0.5)]
    local_search(starts, lambda recipe: greedy_neighbours(recipe, TAUGHT), fit, lambda _: starts, 1.0, 8.0)
    assert [recipe.family for recipe in fitted[2:]] == ["fine thresholds", "thresholds"] * 3
