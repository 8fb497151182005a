"""Ways to train a sketch: which are tried first, and which lie next to a promising one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from ..sketch.inputs import NUMERIC
from ..sketch.train.columns import READINGS
from .problem import Problem

COMPONENTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
FIRST_COMPONENTS = (2, 4, 12, 32)
CONCATS = (1, 2, 3, 4, 5, 6)
RATES = (0.05, 0.1, 0.3, 0.6)
LEVELS = (4, 8, 16)
NOISES = (0.0, 0.1, 0.3, 0.6)
#: Columns from which on coordinates by weights of -1, 0 and +1 are glanced at, how many, and how columns are read.
WIDE, FIRST_TERNARY, FIRST_READINGS = 24, (8, 16), ("standard", "common")
FEW_ROWS = 100  # for each column: classifiers are then shown noise from the first
SHARES = (0.0, 0.3, 0.5, 0.7, 0.9)  # of the teacher
MIXTURES = {"classification": 0.5, "regression": 0.7}
#: Bytes beyond which rows are many: they take smaller steps.
LARGE = 4_096


@dataclass(frozen=True)
class Recipe:
    """How a sketch is trained.

    Attributes
    ----------
    family : "thresholds" of one byte, "fine thresholds" of two, or "bits": rows of K codes chosen greedily, with a
        rate; or "interpolated": rows of R levels over p coordinates, trained end to end
    mixture : share of the teacher in what is learned
    reading : how columns are read before a projection
    n_stacked : K of rows that are grown on what interpolated rows leave; 0 for none
    noise : added to what interpolated rows are shown, in standard deviations
    projection_type : "int8", or "ternary", which takes a quarter of the bytes
    """

    family: str
    mixture: float
    n_concat: int = 3
    rate: float = 0.3
    counter_type: str = "int4"
    n_components: int = 4
    n_levels: int = 8
    reading: str = "standard"
    n_stacked: int = 0
    noise: float = 0.0
    projection_type: str = "int8"

    @property
    def is_greedy(self) -> bool:
        """Rows are chosen one after the other."""
        return self.family != "interpolated"

    def __str__(self) -> str:
        if self.is_greedy:
            return f"{self.family} K={self.n_concat} rate={self.rate:g} {self.counter_type} mixture={self.mixture:g}"
        stacked = f" + thresholds K={self.n_stacked}" if self.n_stacked else ""
        shown = f"{self.reading} noise={self.noise:g} mixture={self.mixture:g}"
        return f"interpolated p={self.n_components} R={self.n_levels} {self.projection_type} {shown}{stacked}"


def first_recipes(problem: Problem, budget: int) -> Iterator[Recipe]:
    """One of each kind, to see which suits the data."""
    has_numbers = bool((problem.kinds == NUMERIC).any())
    mixture = MIXTURES[problem.task]
    counter_type = "int4" if problem.task == "classification" else "int8"
    for family in ("thresholds", *(("fine thresholds",) if has_numbers else ()), "bits"):
        yield Recipe(family, mixture, counter_type=counter_type, rate=0.1 if budget > LARGE else 0.3)
    most = max(p for p in COMPONENTS if p < 2 * problem.n_columns or p == 1)  # more coordinates tell nothing new
    is_few = problem.task == "classification" and len(problem.kept) < FEW_ROWS * problem.n_columns
    noise = 0.3 if is_few else 0.0
    for n_components in sorted({min(p, most) for p in FIRST_COMPONENTS}):
        yield Recipe("interpolated", mixture, n_components=n_components, noise=noise)
    ternary = Recipe("interpolated", mixture, noise=noise, projection_type="ternary")
    for n_components, reading in product(FIRST_TERNARY, FIRST_READINGS) if problem.n_columns >= WIDE else ():
        yield replace(ternary, n_components=n_components, reading=reading)


def neighbours(recipe: Recipe, problem: Problem) -> Iterator[Recipe]:
    """Recipes that differ in one thing."""
    if recipe.is_greedy:
        steps: dict[str, tuple] = {"n_concat": CONCATS, "rate": RATES}
        other = "int8" if recipe.counter_type == "int4" else "int4"
        yield replace(recipe, counter_type=other)
    else:
        steps = {"n_components": COMPONENTS, "noise": NOISES, "n_levels": LEVELS}
        if (problem.kinds == NUMERIC).any():
            yield from (replace(recipe, reading=reading) for reading in READINGS if reading != recipe.reading)
        yield replace(recipe, n_stacked=0, rate=0.3) if recipe.n_stacked else replace(recipe, n_stacked=2, rate=0.1)
    if problem.answers is not None:
        steps["mixture"] = SHARES
    for name, values in steps.items():
        place = values.index(getattr(recipe, name))
        for near in (place - 1, place + 1):
            if 0 <= near < len(values):
                yield replace(recipe, **{name: values[near]})
