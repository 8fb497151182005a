"""Cross-validation of recipes where rows are few: every row is scored once, by a model that has not seen it."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch.train.clock import OutOfTime
from repsketch.train.cross_validation import CrossFitter
from repsketch.train.effort import FitEffort
from repsketch.train.fitter import RecipeFitter
from repsketch.train.recipes import GreedyRecipe
from repsketch.train.stage_recipes import StageRecipe
from repsketch.train.stage_trials import StageTrials
from repsketch.train.training_data import TrainingData
from repsketch.train.trials import Refit

N = 300
X = np.random.default_rng(0).normal(size=(N, 3)).astype(np.float32)
DATA = TrainingData.of(X, np.float64(X[:, :1] > X[:, 1:2]), None, "classification")
EFFORT = FitEffort(1 << 30, 40, (Refit(3.0),))
RECIPES = (StageRecipe(0.0, 1), GreedyRecipe("thresholds", 0.0, n_concat=2))


def fitters(data: TrainingData = DATA, n: int = 5) -> list[RecipeFitter]:
    return [RecipeFitter(fold, 300, 0, EFFORT) for fold in data.folds(n, 0)]


def test_every_row_is_scored_once():
    """The first fold has the validation rows of the data; the others share the training rows."""
    folds = DATA.folds(5, 0)
    assert np.array_equal(folds[0].validation_rows, DATA.validation_rows)
    rows = np.concatenate([fold.validation_rows for fold in folds])
    assert sorted(rows.tolist()) == list(range(N))
    for fold in folds:
        assert not set(fold.train_rows) & set(fold.validation_rows)
        assert len(fold.train_rows) + len(fold.validation_rows) == N


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_a_trial_has_the_model_of_the_first_fold_and_the_losses_of_all(recipe):
    parts = fitters()
    trial = CrossFitter(parts).fit(recipe)
    trials = [fitter.fit(recipe) for fitter in parts]
    assert len(trial.losses) == N
    np.testing.assert_array_equal(trial.losses, np.concatenate([one.losses for one in trials]))
    assert trial.fitted.row_groups[0].counters.tobytes() == trials[0].fitted.row_groups[0].counters.tobytes()


@pytest.mark.parametrize("recipe", RECIPES[:1], ids=str)
def test_rows_that_a_fold_scores_do_not_change_its_model(recipe):
    """Stages do not stop early there: labels of scored rows have no part in the model."""
    fold = DATA.folds(5, 0)[2]
    labels = fold.labels.copy()
    labels[fold.validation_rows] = 1.0 - labels[fold.validation_rows]
    models = [RecipeFitter(data, 300, 0, EFFORT).fit(recipe).model for data in (fold, replace(fold, labels=labels))]
    assert models[0].row_groups[0].counters.tobytes() == models[1].row_groups[0].counters.tobytes()


def test_what_does_not_fit_or_ends_late_is_no_trial(monkeypatch):
    assert CrossFitter(fitters()).fit(replace(RECIPES[0], size=0.01)) is None
    assert CrossFitter(fitters()).shape(replace(RECIPES[0], size=0.01)) is None
    trained, calls = StageTrials.trained, []

    def late(self, *args):
        calls.append(1)
        if len(calls) == 3:
            raise OutOfTime
        return trained(self, *args)

    monkeypatch.setattr(StageTrials, "trained", late)
    assert CrossFitter(fitters()).fit(RECIPES[0]) is None
    assert len(calls) == 3
