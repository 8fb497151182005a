"""From a problem and a budget to the best sketch: many cheap fits, then few thorough ones, judged on held-out rows."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from ..model.model import Model
from ..progress import progress_bar
from .clock import Clock, OutOfTime, never
from .families import Family, bit_family, threshold_family
from .interpolated import Shape
from .interpolated_trials import SmoothTrials
from .recipes import Recipe, first_recipes, neighbours
from .training_data import TrainingData
from .trials import MOST_ROWS, Base, GreedyTrials, Refit, Trial

CLOSE = 0.03  # of what the best recipe explains: others so near to it are starts of the climb, too
N_STARTS, N_THOROUGH = 3, 2  # recipes to start from, and fitted thoroughly in the end
CLIMBED = 48  # what may be spent on the way, by ``cost_of``: some twenty seconds
N_LEADERS, CLOSER = 2, 0.02  # kinds that are climbed from in turns, as long as they are so close
NOISE = 0.5  # standard errors of the mean difference on the rows held out; so little is no reason for more bytes
ALIKE = 1.1  # times as many bytes count as equally many
SMALL_ROWS = 20_000  # of so few rows none is spared in the end: the best recipe is trained again on all
MOST_WORK = 80_000 << 10  # rows of data times bytes of budget in a climb: rows of a sketch take time by both
RACED = 1_024  # bytes at which kinds of greedy rows are compared, where there is more room
FEWER_FROM = 2_048  # bytes; from there on fewer rows than fit may be best, and deeper ones
DEEP = 5
MOST_BIT_BYTES = 6_144  # of seeded bits: more of them take long to grow, and thresholds are then as good
GLANCED, FINISHED = 2, 9  # what a glance and a thorough fit cost, as ``cost_of``
#: Training rows from which on a search makes all its fits, and takes all steps of each: fewer rows cannot tell as many
#: recipes apart, and need fewer steps. And the smallest shares of both.
FULL_ROWS, FULL_STEP_ROWS = 3_000, 1_000
SMALLEST_SHARE, FEWEST_STEPS = 1 / 16, 1 / 8
MOST_ENTRIES = 1 << 26  # training rows times values: half a gigabyte while they are read
FEWEST_GROWN = 400  # rows of counters that are chosen however late it is: a second or so
START_SECONDS = 3.0  # with less time interpolated rows are not tried: the start of torch's optimisers takes half of it
ROWS_A_SECOND = 20_000  # training rows, at most, for every second of a time limit


@dataclass(frozen=True)
class Effort:
    """How thoroughly a recipe is fitted.

    Attributes
    ----------
    n_rows : rows of data that greedy rows are chosen on
    n_smooth_rows, n_steps : rows of data for interpolated rows, and steps of gradient descent, which take the time
    refits, shares : ways to refit greedy rows, and shares of them, to be tried
    most_rows : rows chosen greedily, at most
    """

    n_rows: int
    n_smooth_rows: int
    n_steps: int
    refits: tuple[Refit, ...]
    shares: tuple[float, ...] = (1.0,)
    most_rows: int = MOST_ROWS


ALL = 1 << 40
GLANCE = Effort(8_000, 20_000, 800, (Refit(10.0),))
CLIMB = Effort(10_000, 40_000, 1_200, (Refit(3.0), Refit(30.0, True), Refit(1_000.0, True)))
THOROUGH = Effort(
    ALL, ALL, 4_000, (Refit(1.0), Refit(3.0), Refit(30.0), Refit(30.0, True), Refit(300.0, True), Refit(3_000.0, True))
)


class Efforts(NamedTuple):
    """The efforts of a search: a glance at each kind, every step of the climb, and the best few in the end."""

    glance: Effort = GLANCE
    climb: Effort = CLIMB
    thorough: Effort = THOROUGH

    def scaled(self, share: float) -> "Efforts":
        """The same efforts with a share of the steps of gradient descent."""
        return Efforts(*(replace(effort, n_steps=max(1, round(share * effort.n_steps))) for effort in self))


EFFORTS = Efforts()


class Bench:
    """Fits recipes to one problem and budget with one effort; codes are drawn and interpolated rows trained once."""

    def __init__(
        self,
        problem: TrainingData,
        budget: int,
        seed: int,
        effort: Effort,
        is_late: Callable[[], bool] = never,
        fewest_rows: int = 0,
    ) -> None:
        most = MOST_ENTRIES // problem.n_values
        self.problem, self.smooth_problem = (
            problem.subset(min(n, most), seed) for n in (effort.n_rows, effort.n_smooth_rows)
        )
        self.budget, self.seed, self.effort = budget, seed, effort
        self.is_late, self.fewest_rows = is_late, fewest_rows
        self._families: dict[str, Family] = {}
        self._trained: dict[Recipe, Model] = {}

    def _family(self, name: str) -> Family:
        if name not in self._families:
            make: dict[str, Callable[[], Family]] = {
                "thresholds": lambda: threshold_family(self.problem, self.problem.ranged),
                "fine thresholds": lambda: threshold_family(self.problem, self.problem.finely_ranged),
                "bits": lambda: bit_family(self.problem, self.seed),
            }
            self._families[name] = make[name]()
        return self._families[name]

    def _smooth(self, recipe: Recipe) -> tuple[SmoothTrials, Shape | None]:
        """Interpolated rows, and how many of what size fit; None if none do."""
        smooth = SmoothTrials(self.smooth_problem, recipe, self.effort.n_steps, self.seed)
        return smooth, smooth.shape(self.budget)

    def fits(self, recipe: Recipe) -> bool:
        """True if interpolated rows by this recipe are small enough."""
        return self._smooth(recipe)[1] is not None

    def fit(self, recipe: Recipe) -> Trial | None:
        """The best sketch by this recipe, or None where nothing of the kind is so small."""
        if recipe.is_greedy:
            return self._grow(recipe, self._family(recipe.family), recipe.n_concat)
        smooth, shape = self._smooth(recipe)
        if shape is None:
            return None
        alone = replace(recipe, n_stacked=0, rate=0.0)
        if alone not in self._trained:
            try:
                self._trained[alone] = smooth.trained(shape, self.is_late)
            except (InputError, OutOfTime):  # the first: coordinates that spread so far as whole numbers do not
                return None
        model = self._trained[alone]
        if not recipe.n_stacked:
            return smooth.trial(model, shape)
        base = Base.of(model, self.problem)
        family = threshold_family(self.problem, smooth.inputs, is_fixed=True)
        trial = self._grow(recipe, family, recipe.n_stacked, base)
        return None if trial is None else replace(trial, n_steps=self.effort.n_steps)

    def _grow(self, recipe: Recipe, family: Family, n_concat: int, base: Base | None = None) -> Trial | None:
        budget = min(self.budget, MOST_BIT_BYTES) if family.name == "bits" else self.budget
        greedy = GreedyTrials(
            self.problem, family, n_concat, recipe.rate, recipe.mixture, recipe.counter_type, budget, recipe.reuse,
            self.seed, self.effort.most_rows, base, self.is_late, self.fewest_rows,
        )  # fmt: skip
        return greedy.best(self.effort.refits, self.effort.shares)


def search(
    problem: TrainingData,
    budget: int,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    progress: bool = True,
    change: Callable[[Recipe], Recipe | None] = lambda recipe: recipe,
    efforts: Efforts | None = None,
) -> list[Trial]:
    """Thorough fits of the most promising recipes, the best first.

    One recipe of each kind is glanced at. From the best of them a climb looks at the neighbours of the best so far.
    The best recipes on its way are fitted to all rows, and so is the one chosen. ``change`` says what is tried in place
    of a recipe, None for nothing.
    """
    clock = Clock(time_limit)
    n_training = len(problem.kept)
    if efforts is None:
        efforts = EFFORTS.scaled(min(1.0, max(FEWEST_STEPS, n_training / FULL_STEP_ROWS)))
    most_cost = min(1.0, max(SMALLEST_SHARE, n_training / FULL_ROWS)) * CLIMBED
    glance = Bench(problem, budget, seed, efforts.glance, clock.is_past(0.3), FEWEST_GROWN)
    thorough = efforts.thorough
    if budget > FEWER_FROM:
        thorough = replace(thorough, shares=(1.0, 0.5, 0.25))

    def changed(recipes: Iterable[Recipe]) -> list[Recipe]:
        return list(dict.fromkeys(recipe for recipe in map(change, recipes) if recipe is not None))

    firsts = changed(first_recipes(problem, glance.fits))
    greedy = [recipe for recipe in firsts if recipe.is_greedy]
    if greedy and clock.seconds_left < START_SECONDS:
        firsts = greedy
    looked = GLANCED * (len(firsts) + (len(greedy) if budget > RACED else 0))
    with progress_bar("searching", looked + most_cost + FINISHED * (N_THOROUGH + 1), enabled=progress) as bar:

        def fit(bench: Bench, recipe: Recipe, until: float, cost: float) -> Trial | None:
            """One fit, unless that share of the time is over."""
            trial = None if clock.is_past(until)() else bench.fit(recipe)
            bar.advance(cost, note=str(recipe))
            return trial

        if budget > RACED:
            race = Bench(problem, RACED, seed, efforts.glance, clock.is_past(0.15))
            raced = _sorted((recipe, fit(race, recipe, 0.1, GLANCED)) for recipe in greedy)
            ahead = changed(_ahead(raced, problem, budget))
            firsts = [*(ahead or greedy), *(recipe for recipe in firsts if not recipe.is_greedy)]
        glanced: dict[Recipe, Trial | None] = {}
        for recipe in firsts:
            is_first = not any(glanced.values())  # however late it is, there must be one
            glanced[recipe] = fit(glance, recipe, float("inf") if is_first else 0.2, GLANCED)
        found = _sorted(glanced.items())
        if not found:
            raise InputError(
                f"a budget of {budget} bytes for {problem.X.shape[1]} columns and {problem.n_outputs} outputs: no "
                "sketch is so small. Raise the budget, or drop columns."
            )
        bar.reach(looked)
        most_rows = ALL if time_limit is None else max(1_000, int(ROWS_A_SECOND * time_limit))
        n_rows = min(max(efforts.climb.n_rows, MOST_WORK // budget), most_rows)
        bench = Bench(problem, budget, seed, replace(efforts.climb, n_rows=n_rows), clock.is_past(0.7))
        climbed = climb(
            _varied(_close(found, problem), N_STARTS),
            lambda recipe: changed(neighbours(recipe, problem)),
            lambda recipe: fit(bench, recipe, 0.6, cost_of(recipe, budget)),
            lambda found: _varied(_close(found, problem, CLOSER), N_LEADERS),
            lambda recipe: cost_of(recipe, budget),
            most_cost,
        )
        bar.reach(looked + most_cost)
        thorough = replace(thorough, n_rows=min(thorough.n_rows, most_rows))
        bench = Bench(problem, budget, seed, thorough, clock.is_past(1.0))
        best = _varied(_close(climbed or found, problem), N_THOROUGH)
        fitted = [(recipe, fit(bench, recipe, 0.9, FINISHED)) for recipe in best]
        found = _sorted([*fitted, *climbed, *found])
        recipe, chosen = smallest_of_the_best(found)
        longer = dict(fitted).get(recipe) or fit(bench, recipe, 0.9, FINISHED)
        if longer is not None and is_as_good(longer, chosen):  # a short training owes its place to luck
            chosen = longer
    others = [trial for _, trial in found if trial is not chosen]
    if len(problem.X) <= SMALL_ROWS and not clock.is_past(0.9)():
        chosen = _trained_on_all(problem, budget, seed, recipe, chosen, clock.is_past(1.1))
    return [chosen, *others]


def is_as_good(trial: Trial, other: Trial) -> bool:
    """True if the other does not lead by more than half a standard error of the difference."""
    behind = trial.losses - other.losses
    return bool(behind.mean() <= NOISE * behind.std() / np.sqrt(len(behind)))


def smallest_of_the_best(found: list[tuple[Recipe, Trial]]) -> tuple[Recipe, Trial]:
    """Of sorted trials that the best does not lead by more than half a standard error the smallest.

    Of many sketches judged on the same few rows the best owes its place to luck, too, and a large one more so. A tenth
    of the bytes more or less is no difference: of such the best is taken.
    """
    as_good = [pair for pair in found if is_as_good(pair[1], found[0][1])]
    most = ALIKE * min(trial.judged.nbytes for _, trial in as_good)
    return next(pair for pair in as_good if pair[1].judged.nbytes <= most)


def _sorted(pairs: Iterable[tuple[Recipe, Trial | None]]) -> list[tuple[Recipe, Trial]]:
    """Those that could be fitted, the best first."""
    return sorted(((r, trial) for r, trial in pairs if trial is not None), key=lambda pair: pair[1].loss)


def _ahead(raced: list[tuple[Recipe, Trial]], problem: TrainingData, budget: int) -> list[Recipe]:
    """The recipes that a race at few bytes did not show behind, and with much room as many deeper ones.

    Of bits, which take the longest to grow, it is the best only.
    """
    close = _close(raced, problem)
    bits = [recipe for recipe in close if recipe.family == "bits"]
    best = [recipe for recipe in close if recipe not in bits[1:]]
    return [*best, *(replace(recipe, n_concat=DEEP) for recipe in best)] if budget > FEWER_FROM else best


def _close(found: list[tuple[Recipe, Trial]], problem: TrainingData, share: float = CLOSE) -> list[Recipe]:
    """The best recipe and those close to it, by a share of what it explains; none of none."""
    if not found:
        return []
    constant = problem.held_objective.loss(np.repeat(problem.held_objective.start()[None], len(problem.held), axis=0))
    least = found[0][1].loss
    return [recipe for recipe, trial in found if trial.loss <= least + share * abs(constant - least)]


def _varied(recipes: list[Recipe], n: int) -> list[Recipe]:
    """So many of them: the first of each family, then the others, in their order."""
    firsts = list({recipe.family: recipe for recipe in reversed(recipes)}.values())
    order = [recipe for recipe in recipes if recipe in firsts] + [recipe for recipe in recipes if recipe not in firsts]
    return order[:n]


def cost_of(recipe: Recipe, budget: int) -> float:
    """What a fit on the climb takes, in thirds of a second or so.

    >>> [cost_of(Recipe(family, 0.5), 4096) for family in ("thresholds", "bits", "interpolated")]
    [3.0, 8.0, 3.0]
    """
    if recipe.family == "bits":
        return min(max(2.0, budget / 512), MOST_BIT_BYTES / 512)
    return min(max(1.0, budget / 1024), 3.0) if recipe.is_greedy else 3.0


def climb(
    starts: list[Recipe],
    near: Callable[[Recipe], Iterable[Recipe]],
    fit: Callable[[Recipe], Trial | None],
    leaders: Callable[[list[tuple[Recipe, Trial]]], list[Recipe]],
    cost: Callable[[Recipe], float],
    most_cost: float | None = None,
) -> list[tuple[Recipe, Trial]]:
    """What was found on the way from ``starts`` to a neighbour of the best, of the best then, and so on; sorted.

    ``leaders`` names those of the sorted finds whose neighbours are looked at next, in turns. No further fit is made
    once all of them cost ``most_cost``.
    """
    most_cost = CLIMBED if most_cost is None else most_cost
    seen: dict[Recipe, Trial | None] = {recipe: fit(recipe) for recipe in starts}
    for turn in count():
        found = _sorted(seen.items())
        if not found or sum(cost(recipe) for recipe, _ in found) >= most_cost:
            break
        leading = leaders(found)
        leader = leading[turn % len(leading)]
        kin = sorted((recipe for recipe, _ in found), key=lambda recipe: recipe.family != leader.family)
        unseen = (recipe for recipe in chain.from_iterable(map(near, [leader, *kin])) if recipe not in seen)
        if (recipe := next(unseen, None)) is None:
            break
        seen[recipe] = fit(recipe)
    return found


def _trained_on_all(
    problem: TrainingData, budget: int, seed: int, recipe: Recipe, chosen: Trial, is_late: Callable[[], bool]
) -> Trial:
    """The chosen sketch, trained on all rows as long as it was; its loss stays that of rows it had not seen.

    One that is then worse on rows that it has seen stays as it was.
    """
    refits = () if chosen.refit is None else (chosen.refit,)
    effort = replace(THOROUGH, n_steps=chosen.n_steps, refits=refits, most_rows=chosen.n_rows)
    again = Bench(problem.whole(), budget, seed, effort, is_late).fit(recipe)
    if again is None or is_late() or again.loss > chosen.loss:  # on rows it has seen: the training failed
        return chosen
    return replace(chosen, retrained=again.model)
