"""From one recipe to the best model by it within a budget.

Takes training data, a budget and an effort; hands on a ``Trial`` for each recipe, or None where no such model is small
enough.
"""

from collections.abc import Callable
from dataclasses import replace

from ..errors import InputError
from ..model.model import Model
from .clock import OutOfTime, never
from .effort import FitEffort
from .families import CodeFamily, bit_family, threshold_family
from .interpolated import Shape
from .interpolated_trials import InterpolatedTrials
from .recipes import Recipe
from .training_data import TrainingData
from .trials import Base, GreedyTrials, Trial

MAX_ENTRIES = 1 << 26  # training rows times values: half a gigabyte while they are read


class RecipeFitter:
    """Fits recipes to one table and one budget with one effort. Codes and interpolated rows are made once and shared.

    Parameters
    ----------
    is_late : True once the time is over: fits are then cut short or given up
    min_rows : greedy rows that are chosen even after that
    """

    def __init__(
        self,
        data: TrainingData,
        budget: int,
        seed: int,
        effort: FitEffort,
        is_late: Callable[[], bool] = never,
        min_rows: int = 0,
    ) -> None:
        max_rows = MAX_ENTRIES // data.n_values
        self.data, self.interpolated_data = (
            data.subset(min(n, max_rows), seed) for n in (effort.n_rows, effort.n_interpolated_rows)
        )
        self.budget, self.seed, self.effort = budget, seed, effort
        self.is_late, self.min_rows = is_late, min_rows
        self._families: dict[str, CodeFamily] = {}
        self._trained: dict[Recipe, Model] = {}

    def _family(self, name: str) -> CodeFamily:
        if name not in self._families:
            make: dict[str, Callable[[], CodeFamily]] = {
                "thresholds": lambda: threshold_family(self.data, self.data.ranged),
                "fine thresholds": lambda: threshold_family(self.data, self.data.finely_ranged),
                "bits": lambda: bit_family(self.data, self.seed),
            }
            self._families[name] = make[name]()
        return self._families[name]

    def _interpolated(self, recipe: Recipe) -> tuple[InterpolatedTrials, Shape | None]:
        """Interpolated rows by a recipe, and the shape that fits the budget; None if no shape does."""
        trials = InterpolatedTrials(self.interpolated_data, recipe, self.effort.n_steps, self.seed)
        return trials, trials.shape(self.budget)

    def fits(self, recipe: Recipe) -> bool:
        """True if interpolated rows by this recipe fit the budget."""
        return self._interpolated(recipe)[1] is not None

    def fit(self, recipe: Recipe) -> Trial | None:
        """The best model by this recipe, or None where none fits the budget or the time."""
        if recipe.is_greedy:
            return self._grow(recipe, self._family(recipe.family), recipe.n_concat)
        trials, shape = self._interpolated(recipe)
        if shape is None:
            return None
        alone = replace(recipe, n_stacked=0, shrinkage=0.0)
        if alone not in self._trained:
            try:
                self._trained[alone] = trials.trained(shape, self.is_late)
            except (InputError, OutOfTime):  # the first: coordinates too wide for integers
                return None
        model = self._trained[alone]
        if not recipe.n_stacked:
            return trials.trial(model, shape)
        base = Base.of(model, self.data)
        family = threshold_family(self.data, trials.inputs, is_fixed=True)
        trial = self._grow(recipe, family, recipe.n_stacked, base)
        return None if trial is None else replace(trial, n_steps=self.effort.n_steps)

    def _grow(self, recipe: Recipe, family: CodeFamily, n_concat: int, base: Base | None = None) -> Trial | None:
        effort = self.effort
        budget = min(self.budget, effort.max_bit_bytes) if family.name == "bits" else self.budget
        greedy = GreedyTrials(
            self.data, family, n_concat, recipe.shrinkage, recipe.mixture, recipe.counter_type, budget, recipe.reuse,
            self.seed, effort.max_rows, base, self.is_late, self.min_rows, effort.patience,
        )  # fmt: skip
        return greedy.best(effort.refits, effort.shares)
