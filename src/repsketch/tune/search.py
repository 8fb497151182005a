"""From a problem and a budget to the best sketch: many cheap fits, then few thorough ones, judged on held-out rows."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import InputError
from ..progress import progress_bar
from .problem import Problem
from .smooth import SmoothTrials
from .trials import Family, GreedyTrials, Trial, bit_family, threshold_family

ROUGH_ROWS, ROUGH_STEPS = 6_000, 1_000  # of the cheap fits
N_THOROUGH = 3
STRENGTHS = (3.0, 30.0, 300.0)
MIXTURES = {"classification": 0.5, "regression": 0.7}


@dataclass(frozen=True)
class Recipe:
    """How a sketch is trained: rows of K codes chosen greedily, or (K = 0) interpolated rows of p coordinates."""

    family: str
    n_concat: int = 0
    rate: float = 0.3
    counter_type: str = "int8"
    rank: int = 0  # of the shapes of interpolated rows that fit the budget, the one of the most coordinates first


def recipes_for(problem: Problem) -> Iterator[Recipe]:
    """What is tried."""
    counter_types = ("int4",) if problem.task == "classification" else ("int8", "int4")
    for family in ("thresholds", "bits"):
        for n_concat in (2, 3, 4):
            for counter_type in counter_types:
                yield Recipe(family, n_concat, 0.3, counter_type)
    for rank in range(3):
        yield Recipe("interpolated", rank=rank)


class Bench:
    """Fits recipes to one problem and budget; families of codes are drawn once."""

    def __init__(self, problem: Problem, budget: int, seed: int) -> None:
        self.problem, self.budget, self.seed = problem, budget, seed
        self._families: dict[str, Family] = {}

    def _family(self, name: str) -> Family:
        if name not in self._families:
            make = threshold_family(self.problem) if name == "thresholds" else bit_family(self.problem, self.seed)
            self._families[name] = make
        return self._families[name]

    def fit(self, recipe: Recipe, strengths: tuple[float, ...], n_steps: int) -> Trial | None:
        """The best sketch by this recipe, or None where nothing of the kind is so small."""
        mixture = MIXTURES[self.problem.task]
        if recipe.n_concat == 0:
            smooth = SmoothTrials(self.problem, mixture, n_steps=n_steps, seed=self.seed)
            shapes = list(smooth.shapes(self.budget))
            return smooth.trial(shapes[recipe.rank]) if recipe.rank < len(shapes) else None
        greedy = GreedyTrials(
            self.problem, self._family(recipe.family), recipe.n_concat, recipe.rate, mixture, recipe.counter_type,
            self.budget, self.seed,
        )  # fmt: skip
        return min(greedy.trials(self.budget, strengths), key=lambda trial: trial.loss, default=None)


def search(
    problem: Problem, budget: int, *, seed: int = 0, time_limit: float | None = None, progress: bool = True
) -> list[Trial]:
    """Thorough fits of the most promising recipes, the best first."""
    started = time.monotonic()

    def is_late(share: float) -> bool:
        return time.monotonic() - started > share * (time_limit or float("inf"))

    recipes = list(recipes_for(problem))
    rough = Bench(problem.subset(ROUGH_ROWS, seed), budget, seed)
    found: list[tuple[float, Recipe, Trial]] = []
    with progress_bar("searching", len(recipes) + 4 * N_THOROUGH, enabled=progress) as bar:
        for recipe in recipes:
            trial = None if found and is_late(0.4) else rough.fit(recipe, STRENGTHS[1:2], ROUGH_STEPS)
            if trial is not None:
                found.append((trial.loss, recipe, trial))
            bar.advance(note=recipe.family)
        if not found:
            raise InputError(
                f"a budget of {budget} bytes for {problem.X.shape[1]} columns and {problem.n_outputs} outputs: no "
                "sketch is so small. Raise the budget, or drop columns."
            )
        found.sort(key=lambda entry: entry[0])
        thorough, best = Bench(problem, budget, seed), [found[0][2]]
        for _, recipe, _ in found[:N_THOROUGH]:
            trial = None if is_late(0.9) else thorough.fit(recipe, STRENGTHS, 4 * ROUGH_STEPS)
            best += [] if trial is None else [trial]
            bar.advance(4, note=recipe.family)
    return sorted(best, key=lambda trial: trial.loss)
