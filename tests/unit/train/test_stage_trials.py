"""Models of stages within a budget: the shape of a recipe, its steps, and that a trial is what its model does."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch.sketch import CompiledSketch
from repsketch.train.clock import OutOfTime
from repsketch.train.stage_recipes import StageRecipe
from repsketch.train.stage_trials import MAX_EPOCHS, WORK_PER_STEP, StageRows, StageTrials
from repsketch.train.training_data import TrainingData

RNG = np.random.default_rng(0)
X = RNG.normal([0.0, 10.0, -3.0], [1.0, 5.0, 0.1], (500, 3)).astype(np.float32)
WAVE = np.sin(2.0 * X[:, :1]) + 0.1 * X[:, 1:2]
DATA = TrainingData.of(X, 100.0 + 7.0 * WAVE, None, "regression")
RECIPES = {
    "rows": StageRecipe(0.0, 0),
    "sums": StageRecipe(0.0, 0, rows_per_component=4),
    "tables": StageRecipe(0.0, 2, n_entries=4, matrix_bits=4),
    "network": StageRecipe(0.0, 2, "relu", taper=0.5),
    "pruned": StageRecipe(0.0, 1, sparsity=0.5),
    "common": StageRecipe(0.0, 1, scaling="common"),
}


@pytest.mark.parametrize("budget", [160, 400, 1_500])
@pytest.mark.parametrize("name", RECIPES)
def test_the_widest_shape_that_fits(name, budget):
    trials = StageTrials(StageRows(DATA), RECIPES[name])
    shape = trials.shape(budget)
    width = shape.widths[0]
    assert trials.nbytes(shape) <= budget < trials.nbytes(trials._shape(width + 1))
    half = StageTrials(StageRows(DATA), replace(RECIPES[name], size=0.5)).shape(budget)
    assert half is None or trials.nbytes(half) <= budget / 2


def test_no_shape_is_as_small_as_a_few_bytes():
    assert StageTrials(StageRows(DATA), RECIPES["tables"]).shape(40) is None


def test_a_shape_follows_its_recipe():
    shape = StageTrials(StageRows(DATA), RECIPES["tables"])._shape(10)
    assert shape.widths == (10, 7, 5)
    assert shape.matrix_bits == (8, 4, 4)
    assert [stage.n_entries for stage in shape.stages] == [4, 4]
    assert (shape.rows.n_rows, shape.rows.n_levels, shape.rows.factored, shape.rows.has_linear) == (5, 4, False, True)
    assert StageTrials(StageRows(DATA), RECIPES["sums"])._shape(6).rows.n_rows == 24
    network = StageTrials(StageRows(DATA), RECIPES["network"])._shape(10)
    assert (network.widths, network.rows) == ((10, 5), None)
    assert StageTrials(StageRows(DATA), RECIPES["pruned"])._shape(10).sparsities == (0.5, 0.5)
    many = TrainingData.of(X, np.eye(5)[RNG.integers(0, 5, 500)], None, "classification")
    classes = StageTrials(StageRows(many), RECIPES["rows"])._shape(10)
    assert (classes.rows.factored, classes.rows.has_linear) == (True, False)  # five outputs, three columns


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile", "logistic", "softmax"])
@pytest.mark.parametrize("name", RECIPES)
def test_a_trial_is_what_its_model_does(name, loss):
    options = {"loss": loss, "level": 0.8} if loss not in ("logistic", "softmax") else {}
    task = "regression" if options else "classification"
    classes = np.digitize(WAVE[:, 0], np.quantile(WAVE, [0.3, 0.7]))
    labels = {"softmax": np.eye(3)[classes], "logistic": np.float64(WAVE > 0)}.get(loss, 100.0 + 7.0 * WAVE)
    data = TrainingData.of(X, labels, None, task, **options)
    trials = StageTrials(StageRows(data), RECIPES[name], seed=3)
    shape = trials.shape(600)
    trial = trials.trial(trials.trained(shape, 300), shape, 300)
    assert trial.model.nbytes <= 600
    assert trial.n_steps == 300
    outputs = CompiledSketch(trial.model).outputs(X[data.validation_rows]).astype(np.float64)
    found = data.validation_objective.loss((outputs - data.middle) / data.unit)
    assert found == pytest.approx(trial.loss, rel=1e-4)
    constant = np.repeat(data.validation_objective.start()[None], len(data.validation_rows), axis=0)
    assert trial.loss < 0.95 * data.validation_objective.loss(constant)


def test_steps_of_large_models_and_few_rows():
    trials = StageTrials(StageRows(DATA), RECIPES["rows"])
    small, large = trials._shape(4), trials._shape(1_000)
    assert trials.work(small) < WORK_PER_STEP < trials.work(large)
    assert trials.n_steps(small, 900, 100) == 900
    assert trials.n_steps(large, 900, 100) == int(900 * WORK_PER_STEP / trials.work(large))
    assert trials.n_steps(large, 900, 800) == 800
    assert trials.n_steps(small, 10**9, 1) == MAX_EPOCHS * (400 // 48)  # batches of 48 of 400 training rows


def test_a_late_training_is_given_up():
    trials = StageTrials(StageRows(DATA), RECIPES["rows"])
    with pytest.raises(OutOfTime):
        trials.trained(trials.shape(400), 10**6, lambda: True)


def test_restarts_and_seeds_differ_and_repeat():
    def matrix(seed, restart):
        trials = StageTrials(StageRows(DATA), replace(RECIPES["rows"], restart=restart), seed)
        return trials.trained(trials._shape(3), 60).projection.stages[0].matrix.tobytes()

    found = [matrix(seed, restart) for seed, restart in ((0, 0), (0, 1), (1, 0))]
    assert len(set(found)) == 3
    assert matrix(0, 1) == found[1]


def test_the_teacher_and_the_weights_reach_the_trainer():
    """Soft labels of 0.9 everywhere, or weights of one class alone, move the probabilities there."""
    labels = np.float64(RNG.random((500, 1)) < 0.5)
    plain = TrainingData.of(X, labels, np.full((500, 1), 0.9), "classification")
    weighted = replace(plain, weights=np.where(labels[:, 0] == 1.0, 1.9, 0.1))
    for data, mixture, expected in ((plain, 0.0, labels.mean()), (plain, 1.0, 0.9), (weighted, 0.0, 0.95)):
        trials = StageTrials(StageRows(data), StageRecipe(mixture, 0, weight_decay=0.3))
        outputs = CompiledSketch(trials.trained(trials._shape(2), 400)).outputs(X)
        assert 1.0 / (1.0 + np.exp(-outputs.mean())) == pytest.approx(expected, abs=0.06), (mixture, expected)


@pytest.mark.parametrize("n_outputs", [1, 2, 5])
@pytest.mark.parametrize("name", RECIPES)
def test_bytes_are_those_of_the_trained_model(name, n_outputs):
    """Also where outputs have units of their own, and a gain is a number for each of them."""
    values = WAVE * 10.0 ** np.arange(n_outputs) + RNG.normal(size=(500, n_outputs))
    several = TrainingData.of(X, values, None, "regression")
    classes = TrainingData.of(X, np.eye(5)[RNG.integers(0, 5, 500)], None, "classification")
    for data in (several, classes):
        trials = StageTrials(StageRows(data), RECIPES[name])
        shape = trials._shape(5)
        model = trials.trained(shape, 40)
        n_rounded_away = sum(stage.matrix.size - stage.n_nonzeros for stage in model.stages if stage.is_sparse)
        n_pruned = sum(
            round(share * stage.matrix.size) for share, stage in zip(shape.sparsities, model.stages, strict=True)
        )
        assert 0 <= trials.nbytes(shape) - model.nbytes <= max(0, n_rounded_away - n_pruned) + 2
        if not any(shape.sparsities):
            assert trials.nbytes(shape) == model.nbytes


@pytest.mark.parametrize(("loss", "below"), [("squared_error", 0.632), ("absolute_error", 0.5), ("quantile", 0.9)])
def test_the_loss_decides_what_is_predicted(loss, below):
    """Mean, median and quantile of exponential noise lie above 63, 50 and 90 % of the values."""
    noise = np.random.default_rng(1).exponential(size=(2_000, 1))
    rows = np.random.default_rng(2).normal(size=(2_000, 2)).astype(np.float32)
    data = TrainingData.of(rows, noise, None, "regression", loss=loss, level=0.9)
    trials = StageTrials(StageRows(data), StageRecipe(0.0, 0, weight_decay=0.3))
    outputs = CompiledSketch(trials.trained(trials._shape(2), 600)).outputs(rows)
    assert (noise < outputs).mean() == pytest.approx(below, abs=0.04)
