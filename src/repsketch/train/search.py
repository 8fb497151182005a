"""From training data and a budget to the best model: hyper-parameters by successive halving and local search.

Models of stages are trained in rounds: many recipes for few steps, then the best of them and variations of these for
more steps, and so on. Greedy rows are screened beside the first round; where one comes close to the best, a local
search over greedy recipes follows, and the best of them are fitted to all rows. All trials are scored on the same
validation rows. The trial chosen is trained on all rows where these are few.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from typing import Any

import numpy as np

from ..errors import InputError
from ..parallel import Workers
from ..progress import ProgressBar, progress_bar
from .choice import (
    FEWER_ROWS_FROM,
    Fitted,
    best_of_race,
    by_loss,
    close_to_best,
    is_as_good,
    smallest_of_the_best,
    varied,
)
from .clock import Clock
from .cross_validation import CrossFitter
from .effort import ALL, NORMAL, FitEffort, Rung, SearchEffort
from .fitter import Recipe, RecipeFitter
from .local_search import cost_of, local_search
from .recipes import GreedyRecipe, first_greedy_recipes, greedy_neighbours
from .stage_recipes import StageRecipe, first_stage_recipes, vary
from .stage_sizes import StageSizes
from .stage_trials import StageRows, StageTrials
from .stage_work import WORK_PER_STEP
from .training_data import TrainingData
from .trials import Trial, loss_of

LEADER_SHARE = 0.02  # recipes this close to the best take turns in the local search
N_LEADERS = 2  # recipes that take turns in the local search
MAX_WORK = 80_000 << 10  # training rows times bytes of budget in the local search: the time of a fit grows with both
SCREENING_BYTES = 8_192  # of greedy rows in the first round, at most
RACE_BYTES = 1_024  # larger budgets compare the kinds of greedy rows at this size first
SCREENING_COST, FINAL_COST = 2.0, 9.0  # of a greedy fit, in units of ``cost_of``
COST_PER_WORK = 1 / 1e7  # of a fit of stages, in the same units: a third of a second
MIN_GREEDY_ROWS = 400  # chosen even when the time is over: about a second
USUAL_WIDTH = 500  # values times outputs; of wider tables fewer greedy rows and training rows take as long
#: Where training rows are few, larger models than this do not generalise better: bytes for each row, and in all.
MAX_BYTES_PER_ROW, MIN_FEW_BYTES = 4, 512
MIN_WORK_RATIO = 0.4  # of the work of a step to the usual one: smaller models have no more recipes than this gives
NESTED_FROM, NESTED_RATIO = 4_096, 4  # bytes above which a search at a quarter of the budget comes first
MIN_ROWS_PER_BYTE = 4  # training rows; where they are fewer, some recipes use less than the budget
INHERITED_SHARE = 4  # one in so many of the first recipes is among the best of that search
MAX_DRAWS = 200  # of variations for one round; most of them are new

#: The recipe that was chosen, its trial, and all trials.
Outcome = tuple[Recipe, Trial, Fitted]
#: Fitter, recipe, share of the time until it must begin, cost.
Task = tuple[RecipeFitter | CrossFitter, Recipe, float, float]


def search(
    data: TrainingData,
    budget: int,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    progress: bool = True,
    change: Callable[[Recipe], Recipe | None] = lambda recipe: recipe,
    effort: SearchEffort | None = None,
    count: type[StageSizes] = StageSizes,
    title: str = "searching",
    outcomes: dict[int, Outcome | None] | None = None,
) -> list[Trial]:
    """Trials of the search: the chosen one first, then the others by rising validation loss.

    Parameters
    ----------
    budget : bytes of a model, at most
    time_limit : seconds, about
    change : gives the recipe to try in place of a recipe, or None to try none
    effort : how much work to do; None for the normal effort
    count : how bytes of models of stages are counted
    title : of the progress bar
    outcomes : of searches of the same kind over the same data by their bytes, which are not made again; new ones are
        added. Not used with a time limit
    """
    effort = effort or NORMAL
    budgets = [useful_bytes(data, budget, effort)]
    while time_limit is None and budgets[0] > NESTED_FROM:
        budgets.insert(0, budgets[0] // NESTED_RATIO)
    known = {} if outcomes is None or time_limit is not None else outcomes
    largest = _Search(data, budgets.pop(), seed, time_limit, change, effort, count)
    searches = [_Search(data, few, seed, None, change, effort, count, largest) for few in budgets] + [largest]
    new = [each for each in searches if each.budget not in known]
    with largest.workers, progress_bar(title, sum(each.cost for each in new), enabled=progress) as bar:
        for each, smaller in zip(searches, (None, *searches), strict=False):
            if each in new:
                known[each.budget] = each.run(bar, known[smaller.budget] if smaller else None)
        found = {each: outcome for each in searches if (outcome := known[each.budget]) is not None}
        if not found:
            raise InputError(
                f"a budget of {budget} bytes for {data.X.shape[1]} columns and {data.n_outputs} outputs: no sketch is "
                "so small. Raise the budget, or drop columns."
            )
        recipe, chosen = smallest_of_the_best(by_loss((recipe, trial) for recipe, trial, _ in found.values()))
        by = next(each for each, (_, trial, _) in found.items() if trial is chosen)
        others = by_loss(pair for *_, every in found.values() for pair in every if pair[1] is not chosen)
        return [by.retrained(recipe, chosen), *(trial for _, trial in others)]


def useful_bytes(data: TrainingData, budget: int, effort: SearchEffort) -> int:
    """The budget, or less where training rows are few: larger models do not generalise better."""
    n_rows = len(data.train_rows)
    return budget if n_rows >= effort.full_rows else min(budget, max(MIN_FEW_BYTES, MAX_BYTES_PER_ROW * n_rows))


class _Search:
    """One search. The methods are its phases, in the order of ``run``.

    Rows and threads are shared with a ``larger`` one.
    """

    def __init__(
        self,
        data: TrainingData,
        budget: int,
        seed: int,
        time_limit: float | None,
        change: Callable[[Recipe], Recipe | None],
        effort: SearchEffort,
        count: type[StageSizes] = StageSizes,
        larger: "_Search | None" = None,
    ) -> None:
        self.data, self.budget, self.seed, self.change, self.count = data, budget, seed, change, count
        is_few = len(data.train_rows) < effort.full_rows
        has_folds = is_few and effort.n_folds > 1 and not data.trains_on_all
        folds = data.folds(effort.n_folds, seed) if has_folds else (data,)
        self.stage_rows: list[StageRows] = larger.stage_rows if larger else [StageRows(fold) for fold in folds]
        self.folds = [rows.data for rows in self.stage_rows]
        self.is_large = budget > min(NESTED_FROM, len(data.train_rows) // MIN_ROWS_PER_BYTE)
        ratio = work_at(data, self.budget) / WORK_PER_STEP
        self.effort = effort.for_rows(len(data.train_rows)).for_work(max(ratio, 1.0 if is_few else MIN_WORK_RATIO))
        self.clock = Clock(time_limit)
        narrowness = min(1.0, USUAL_WIDTH / (data.n_values * data.n_outputs))
        rows_in_time = ALL if time_limit is None else int(effort.rows_per_second * time_limit * narrowness)
        self.max_train_rows = max(1_000, rows_in_time)
        self.min_greedy_rows = max(MIN_GREEDY_ROWS // 20, int(MIN_GREEDY_ROWS * narrowness))
        self.rng = np.random.default_rng([seed, 21])
        self.workers: Workers = larger.workers if larger else Workers()
        self.screening = replace(effort.screening, n_rows=min(effort.screening.n_rows, self.max_train_rows))
        self.screener = self._fitter(self.screening, 0.3, self.min_greedy_rows)
        few_bytes = min(self.budget, SCREENING_BYTES)
        self.greedy_screener = self._fitter(self.screening, 0.3, self.min_greedy_rows, few_bytes)

    @cached_property
    def _first_greedy(self) -> list[GreedyRecipe]:
        return self._changed(first_greedy_recipes(self.data))

    def _first_stages(self, smaller: Outcome | None) -> list[StageRecipe]:
        """The recipes of stages that the search starts from; the best of one at fewer bytes are among them."""
        n, found = self.effort.rungs[0].n_recipes, [] if smaller is None else smaller[2]
        known = dict.fromkeys(replace(recipe, restart=0) for recipe, _ in found if isinstance(recipe, StageRecipe))
        best = varied(list(known), -(-n // INHERITED_SHARE))
        drawn = first_stage_recipes(self.folds[0], self.seed, is_large=self.is_large, best=best)
        return self._fitting(islice(drawn, MAX_DRAWS), n)

    @cached_property
    def cost(self) -> float:
        """Cost of all fits, about."""
        n_greedy = len(self._first_greedy) * (2 if self.budget > RACE_BYTES else 1)
        rungs = sum(rung.n_recipes * WORK_PER_STEP * rung.n_steps * COST_PER_WORK for rung in self.effort.rungs)
        return SCREENING_COST * n_greedy + rungs + self.effort.max_cost + FINAL_COST * (self.effort.n_final + 1)

    def run(self, bar: ProgressBar, smaller: Outcome | None = None) -> Outcome | None:
        """All phases: the recipe chosen, its trial, and all trials; None if no sketch is as small as the budget.

        ``smaller`` is what a search at fewer bytes has found.
        """
        self.bar = bar
        greedy, found = self._screen(self._first_greedy, self._first_stages(smaller))
        if not greedy and not found:
            return None
        return self._fit_finally(*self._halve(found, greedy))

    def _fitter(
        self, effort: FitEffort, until: float, min_rows: int = 0, budget: int | None = None
    ) -> RecipeFitter | CrossFitter:
        is_past = self.clock.is_past(until)

        def is_late() -> bool:
            return is_past() or self.workers.is_stopped()

        fitters = [
            RecipeFitter(fold, budget or self.budget, self.seed, effort, is_late, min_rows, self.count, shared)
            for fold, shared in zip(self.folds, self.stage_rows, strict=True)
        ]
        return fitters[0] if len(fitters) == 1 else CrossFitter(fitters)

    def _changed(self, recipes: Iterable[Recipe]) -> list[Any]:
        """The recipes that are tried in place of these, each once."""
        return list(dict.fromkeys(recipe for recipe in map(self.change, recipes) if recipe is not None))

    def _fitting(self, recipes: Iterable[StageRecipe], n: int, known: Sequence[Recipe] = ()) -> list[StageRecipe]:
        """The first ``n`` of the recipes that are tried in place of these that are new and fit the budget."""
        found: list[StageRecipe] = []
        for recipe in recipes:
            if len(found) >= n:
                break
            changed = self.change(recipe)
            if isinstance(changed, StageRecipe) and changed not in found and changed not in known:
                found += [changed] if self.screener.shape(changed) is not None else []
        return found

    def _fit(self, task: Task) -> Trial | None:
        """One fit, or None once the share of the time is over."""
        fitter, recipe, until, cost = task
        trial = None if self.clock.is_past(until)() else fitter.fit(recipe)
        self.bar.advance(cost, note=str(recipe))
        return trial

    def _fit_all(self, tasks: Sequence[Task]) -> Fitted:
        """Trials of all tasks, side by side."""
        trials = self.workers.map([partial(self._fit, task) for task in tasks])
        return by_loss((task[1], trial) for task, trial in zip(tasks, trials, strict=True))

    # ---- the first round ----

    def _screen(self, firsts: list[GreedyRecipe], stages: list[StageRecipe]) -> tuple[Fitted, Fitted]:
        """One cheap fit of each recipe, greedy ones and stages; one fit is made even when the time is over."""
        greedy = self._race(firsts) if self.budget > RACE_BYTES else firsts
        tasks: list[Task] = [(self.greedy_screener, recipe, 0.25, SCREENING_COST) for recipe in greedy]
        if tasks:
            tasks[0] = (*tasks[0][:2], float("inf"), SCREENING_COST)
        tasks += self._tasks_of_rung(stages, self.effort.rungs[0], 0.3)
        if tasks and not firsts:
            tasks[0] = (*tasks[0][:2], float("inf"), tasks[0][3])
        found = self._fit_all(tasks)
        return [pair for pair in found if pair[0].is_greedy], [pair for pair in found if not pair[0].is_greedy]

    def _race(self, firsts: list[GreedyRecipe]) -> list[GreedyRecipe]:
        """With much room, greedy recipes are compared at fewer bytes first."""
        racer = self._fitter(self.screening, 0.15, self.min_greedy_rows // 4, RACE_BYTES)
        raced = self._fit_all([(racer, recipe, 0.1, SCREENING_COST) for recipe in firsts])
        return self._changed(best_of_race(raced, self.data, self.budget)) or firsts

    def _tasks_of_rung(self, recipes: Sequence[StageRecipe], rung: Rung, until: float) -> list[Task]:
        n_rows = min(self.effort.final.n_rows, self.max_train_rows)
        effort = replace(self.effort.final, n_rows=n_rows, n_steps=rung.n_steps)
        fitter = self._fitter(effort, until)
        cost = rung.n_steps * WORK_PER_STEP * COST_PER_WORK
        return [(fitter, recipe, until, cost) for recipe in recipes]

    # ---- further rounds, and greedy rows beside them ----

    def _halve(self, found: Fitted, greedy: Fitted) -> tuple[Fitted, Fitted]:
        """Trials of all rounds of stages, and of the local search over greedy recipes, which runs beside them."""
        every, previous, searching = list(found), found, None
        for number, rung in enumerate(self.effort.rungs[1:], 1):
            if number == min(2, len(self.effort.rungs) - 1):  # stages of the first round are too poor to compare with
                close = close_to_best(by_loss([*every, *greedy]), self.data)
                starts = [recipe for recipe in close if recipe.is_greedy][: self.effort.n_starts]
                searching = self.workers.submit(partial(self._search_locally, starts)) if starts else None
            recipes = self._next_recipes(previous, rung, is_last=number == len(self.effort.rungs) - 1)
            is_as_long = rung.n_steps == self.effort.rungs[number - 1].n_steps  # then the best are not fitted again
            again = [pair for pair in previous if pair[0] in recipes] if is_as_long else []
            new = [recipe for recipe in recipes if recipe not in dict(again)]
            fitted = self._fit_all(self._tasks_of_rung(new, rung, 0.6 + 0.3 * number / len(self.effort.rungs)))
            previous, every = by_loss([*again, *fitted]), by_loss([*every, *fitted])
            previous = previous or every
        return every, greedy if searching is None else by_loss([*greedy, *searching.result()])

    def _next_recipes(self, previous: Fitted, rung: Rung, is_last: bool) -> list[StageRecipe]:
        """The best recipes of a round, and variations of them; in the last round, restarts."""
        best = varied([recipe for recipe, _ in previous], rung.n_best)
        if not best:
            return []
        restarts = (replace(source, restart=source.restart + 1 + turn) for turn in range(MAX_DRAWS) for source in best)
        variations = (vary(best, self.folds[0], self.rng, is_large=self.is_large) for _ in range(MAX_DRAWS))
        known = [recipe for recipe, _ in previous]
        return best + self._fitting(restarts if is_last else variations, rung.n_recipes - len(best), known)

    def _search_locally(self, starts: list[GreedyRecipe]) -> Fitted:
        data, cost = self.data, cost_of(self.budget)
        n_rows = min(max(self.effort.local_search.n_rows, MAX_WORK // self.budget), self.max_train_rows)
        fitter = self._fitter(replace(self.effort.local_search, n_rows=n_rows), 0.6)
        return local_search(
            starts,
            lambda recipe: self._changed(greedy_neighbours(recipe, data)),
            lambda recipe: self._fit((fitter, recipe, 0.5, cost)),
            lambda found: varied(close_to_best(found, data, LEADER_SHARE), N_LEADERS),
            cost,
            self.effort.max_cost,
        )

    # ---- the choice ----

    def _fit_finally(self, found: Fitted, searched: Fitted) -> Outcome:
        """The recipe chosen, its trial, and all trials; the best greedy recipes are fitted with more effort first."""
        effort = replace(self.effort.final, n_rows=min(self.effort.final.n_rows, self.max_train_rows))
        if self.budget > FEWER_ROWS_FROM:
            effort = replace(effort, shares=(1.0, 0.5, 0.25))
        fitter = self._fitter(effort, 1.0)
        close = close_to_best(by_loss([*found, *searched]), self.data)
        best = [recipe for recipe in close if recipe.is_greedy][: self.effort.n_final]
        final = self._fit_all([(fitter, recipe, 0.9, FINAL_COST) for recipe in best])
        every = by_loss([*final, *searched, *found])
        recipe, chosen = smallest_of_the_best(every)
        if recipe.is_greedy:  # a fit to few rows may be best by luck alone
            again = dict(final).get(recipe) or self._fit((fitter, recipe, 0.9, FINAL_COST))
            chosen = again if again is not None and is_as_good(again, chosen) else chosen
        return recipe, chosen, every

    def retrained(self, recipe: Recipe, chosen: Trial) -> Trial:
        """The chosen model trained again on all rows, by the same recipe and for as long.

        The chosen one stays if its own loss on all rows is smaller, as that of a lucky start may be, or if the training
        takes too long. The loss stays the validation loss of the first training. After cross-validation, the first is
        that of the split, stopped early.
        """
        if len(self.folds) > 1 and not recipe.is_greedy:
            chosen = self._fit_again(recipe, chosen, self.data, self.clock.is_past(1.0)) or chosen
        if len(self.data.X) > self.effort.max_retrained_rows or self.clock.is_past(0.9)():
            return chosen
        is_late, data = self.clock.is_past(1.1), self.data.on_all_rows()
        again = self._fit_again(recipe, chosen, data, is_late)
        if again is None or is_late() or again.loss > loss_of(chosen.fitted, data):
            return chosen
        return replace(chosen, retrained=again.model)

    def _fit_again(
        self, recipe: Recipe, chosen: Trial, data: TrainingData, is_late: Callable[[], bool]
    ) -> Trial | None:
        """A fit of the chosen recipe to other rows, for as many steps and greedy rows."""
        refits = () if chosen.refit is None else (chosen.refit,)
        effort = replace(
            self.effort.final, n_rows=ALL, n_steps=chosen.n_steps, work_per_step=np.inf, refits=refits,
            shares=(1.0,), max_rows=chosen.n_rows,
        )  # fmt: skip
        same = replace(recipe, steps=1.0) if isinstance(recipe, StageRecipe) else recipe
        return RecipeFitter(data, self.budget, self.seed, effort, is_late, count=self.count).fit(same)


def work_at(data: TrainingData, budget: int) -> float:
    """Work of a step of a plain model of this size, one hidden stage and rows; 0 if none is so small."""
    trials = StageTrials(StageRows(data), StageRecipe(0.0))
    shape = trials.shape(budget)
    return 0.0 if shape is None else trials.work(shape)
