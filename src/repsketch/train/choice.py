"""Which of the recipes that were fitted go on, and which trial is chosen in the end.

Takes recipes with their trials, by rising validation loss.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from .fitter import Recipe
from .training_data import TrainingData
from .trials import Trial

#: A recipe is close to the best if its loss is larger by at most this share of what the best one explains: to be a
#: start of the local search or a final fit.
CLOSE_SHARE = 0.03
MAX_STANDARD_ERRORS = 0.5  # of the mean difference in validation loss; a smaller lead does not justify more bytes
SAME_SIZE_FACTOR = 1.1  # sizes within this factor count as equal
FEWER_ROWS_FROM = 2_048  # bytes; above, fewer greedy rows than fit the budget may be best, and deeper ones
DEEP_CONCAT = 5

Fitted = list[tuple[Recipe, Trial]]  #: recipes and their trials, by rising validation loss


def by_loss(pairs: Iterable[tuple[Recipe, Trial | None]]) -> Fitted:
    """The pairs that have a trial, by rising validation loss."""
    return sorted(((recipe, trial) for recipe, trial in pairs if trial is not None), key=lambda pair: pair[1].loss)


def is_as_good(trial: Trial, other: Trial) -> bool:
    """True if the other does not lead by more than half a standard error of the mean difference."""
    difference = trial.losses - other.losses
    return bool(difference.mean() <= MAX_STANDARD_ERRORS * difference.std() / np.sqrt(len(difference)))


def smallest_of_the_best(found: Fitted) -> tuple[Recipe, Trial]:
    """The smallest trial that is as good as the best.

    Among many models scored on the same few rows, the best is best partly by luck, and a large one more so. Sizes
    within a tenth of each other count as equal: of those, the best is taken.
    """
    as_good = [pair for pair in found if is_as_good(pair[1], found[0][1])]
    max_nbytes = SAME_SIZE_FACTOR * min(trial.fitted.nbytes for _, trial in as_good)
    return next(pair for pair in as_good if pair[1].fitted.nbytes <= max_nbytes)


def best_of_race(raced: Fitted, data: TrainingData, budget: int) -> list[Any]:
    """The greedy recipes close to the best at few bytes and, with much room, as many deeper ones."""
    best = close_to_best(raced, data)
    return [*best, *(replace(recipe, n_concat=DEEP_CONCAT) for recipe in best)] if budget > FEWER_ROWS_FROM else best


def close_to_best(found: Fitted, data: TrainingData, share: float = CLOSE_SHARE) -> list[Any]:
    """The best recipe and those close to it, by a share of what it explains; none of none."""
    if not found:
        return []
    start = data.validation_objective.start()
    constant = data.validation_losses(np.repeat(start[None], len(data.validation_rows), axis=0)).mean()
    least = found[0][1].loss
    return [recipe for recipe, trial in found if trial.loss <= least + share * abs(constant - least)]


def varied(recipes: list[Any], n: int) -> list[Any]:
    """``n`` of the recipes: the first of each kind, then the others, in their order.

    Kinds differ in how long their training takes to pay off: the best of each goes on to longer trainings.
    """
    firsts = list({recipe.kind: recipe for recipe in reversed(recipes)}.values())
    chosen = sorted(firsts, key=recipes.index)[: max(1, (n + 1) // 2)]
    chosen += [recipe for recipe in recipes if recipe not in chosen][: n - len(chosen)]
    return sorted(chosen, key=recipes.index)
