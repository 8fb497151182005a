"""What each trainer is worth: the same search with one of them switched off."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from repsketch.train.effort import NORMAL, SearchEffort
from repsketch.train.recipes import Recipe
from repsketch.train.training_data import TrainingData
from repsketch.train.trials import Refit

AS_GROWN = Refit(1e12, is_proximal=True)  # so strong that counters stay as chosen greedily, and are only rounded


@dataclass(frozen=True)
class Ablation:
    """What is left of a search: recipes or their replacements, ways to refit, and whether soft labels are used."""

    change: Callable[[Recipe], Recipe | None] = lambda recipe: recipe
    has_refits: bool = True
    has_teacher: bool = True

    @property
    def effort(self) -> SearchEffort:
        """That of a full search, but perhaps without refits."""
        return NORMAL if self.has_refits else NORMAL.with_fits(lambda effort: replace(effort, refits=(AS_GROWN,)))

    def data(self, data: TrainingData) -> TrainingData:
        """The data, perhaps without soft labels."""
        return data if self.has_teacher else replace(data, soft_labels=None)


def _no(family: str) -> Callable[[Recipe], Recipe | None]:
    return lambda recipe: None if recipe.family == family else recipe


def _only(**values: Any) -> Callable[[Recipe], Recipe]:
    return lambda recipe: replace(recipe, **values)


#: By what is switched off.
ABLATIONS = {
    "without thresholds": Ablation(
        lambda recipe: None if recipe.family.endswith("thresholds") else replace(recipe, n_stacked=0)
    ),
    "without fine thresholds": Ablation(_no("fine thresholds")),
    "without seeded bits": Ablation(_no("bits")),
    "without interpolated rows": Ablation(_no("interpolated")),
    "without stacking": Ablation(_only(n_stacked=0)),
    "without ternary projections": Ablation(lambda recipe: None if recipe.projection_type == "ternary" else recipe),
    "without screened starts": Ablation(_only(start="principal")),
    "without noise": Ablation(_only(noise=0.0)),
    "without decay": Ablation(_only(weight_decay=0.0)),
    "without reuse of codes": Ablation(_only(reuse=0.0)),
    "without refits": Ablation(has_refits=False),
    "without a teacher": Ablation(has_teacher=False),
}
