"""Recipes of stages: those a search starts from, and variations of them."""

from dataclasses import asdict, fields, replace
from itertools import islice

import numpy as np
import pytest

from repsketch.train.stage_recipes import VALUES, StageRecipe, first_stage_recipes, vary
from repsketch.train.training_data import TrainingData

RNG = np.random.default_rng(0)


def make_data(n_rows=400, n_columns=3, n_classes=2, has_teacher=True):
    X = RNG.normal(size=(n_rows, n_columns)).astype(np.float32)
    labels = np.eye(n_classes)[RNG.integers(0, n_classes, n_rows)]
    labels = labels[:, 1:] if n_classes == 2 else labels
    return TrainingData.of(X, labels, labels if has_teacher else None, "classification")


def firsts(data: TrainingData, n: int, seed: int = 0) -> list[StageRecipe]:
    return list(islice(first_stage_recipes(data, seed), n))


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        (StageRecipe(0.5, 2), "2 hidden stages of tables of 8 (learning rate 0.02, weight decay 0.03)"),
        (
            StageRecipe(0.5, 1, "relu", sparsity=0.7, weight_decay=0.0),
            "1 hidden stage of ReLU, 70% pruned (learning rate 0.02, weight decay 0)",
        ),
    ],
)
def test_words_of_the_field(recipe, words):
    assert str(recipe) == words


def test_a_search_starts_from_every_kind():
    found = firsts(make_data(), 20)
    assert {recipe.n_hidden for recipe in found} >= {0, 1, 2}
    assert {recipe.activation for recipe in found[:4]} == {"table", "relu"}
    assert sum(recipe.activation == "relu" for recipe in found) >= 2
    assert {recipe.mixture for recipe in found} >= {0.0, 0.5, 0.9}
    assert {recipe.size for recipe in found} >= {0.25, 0.5, 1.0}
    assert found == firsts(make_data(), 20)
    assert found[:4] == firsts(make_data(), 4, seed=1)


def test_where_bytes_are_many_smaller_models_are_tried():
    """A third of those drawn at random."""
    found = list(islice(first_stage_recipes(make_data(), 0, is_large=True), 400))
    sizes = np.array([recipe.size for recipe in found])
    assert 0.25 < (sizes < 1.0).mean() < 0.4
    assert set(sizes) == set(VALUES["size"])
    others = [recipe.size for recipe in firsts(make_data(), 400)]
    assert (min(others), others.count(1.0)) == (0.25, 398)  # where they are not, a half and a quarter are tried once


def test_the_best_recipes_of_a_search_at_fewer_bytes_come_first():
    best = [StageRecipe(0.5, 2, size=0.5, restart=3), StageRecipe(0.9, 0)]
    found = list(islice(first_stage_recipes(make_data(), 0, is_large=True, best=best), 100))
    assert found[:4] == [replace(recipe, size=size, restart=0) for recipe in best for size in (1.0, 0.5)]
    assert len(set(found[4:])) > 90  # drawn at random


def test_what_the_data_are_like_matters():
    narrow, wide = (firsts(make_data(n_columns=n), 12) for n in (3, 30))
    assert not any(recipe.sparsity for recipe in narrow[:4])
    assert sum(recipe.sparsity > 0 for recipe in wide) >= 3
    few, many = (firsts(make_data(n_rows=n), 3) for n in (100, 2_000))
    assert [recipe.noise for recipe in few] == [0.3] * 3
    assert [recipe.noise for recipe in many] == [0.0] * 3
    assert firsts(make_data(n_classes=4), 1)[0].n_entries == 4
    untaught = firsts(make_data(has_teacher=False), 20)
    assert {recipe.mixture for recipe in untaught} == {0.0}


def test_variations_are_near_and_reach_everything():
    """Of one parent: one or two values, each by one place in its list; a network keeps a hidden layer."""
    assert set(VALUES) == {field.name for field in fields(StageRecipe)} - {"restart"}
    assert VALUES["activation"] == ("table", "relu")
    data, rng = make_data(n_columns=8).folds(3, 0)[0], np.random.default_rng(3)
    recipe, seen = StageRecipe(0.5), {name: set() for name in VALUES}
    for _ in range(3_000):
        varied = vary([recipe], data, rng, is_large=True)
        moved = {
            name: abs(VALUES[name].index(getattr(varied, name)) - VALUES[name].index(getattr(recipe, name)))
            for name in VALUES
        }
        assert max(moved.values()) <= 1
        assert sum(moved.values()) <= 3  # a network without a hidden layer gets one
        assert varied.activation == "table" or varied.n_hidden >= 1
        for name in VALUES:
            seen[name].add(getattr(varied, name))
        recipe = varied
    assert {name: sorted(map(str, values)) for name, values in seen.items()} == {
        name: sorted(map(str, values)) for name, values in VALUES.items()
    }


def test_values_of_two_parents_are_mixed():
    """A value is that of one of them or next to it, and both parents have their part."""
    parents = [StageRecipe(0.0, 0, learning_rate=0.005, size=0.25), StageRecipe(0.9, 3, learning_rate=0.04, size=1.0)]
    data, rng = make_data(), np.random.default_rng(5)
    children = [vary(parents, data, rng) for _ in range(300)]
    assert {0.005, 0.04} <= {child.learning_rate for child in children}
    assert any((child.learning_rate, child.n_hidden) == (0.005, 3) for child in children)
    places = VALUES["n_hidden"]
    assert all(min(abs(places.index(child.n_hidden) - place) for place in (0, 3)) <= 1 for child in children)
    assert all(child.restart == 0 for child in children)


def test_what_does_not_matter_is_not_varied():
    booleans = TrainingData.of(
        (RNG.random((80, 3)) > 0.5).astype(np.float32), np.zeros((80, 1)), None, "classification"
    )
    rng = np.random.default_rng(4)
    for recipe, fixed in (
        (StageRecipe(0.0, 1, "relu"), {"n_entries", "mixture", "scaling", "size"}),
        (StageRecipe(0.0, 0), {"matrix_bits", "mixture", "scaling", "size"}),
        (StageRecipe(0.0, 2), {"mixture", "scaling", "size"}),
    ):
        changed = set()
        for _ in range(300):
            varied = asdict(vary([recipe], booleans, rng))
            changed |= {name for name, value in asdict(recipe).items() if varied[name] != value}
        assert not changed & fixed
        assert changed >= {"learning_rate", "weight_decay", "noise", "sparsity"}


def test_a_restart_is_another_recipe():
    assert replace(StageRecipe(0.5), restart=1) != StageRecipe(0.5)
