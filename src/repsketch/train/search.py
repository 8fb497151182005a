"""From training data and a budget to the best model: hyper-parameters by local search on a validation set.

Three phases. Screening fits one recipe of each kind cheaply. A local search moves from the best of them to recipes that
differ in one hyper-parameter. The best recipes of both are fitted again with more effort, and the one chosen is trained
on all rows where these are few.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain, count

import numpy as np

from ..errors import InputError
from ..progress import progress_bar
from .clock import Clock
from .effort import ALL, NORMAL, SearchEffort
from .families import MAX_BIT_BYTES
from .fitter import RecipeFitter
from .recipes import Recipe, first_recipes, neighbours
from .training_data import TrainingData
from .trials import Trial

#: A recipe is close to the best if its loss is larger by at most this share of what the best one explains: to be a
#: start of the local search or a final fit, and to take turns in the local search.
CLOSE_SHARE, LEADER_SHARE = 0.03, 0.02
N_LEADERS = 2  # recipes that take turns in the local search
MAX_STANDARD_ERRORS = 0.5  # of the mean difference in validation loss; a smaller lead does not justify more bytes
SAME_SIZE_FACTOR = 1.1  # sizes within this factor count as equal
MAX_WORK = 80_000 << 10  # training rows times bytes of budget in the local search: the time of a fit grows with both
RACE_BYTES = 1_024  # larger budgets compare the kinds of greedy rows at this size first
FEWER_ROWS_FROM = 2_048  # bytes; above, fewer greedy rows than fit the budget may be best, and deeper ones
DEEP_CONCAT = 5
SCREENING_COST, FINAL_COST = 2, 9  # of a fit, in units of ``cost_of``
MIN_COST_SHARE = 1 / 16
MIN_GREEDY_ROWS = 400  # chosen even when the time is over: about a second
MIN_INTERPOLATED_SECONDS = 3.0  # with less time, no interpolated rows: torch's optimisers take half of it to start

Fitted = list[tuple[Recipe, Trial]]  #: recipes and their trials, by rising validation loss


def search(
    data: TrainingData,
    budget: int,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    progress: bool = True,
    change: Callable[[Recipe], Recipe | None] = lambda recipe: recipe,
    effort: SearchEffort | None = None,
) -> list[Trial]:
    """Trials of the search: the chosen one first, then the others by rising validation loss.

    Parameters
    ----------
    budget : bytes of a model, at most
    time_limit : seconds, about
    change : gives the recipe to try in place of a recipe, or None to try none
    effort : how much work to do; None for the normal effort, with fewer steps where there are few training rows
    """
    return _Search(data, budget, seed, time_limit, change, effort).run(progress)


class _Search:
    """One search. The methods are its phases, in the order of ``run``."""

    def __init__(
        self,
        data: TrainingData,
        budget: int,
        seed: int,
        time_limit: float | None,
        change: Callable[[Recipe], Recipe | None],
        effort: SearchEffort | None,
    ) -> None:
        n_train = len(data.train_rows)
        self.data, self.budget, self.seed, self.change = data, budget, seed, change
        self.clock = Clock(time_limit)
        self.effort = NORMAL.for_rows(n_train) if effort is None else effort
        self.max_cost = min(1.0, max(MIN_COST_SHARE, n_train / self.effort.full_rows)) * self.effort.max_cost
        self.max_train_rows = ALL if time_limit is None else max(1_000, int(self.effort.rows_per_second * time_limit))
        self.screener = RecipeFitter(
            data, budget, seed, self.effort.screening, self.clock.is_past(0.3), MIN_GREEDY_ROWS
        )

    def run(self, progress: bool) -> list[Trial]:
        """All phases."""
        firsts = self._first_recipes()
        n_raced = sum(recipe.is_greedy for recipe in firsts) if self.budget > RACE_BYTES else 0
        screening_cost = SCREENING_COST * (len(firsts) + n_raced)
        total = screening_cost + self.max_cost + FINAL_COST * (self.effort.n_final + 1)
        with progress_bar("searching", total, enabled=progress) as self.bar:
            screened = self._screen(firsts)
            self.bar.reach(screening_cost)
            searched = self._search_locally(screened)
            self.bar.reach(screening_cost + self.max_cost)
            recipe, chosen, found = self._fit_finally(screened, searched)
        others = [trial for _, trial in found if trial is not chosen]
        return [self._retrained(recipe, chosen), *others]

    def _changed(self, recipes: Iterable[Recipe]) -> list[Recipe]:
        """The recipes that are tried in place of these, each once."""
        return list(dict.fromkeys(recipe for recipe in map(self.change, recipes) if recipe is not None))

    def _fit(self, fitter: RecipeFitter, recipe: Recipe, until: float, cost: float) -> Trial | None:
        """One fit, or None once the share ``until`` of the time is over."""
        trial = None if self.clock.is_past(until)() else fitter.fit(recipe)
        self.bar.advance(cost, note=str(recipe))
        return trial

    def _first_recipes(self) -> list[Recipe]:
        """The recipes to screen; greedy ones alone if there is little time."""
        effort = self.effort
        firsts = self._changed(
            first_recipes(self.data, self.screener.fits, effort.n_first, effort.few_rows, effort.n_first_of_few)
        )
        greedy = [recipe for recipe in firsts if recipe.is_greedy]
        return greedy if greedy and self.clock.seconds_left < MIN_INTERPOLATED_SECONDS else firsts

    def _screen(self, firsts: list[Recipe]) -> Fitted:
        """One cheap fit of each recipe; with much room, greedy ones are compared at fewer bytes first."""
        data, budget = self.data, self.budget
        if budget > RACE_BYTES:
            greedy = [recipe for recipe in firsts if recipe.is_greedy]
            racer = RecipeFitter(data, RACE_BYTES, self.seed, self.effort.screening, self.clock.is_past(0.15))
            raced = _sorted((recipe, self._fit(racer, recipe, 0.1, SCREENING_COST)) for recipe in greedy)
            best = self._changed(best_of_race(raced, data, budget))
            firsts = [*(best or greedy), *(recipe for recipe in firsts if not recipe.is_greedy)]
        screened: dict[Recipe, Trial | None] = {}
        for recipe in firsts:
            until = 0.2 if any(screened.values()) else float("inf")  # one fit is made even when the time is over
            screened[recipe] = self._fit(self.screener, recipe, until, SCREENING_COST)
        found = _sorted(screened.items())
        if not found:
            raise InputError(
                f"a budget of {budget} bytes for {data.X.shape[1]} columns and {data.n_outputs} outputs: no sketch is "
                "so small. Raise the budget, or drop columns."
            )
        return found

    def _search_locally(self, screened: Fitted) -> Fitted:
        data, budget = self.data, self.budget
        n_rows = min(max(self.effort.local_search.n_rows, MAX_WORK // budget), self.max_train_rows)
        effort = replace(self.effort.local_search, n_rows=n_rows)
        fitter = RecipeFitter(data, budget, self.seed, effort, self.clock.is_past(0.7))
        return local_search(
            _varied(_close(screened, data), self.effort.n_starts),
            lambda recipe: self._changed(neighbours(recipe, data)),
            lambda recipe: self._fit(fitter, recipe, 0.6, cost_of(recipe, budget)),
            lambda found: _varied(_close(found, data, LEADER_SHARE), N_LEADERS),
            lambda recipe: cost_of(recipe, budget),
            self.max_cost,
        )

    def _fit_finally(self, screened: Fitted, searched: Fitted) -> tuple[Recipe, Trial, Fitted]:
        """The recipe chosen, its trial, and all trials found; the best recipes are fitted with more effort first."""
        effort = replace(self.effort.final, n_rows=min(self.effort.final.n_rows, self.max_train_rows))
        if self.budget > FEWER_ROWS_FROM:
            effort = replace(effort, shares=(1.0, 0.5, 0.25))
        fitter = RecipeFitter(self.data, self.budget, self.seed, effort, self.clock.is_past(1.0))
        best = _varied(_close(searched or screened, self.data), self.effort.n_final)
        final = [(recipe, self._fit(fitter, recipe, 0.9, FINAL_COST)) for recipe in best]
        found = _sorted([*final, *searched, *screened])
        recipe, chosen = smallest_of_the_best(found)
        again = dict(final).get(recipe) or self._fit(fitter, recipe, 0.9, FINAL_COST)
        if again is not None and is_as_good(again, chosen):  # a short fit may be best by luck alone
            chosen = again
        return recipe, chosen, found

    def _retrained(self, recipe: Recipe, chosen: Trial) -> Trial:
        """The chosen model trained again on all rows, by the same recipe and for as long.

        Its loss stays the validation loss of the first training. A training that fails is dropped: one that takes too
        long, or whose loss on rows it has seen is larger than that of the first on rows it has not.
        """
        if len(self.data.X) > self.effort.max_retrained_rows or self.clock.is_past(0.9)():
            return chosen
        is_late = self.clock.is_past(1.1)
        refits = () if chosen.refit is None else (chosen.refit,)
        effort = replace(
            self.effort.final, n_rows=ALL, n_interpolated_rows=ALL, n_steps=chosen.n_steps, refits=refits,
            shares=(1.0,), max_rows=chosen.n_rows,
        )  # fmt: skip
        again = RecipeFitter(self.data.on_all_rows(), self.budget, self.seed, effort, is_late).fit(recipe)
        if again is None or is_late() or again.loss > chosen.loss:
            return chosen
        return replace(chosen, retrained=again.model)


def local_search(
    starts: list[Recipe],
    near: Callable[[Recipe], Iterable[Recipe]],
    fit: Callable[[Recipe], Trial | None],
    leaders: Callable[[Fitted], list[Recipe]],
    cost: Callable[[Recipe], float],
    max_cost: float,
) -> Fitted:
    """Trials on the way from ``starts`` to neighbours of the best recipe so far, by rising validation loss.

    Parameters
    ----------
    near : the neighbours of a recipe
    leaders : of the trials so far, the recipes whose neighbours are tried next, in turns
    cost, max_cost : no further fit is made once all fits together cost ``max_cost``
    """
    seen: dict[Recipe, Trial | None] = {recipe: fit(recipe) for recipe in starts}
    for turn in count():
        found = _sorted(seen.items())
        if not found or sum(cost(recipe) for recipe, _ in found) >= max_cost:
            break
        leading = leaders(found)
        leader = leading[turn % len(leading)]
        same_family_first = sorted((recipe for recipe, _ in found), key=lambda recipe: recipe.family != leader.family)
        sources = [leader, *same_family_first]
        unseen = (recipe for recipe in chain.from_iterable(map(near, sources)) if recipe not in seen)
        if (recipe := next(unseen, None)) is None:
            break
        seen[recipe] = fit(recipe)
    return found


def cost_of(recipe: Recipe, budget: int) -> float:
    """About how long a fit in the local search takes, in thirds of a second.

    >>> [cost_of(Recipe(family, 0.5), 4096) for family in ("thresholds", "bits", "interpolated")]
    [3.0, 8.0, 3.0]
    """
    if recipe.family == "bits":
        return min(max(2.0, budget / 512), MAX_BIT_BYTES / 512)
    return min(max(1.0, budget / 1024), 3.0) if recipe.is_greedy else 3.0


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


def best_of_race(raced: Fitted, data: TrainingData, budget: int) -> list[Recipe]:
    """The greedy recipes close to the best at few bytes and, with much room, as many deeper ones.

    Of rows over seeded bits, which take the longest to grow, only the best recipe.
    """
    close = _close(raced, data)
    bits = [recipe for recipe in close if recipe.family == "bits"]
    best = [recipe for recipe in close if recipe not in bits[1:]]
    return [*best, *(replace(recipe, n_concat=DEEP_CONCAT) for recipe in best)] if budget > FEWER_ROWS_FROM else best


def _sorted(pairs: Iterable[tuple[Recipe, Trial | None]]) -> Fitted:
    """The pairs that have a trial, by rising validation loss."""
    return sorted(((recipe, trial) for recipe, trial in pairs if trial is not None), key=lambda pair: pair[1].loss)


def _close(found: Fitted, data: TrainingData, share: float = CLOSE_SHARE) -> list[Recipe]:
    """The best recipe and those close to it, by a share of what it explains; none of none."""
    if not found:
        return []
    start = data.validation_objective.start()
    constant = data.validation_losses(np.repeat(start[None], len(data.validation_rows), axis=0)).mean()
    least = found[0][1].loss
    return [recipe for recipe, trial in found if trial.loss <= least + share * abs(constant - least)]


def _varied(recipes: list[Recipe], n: int) -> list[Recipe]:
    """``n`` of the recipes: the first of each family, then the others, in their order."""
    firsts = list({recipe.family: recipe for recipe in reversed(recipes)}.values())
    order = [recipe for recipe in recipes if recipe in firsts] + [recipe for recipe in recipes if recipe not in firsts]
    return order[:n]
