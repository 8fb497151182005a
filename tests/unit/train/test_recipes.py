"""Recipes of greedy rows: their names beside a progress bar, those screened first, and neighbours."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from repsketch.train.recipes import GreedyRecipe, first_greedy_recipes, greedy_neighbours
from repsketch.train.training_data import TrainingData

GREEDY = GreedyRecipe("thresholds", 0.5)
X = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
DATA = TrainingData.of(X, np.float64(X[:, :1] > 0), np.full((60, 1), 0.5), "classification")


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        (GREEDY, "greedy rows over thresholds (4 per row, learning rate 0.3, int4)"),
        (
            replace(GREEDY, family="fine thresholds", shrinkage=0.05, counter_type="int8"),
            "greedy rows over fine thresholds (4 per row, learning rate 0.05, int8)",
        ),
    ],
)
def test_words_of_the_field(recipe, words):
    assert str(recipe) == words


def test_first_recipes_are_of_every_family_with_and_without_the_teacher():
    def families(X, soft_labels=None):
        data = TrainingData.of(X, DATA.labels, soft_labels, "classification")
        return [recipe.family for recipe in first_greedy_recipes(data)]

    greedy = [(recipe.family, recipe.mixture) for recipe in first_greedy_recipes(DATA)]
    assert greedy == [(name, share) for name in ("thresholds", "fine thresholds") for share in (0.5, 0.0)]
    booleans = (X > 0).astype(np.float32)
    assert families(X) == ["thresholds", "fine thresholds"]
    assert families(booleans) == ["thresholds"]
    assert families(np.column_stack([X, booleans])) == ["thresholds", "fine thresholds"]


@pytest.mark.parametrize("family", ["thresholds", "fine thresholds"])
def test_neighbours_differ_in_one_thing(family):
    recipe = replace(GREEDY, family=family)
    found = list(greedy_neighbours(recipe, DATA))
    assert len(set(found)) == len(found) > 3
    for near in found:
        assert sum(asdict(recipe)[name] != value for name, value in asdict(near).items()) == 1
    assert any(near.mixture != recipe.mixture for near in found)
    assert any(near.reuse != recipe.reuse for near in found)
    untaught = greedy_neighbours(recipe, replace(DATA, soft_labels=None))
    assert all(near.mixture == recipe.mixture for near in untaught)
