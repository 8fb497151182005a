"""Models of one recipe: shapes, steps, restarts, and that a trial is what its model does."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch.sketch import CompiledSketch
from repsketch.train.clock import OutOfTime
from repsketch.train.stage_recipes import StageRecipe
from repsketch.train.stage_shape import Shape
from repsketch.train.stage_trials import StageRows, StageTrials
from repsketch.train.training_data import TrainingData

RNG = np.random.default_rng(0)
X = RNG.normal([0.0, 10.0, -3.0], [1.0, 5.0, 0.1], (500, 3)).astype(np.float32)
WAVE = np.sin(2.0 * X[:, :1]) + 0.1 * X[:, 1:2]
DATA = TrainingData.of(X, 100.0 + 7.0 * WAVE, None, "regression")
RECIPES = {
    "rows": StageRecipe(0.0, 0),
    "tables": StageRecipe(0.0, 2, n_entries=4, matrix_bits=4),
    "network": StageRecipe(0.0, 2, "relu"),
    "pruned": StageRecipe(0.0, 1, sparsity=0.5),
    "common": StageRecipe(0.0, 1, scaling="common"),
}


def shape_at(trials: StageTrials, width: int) -> Shape:
    """The shape whose first stage has this width."""
    return trials.sizes.shape(width, trials.recipe.sparsity)


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


def test_a_late_training_is_given_up():
    trials = StageTrials(StageRows(DATA), RECIPES["rows"])
    with pytest.raises(OutOfTime):
        trials.trained(trials.shape(400), 10**6, lambda: True)


def test_restarts_and_seeds_differ_and_repeat():
    def matrix(seed, restart):
        trials = StageTrials(StageRows(DATA), replace(RECIPES["rows"], restart=restart), seed)
        return trials.trained(shape_at(trials, 3), 60).projection.stages[0].matrix.tobytes()

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
        outputs = CompiledSketch(trials.trained(shape_at(trials, 2), 400)).outputs(X)
        assert 1.0 / (1.0 + np.exp(-outputs.mean())) == pytest.approx(expected, abs=0.06), (mixture, expected)


@pytest.mark.parametrize(("loss", "below"), [("squared_error", 0.632), ("absolute_error", 0.5), ("quantile", 0.9)])
def test_the_loss_decides_what_is_predicted(loss, below):
    """Mean, median and quantile of exponential noise lie above 63, 50 and 90 % of the values."""
    noise = np.random.default_rng(1).exponential(size=(2_000, 1))
    rows = np.random.default_rng(2).normal(size=(2_000, 2)).astype(np.float32)
    data = TrainingData.of(rows, noise, None, "regression", loss=loss, level=0.9)
    trials = StageTrials(StageRows(data), StageRecipe(0.0, 0, weight_decay=0.3))
    outputs = CompiledSketch(trials.trained(shape_at(trials, 2), 600)).outputs(rows)
    assert (noise < outputs).mean() == pytest.approx(below, abs=0.04)
