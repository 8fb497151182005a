"""Fits of one recipe to several folds: where rows are few, their validation losses together choose better."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .fitter import Recipe, RecipeFitter
from .stage_recipes import StageRecipe
from .stage_shape import Shape
from .trials import Trial


class CrossFitter:
    """Fits recipes to all folds. A trial is that of the first fold, with the validation losses of all."""

    def __init__(self, fitters: Sequence[RecipeFitter]) -> None:
        self.fitters = fitters

    def shape(self, recipe: StageRecipe) -> Shape | None:
        """The shape that a recipe gives, or None if none is as small as the budget."""
        return self.fitters[0].shape(recipe)

    def fit(self, recipe: Recipe) -> Trial | None:
        """The model of the first fold, or None where that of some fold fits neither the budget nor the time."""
        trials = []
        for fitter in self.fitters:
            trial = fitter.fit(recipe)
            if trial is None:
                return None
            trials.append(trial)
        return replace(trials[0], losses=np.concatenate([trial.losses for trial in trials]))
