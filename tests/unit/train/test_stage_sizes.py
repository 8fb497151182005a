"""Sizes: the widest shape that fits, what it takes from its recipe, and that its bytes are those of the model."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch.train.stage_recipes import StageRecipe
from repsketch.train.stage_sizes import OFFSET_SHARE, StageSizes
from repsketch.train.stage_trials import StageRows, StageTrials
from repsketch.train.training_data import TrainingData

RNG = np.random.default_rng(0)
X = RNG.normal([0.0, 10.0, -3.0], [1.0, 5.0, 0.1], (500, 3)).astype(np.float32)
WAVE = np.sin(2.0 * X[:, :1]) + 0.1 * X[:, 1:2]
DATA = TrainingData.of(X, 100.0 + 7.0 * WAVE, None, "regression")
CLASSES = TrainingData.of(X, np.eye(5)[RNG.integers(0, 5, 500)], None, "classification")
RECIPES = {
    "rows": StageRecipe(0.0, 0),
    "tables": StageRecipe(0.0, 2, n_entries=4, matrix_bits=4),
    "network": StageRecipe(0.0, 2, "relu"),
    "pruned": StageRecipe(0.0, 1, sparsity=0.5),
    "common": StageRecipe(0.0, 1, scaling="common"),
    "small first": StageRecipe(0.0, 1, first_bits=4),
}


def sizes_of(recipe: StageRecipe, data: TrainingData = DATA) -> StageSizes:
    return StageTrials(StageRows(data), recipe).sizes


@pytest.mark.parametrize("budget", [160, 400, 1_500])
@pytest.mark.parametrize("name", RECIPES)
def test_the_widest_shape_that_fits(name, budget):
    recipe = RECIPES[name]
    sizes = sizes_of(recipe)
    shape = sizes.largest(budget)
    assert sizes.nbytes(shape) <= budget < sizes.nbytes(sizes.shape(shape.widths[0] + 1, recipe.sparsity))
    half = sizes_of(replace(recipe, size=0.5)).largest(budget)
    assert half is None or sizes.nbytes(half) <= budget / 2


def test_no_shape_is_as_small_as_a_few_bytes():
    assert sizes_of(RECIPES["tables"]).largest(40) is None


def test_bytes_that_are_left_go_to_entries_that_would_have_been_pruned():
    sizes = sizes_of(RECIPES["pruned"])
    for budget in (200, 400, 800):
        shape = sizes.largest(budget)
        sparsity = shape.sparsities[0]
        assert 0.0 <= sparsity <= 0.5
        denser = sizes.shape(shape.widths[0], sparsity - 0.5 / 64)
        assert sparsity == 0.0 or sizes.nbytes(denser) > budget


def test_offsets_of_classes_are_left_out_where_they_would_take_much():
    """Five classes have offsets of ten bytes, and two classes, or values, of four."""
    fewest = OFFSET_SHARE * 10
    assert [sizes_of(RECIPES["rows"], CLASSES).largest(budget).has_offset for budget in (fewest - 1, fewest)] == [
        False,
        True,
    ]
    assert sizes_of(RECIPES["rows"]).largest(100).has_offset
    with_offset, without = (sizes_of(RECIPES["rows"], CLASSES).shape(4, 0.0, has) for has in (True, False))
    assert sizes_of(RECIPES["rows"], CLASSES).nbytes(with_offset) == (
        sizes_of(RECIPES["rows"], CLASSES).nbytes(without) + 10
    )


def test_a_shape_follows_its_recipe():
    def shape(name, width, data=DATA):
        return sizes_of(RECIPES[name], data).shape(width, RECIPES[name].sparsity)

    tables = shape("tables", 10)
    assert tables.widths == (10, 7, 5)
    assert tables.matrix_bits == (8, 4, 4)
    assert [stage.n_entries for stage in tables.stages] == [4, 4]
    rows = tables.rows
    assert (rows.n_components, rows.n_levels, rows.factored, rows.has_linear) == (5, 4, False, True)
    assert shape("small first", 10).matrix_bits == (4, 8)
    network = shape("network", 10)
    assert (network.widths, network.rows) == ((10, 7), None)
    assert shape("pruned", 10).sparsities == (0.5, 0.5)
    classes = shape("rows", 10, CLASSES)
    assert (classes.rows.factored, classes.rows.has_linear) == (True, False)  # five outputs, three columns


@pytest.mark.parametrize("n_outputs", [1, 2, 5])
@pytest.mark.parametrize("name", RECIPES)
def test_bytes_are_those_of_the_trained_model(name, n_outputs):
    """Also where outputs have units of their own, and a gain is a number for each of them."""
    values = WAVE * 10.0 ** np.arange(n_outputs) + RNG.normal(size=(500, n_outputs))
    for data in (TrainingData.of(X, values, None, "regression"), CLASSES):
        trials = StageTrials(StageRows(data), RECIPES[name])
        for has_offset in (True, False):
            shape = trials.sizes.shape(5, trials.recipe.sparsity, has_offset or data is not CLASSES)
            model = trials.trained(shape, 40)
            n_rounded_away = sum(stage.matrix.size - stage.n_nonzeros for stage in model.stages if stage.is_sparse)
            n_pruned = sum(
                round(share * stage.matrix.size) for share, stage in zip(shape.sparsities, model.stages, strict=True)
            )
            assert 0 <= trials.sizes.nbytes(shape) - model.nbytes <= max(0, n_rounded_away - n_pruned) + 2
            if not any(shape.sparsities):
                assert trials.sizes.nbytes(shape) == model.nbytes
