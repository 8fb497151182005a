"""How much work a search does, as data: one fit of a recipe, and all the fits of a search."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from .stage_work import WORK_PER_STEP
from .trials import MAX_ROWS, PATIENCE, Refit

ALL = 1 << 40  # rows of data: no limit
#: Up to this many rows of data, the chosen sketch and the chosen peers are trained again on all rows.
MAX_RETRAINED_ROWS = 20_000
#: With few training rows: rounds of stages, least shares of the recipes of a round and of the cost of a local search.
N_ROUNDS_OF_FEW, MIN_RECIPE_SHARE, MIN_STEP_SHARE, MIN_COST_SHARE = 2, 0.4, 0.5, 1 / 16
MIN_RECIPES = 4  # of a round
RECIPE_POWER = 0.6  # recipes for models of twice the work are fewer by two to this power, and steps by the rest
MAX_WORK_RATIO = 1.25  # of all rounds of large models to those of small ones, but for a least number of steps


@dataclass(frozen=True)
class FitEffort:
    """How much work goes into one fit of a recipe.

    Attributes
    ----------
    n_rows : training rows, at most
    n_steps : steps of gradient descent for a small model of stages
    work_per_step : work of a step up to which all of them are made; larger models are trained for fewer
    refits : refits of greedy rows to try
    shares : shares of the greedy rows to try
    max_rows : greedy rows, at most
    patience : greedy rows without a gain in validation loss before growing stops
    """

    n_rows: int
    n_steps: int
    refits: tuple[Refit, ...]
    shares: tuple[float, ...] = (1.0,)
    max_rows: int = MAX_ROWS
    patience: int = PATIENCE
    work_per_step: float = WORK_PER_STEP


@dataclass(frozen=True)
class Rung:
    """A round of successive halving: so many recipes of stages, each trained for so many steps.

    Attributes
    ----------
    n_recipes : recipes that are fitted
    n_best : of them, the best of the round before; the others are variations of these
    n_steps : steps of a small model
    """

    n_recipes: int
    n_best: int
    n_steps: int


SCREENING = FitEffort(8_000, 1_500, (Refit(10.0),))
LOCAL_SEARCH = FitEffort(10_000, 1_500, (Refit(3.0), Refit(30.0, True), Refit(1_000.0, True)))
FINAL = FitEffort(
    ALL, 30_000,
    (Refit(1.0), Refit(3.0), Refit(30.0), Refit(30.0, True), Refit(300.0, True), Refit(3_000.0, True)),
)  # fmt: skip


@dataclass(frozen=True)
class SearchEffort:
    """How much work goes into a search.

    Attributes
    ----------
    screening, local_search, final : effort of a fit of greedy rows in each of the three phases
    rungs : rounds of successive halving for stages
    n_starts : greedy recipes that the local search starts from
    max_cost : cost of the local search, in units of ``cost_of``
    full_rows : training rows from which the search does all this; with fewer, it does less
    n_folds : folds of the cross-validation by which recipes are compared where there are fewer; 1 for none
    n_final : greedy recipes that are fitted again in the end
    max_retrained_rows : up to this many rows, the chosen recipe is trained again on training and validation rows
    rows_per_second : training rows, at most, for every second of a time limit
    has_teacher : a teacher is trained for users who have none; else their labels are all there is to learn from
    """

    screening: FitEffort = SCREENING
    local_search: FitEffort = LOCAL_SEARCH
    final: FitEffort = FINAL
    rungs: tuple[Rung, ...] = (
        Rung(72, 0, 800), Rung(40, 16, 1_800), Rung(20, 10, 4_500), Rung(10, 6, 11_000), Rung(5, 4, 25_000),
        Rung(4, 2, 30_000),
    )  # fmt: skip
    n_starts: int = 2
    max_cost: float = 16.0
    full_rows: int = 3_000
    n_folds: int = 5
    n_final: int = 2
    max_retrained_rows: int = MAX_RETRAINED_ROWS
    rows_per_second: int = 20_000
    has_teacher: bool = True

    def for_rows(self, n_rows: int) -> "SearchEffort":
        """Less effort where there are few training rows: their validation rows cannot tell many models apart.

        Of the rounds the first two are left, with fewer recipes; the local search may cost less.

        >>> [rung.n_recipes for rung in SearchEffort().for_rows(500).rungs]
        [29, 16]
        """
        if n_rows >= self.full_rows:
            return self
        share = n_rows / self.full_rows
        rungs = []
        for rung in self.rungs[:N_ROUNDS_OF_FEW]:
            n_recipes = max(2, round(max(MIN_RECIPE_SHARE, share) * rung.n_recipes))
            n_steps = max(1, round(max(MIN_STEP_SHARE, share) * rung.n_steps))
            rungs.append(Rung(n_recipes, min(rung.n_best, n_recipes), n_steps))
        return replace(self, rungs=tuple(rungs), max_cost=max(MIN_COST_SHARE, share) * self.max_cost)

    def for_work(self, ratio: float) -> "SearchEffort":
        """The effort for models whose step is ``ratio`` times the usual work: as long, by fewer recipes and steps.

        >>> [rung.n_recipes for rung in SearchEffort().for_work(4.0).rungs]
        [31, 17, 9, 4, 4, 4]
        """
        rungs = []
        for rung in self.rungs:
            n_recipes = max(min(MIN_RECIPES, rung.n_recipes), round(rung.n_recipes / ratio**RECIPE_POWER))
            rungs.append(Rung(n_recipes, min(rung.n_best, max(1, n_recipes // 2)), rung.n_steps))
        steps, left = (sum(rung.n_recipes * rung.n_steps for rung in of) for of in (self.rungs, rungs))
        final = replace(self.final, work_per_step=WORK_PER_STEP * max(1.0, MAX_WORK_RATIO * steps / left))
        return replace(self, rungs=tuple(rungs), final=final)

    def with_fits(self, change: Callable[[FitEffort], FitEffort]) -> "SearchEffort":
        """The same effort with the fits of all three phases changed."""
        return replace(
            self,
            screening=change(self.screening),
            local_search=change(self.local_search),
            final=change(self.final),
        )


FAST = SearchEffort(
    screening=replace(SCREENING, n_rows=4_000),
    rungs=(Rung(28, 0, 800), Rung(14, 7, 2_000), Rung(6, 3, 6_000), Rung(3, 2, 14_000)),
    max_cost=3.0,
    n_final=1,
    has_teacher=False,
)
NORMAL = SearchEffort()
THOROUGH = SearchEffort(
    rungs=(
        Rung(96, 0, 4_000), Rung(64, 12, 10_000), Rung(32, 8, 30_000), Rung(16, 6, 80_000), Rung(8, 4, 200_000),
    ),
    max_cost=96.0,
    n_final=4,
)  # fmt: skip
#: The efforts that a user may name.
EFFORTS = {"fast": FAST, "normal": NORMAL, "thorough": THOROUGH}
