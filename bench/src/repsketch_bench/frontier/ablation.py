"""What each component of a search is worth: the same search with one of them switched off."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from repsketch.train.effort import EFFORTS, SearchEffort
from repsketch.train.fitter import Recipe
from repsketch.train.stage_recipes import StageRecipe
from repsketch.train.training_data import TrainingData
from repsketch.train.trials import Refit

AS_GROWN = Refit(1e12, is_proximal=True)  # so strong that counters stay as chosen greedily, and are only rounded


@dataclass(frozen=True)
class Ablation:
    """What is left of a search: recipes or their replacements, its effort, and whether soft labels are used."""

    change: Callable[[Recipe], Recipe | None] = lambda recipe: recipe
    less: Callable[[SearchEffort], SearchEffort] = lambda effort: effort
    has_teacher: bool = True

    @property
    def effort(self) -> SearchEffort:
        """The effort of the search."""
        return self.less(EFFORTS["normal"])

    def data(self, data: TrainingData) -> TrainingData:
        """The data, perhaps without soft labels."""
        return data if self.has_teacher else replace(data, soft_labels=None)


def _no(family: str) -> Callable[[Recipe], Recipe | None]:
    return lambda recipe: None if recipe.family == family else recipe


def _without_greedy_rows(recipe: Recipe) -> Recipe | None:
    return None if recipe.is_greedy else recipe


def _stages(**values: Any) -> Callable[[Recipe], Recipe]:
    """Recipes of stages with these hyper-parameters fixed."""
    return lambda recipe: replace(recipe, **values) if isinstance(recipe, StageRecipe) else recipe


def _without_hidden_stages(recipe: Recipe) -> Recipe | None:
    if not isinstance(recipe, StageRecipe):
        return recipe
    return None if recipe.activation == "relu" else replace(recipe, n_hidden=0)


def _without_networks(recipe: Recipe) -> Recipe | None:
    return None if isinstance(recipe, StageRecipe) and recipe.activation == "relu" else recipe


def _networks_alone(recipe: Recipe) -> Recipe:
    """ReLU in place of tables: every recipe of stages becomes a network."""
    if not isinstance(recipe, StageRecipe):
        return recipe
    return replace(recipe, activation="relu", n_hidden=max(1, recipe.n_hidden))


def _without_reuse(recipe: Recipe) -> Recipe:
    return recipe if isinstance(recipe, StageRecipe) else replace(recipe, reuse=0.0)


#: By what is switched off.
ABLATIONS = {
    "without stages": Ablation(_no("stages")),
    "without hidden stages": Ablation(_without_hidden_stages),
    "without tables": Ablation(_networks_alone),
    "without networks": Ablation(_without_networks),
    "without sparsity": Ablation(_stages(sparsity=0.0)),
    "without 4-bit matrices": Ablation(_stages(first_bits=8, matrix_bits=8)),
    "without a 4-bit first matrix": Ablation(_stages(first_bits=8)),
    "with tables of 8 alone": Ablation(_stages(n_entries=8)),
    "with one size": Ablation(_stages(size=1.0)),
    "with all columns": Ablation(_stages(columns=1.0)),
    "with one scaling": Ablation(_stages(scaling="standard")),
    "without noise": Ablation(_stages(noise=0.0)),
    "without decay": Ablation(_stages(weight_decay=0.0)),
    "with one learning rate": Ablation(_stages(learning_rate=0.02)),
    "without restarts": Ablation(_stages(restart=0)),
    "without the last round": Ablation(less=lambda effort: replace(effort, rungs=effort.rungs[:-1])),
    "without a last training": Ablation(less=lambda effort: replace(effort, max_retrained_rows=0)),
    "with the fast effort": Ablation(less=lambda effort: EFFORTS["fast"]),
    "without greedy rows": Ablation(_without_greedy_rows),
    "without coarse thresholds": Ablation(_no("thresholds")),
    "without fine thresholds": Ablation(_no("fine thresholds")),
    "without reuse of codes": Ablation(_without_reuse),
    "without refits": Ablation(less=lambda effort: effort.with_fits(lambda fit: replace(fit, refits=(AS_GROWN,)))),
    "without a teacher": Ablation(has_teacher=False),
}
