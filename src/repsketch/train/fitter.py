"""From one recipe to the best model by it within a budget.

Takes training data, a budget and an effort; hands on a ``Trial`` for each recipe, or None where no such model is small
enough.
"""

from collections.abc import Callable
from threading import Lock

from ..errors import InputError
from .clock import OutOfTime, never
from .effort import FitEffort
from .families import CodeFamily, threshold_family
from .recipes import GreedyRecipe
from .stage_recipes import StageRecipe
from .stage_shape import Shape
from .stage_sizes import StageSizes
from .stage_trials import StageRows, StageTrials
from .training_data import TrainingData
from .trials import GreedyTrials, Trial

MAX_ENTRIES = 1 << 26  # training rows times values: half a gigabyte while they are read

Recipe = GreedyRecipe | StageRecipe


class RecipeFitter:
    """Fits recipes to one table and one budget with one effort. Codes are made once and shared. Threads may share it.

    Parameters
    ----------
    is_late : True once the time is over: fits are then cut short or given up
    min_rows : greedy rows that are chosen even after that
    count : how bytes of models of stages are counted
    shared : rows for the trainer that other fitters use, too; taken where they are those of this effort
    """

    def __init__(
        self,
        data: TrainingData,
        budget: int,
        seed: int,
        effort: FitEffort,
        is_late: Callable[[], bool] = never,
        min_rows: int = 0,
        count: type[StageSizes] = StageSizes,
        shared: StageRows | None = None,
    ) -> None:
        max_rows = MAX_ENTRIES // data.n_values
        self.data = data.subset(min(effort.n_rows, max_rows), seed)
        self.stage_rows = shared if shared is not None and shared.data is self.data else StageRows(self.data)
        self.budget, self.seed, self.effort = budget, seed, effort
        self.is_late, self.min_rows, self.count = is_late, min_rows, count
        self._families: dict[str, CodeFamily] = {}
        self._lock = Lock()

    def _family(self, name: str) -> CodeFamily:
        with self._lock:  # a second thread waits instead of making the codes again
            if name not in self._families:
                make: dict[str, Callable[[], CodeFamily]] = {
                    "thresholds": lambda: threshold_family(self.data, self.data.ranged),
                    "fine thresholds": lambda: threshold_family(self.data, self.data.finely_ranged),
                }
                self._families[name] = make[name]()
            return self._families[name]

    def shape(self, recipe: StageRecipe) -> Shape | None:
        """The shape that a recipe gives, or None if none is as small as the budget."""
        return self._trials(recipe).shape(self.budget)

    def _trials(self, recipe: StageRecipe) -> StageTrials:
        return StageTrials(self.stage_rows, recipe, self.seed, self.count)

    def fit(self, recipe: Recipe) -> Trial | None:
        """The best model by this recipe, or None where none fits the budget or the time."""
        if isinstance(recipe, GreedyRecipe):
            return self._grow(recipe)
        trials = self._trials(recipe)
        shape = trials.shape(self.budget)
        if shape is None:
            return None
        n_steps = trials.n_steps(shape, round(recipe.steps * self.effort.n_steps), self.effort.work_per_step)
        try:
            return trials.trial(trials.trained(shape, n_steps, self.is_late), shape, n_steps)
        except (InputError, OutOfTime):  # the first: a training that diverged
            return None

    def _grow(self, recipe: GreedyRecipe) -> Trial | None:
        effort, family = self.effort, self._family(recipe.family)
        greedy = GreedyTrials(
            self.data, family, recipe.n_concat, recipe.shrinkage, recipe.mixture, recipe.counter_type, self.budget,
            recipe.reuse, self.seed, effort.max_rows, self.is_late, self.min_rows, effort.patience,
        )  # fmt: skip
        return greedy.best(effort.refits, effort.shares)
