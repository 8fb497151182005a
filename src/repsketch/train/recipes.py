"""Ways to train a sketch: which are tried first, and which lie next to a promising one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile

from ..model.inputs import NUMERIC
from .columns import READINGS
from .interpolated import STARTS
from .training_data import TrainingData

COMPONENTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)
N_FIRST = 4  # numbers of coordinates that are tried first
SMALL, N_FIRST_OF_SMALL = 500, 2  # training rows below which so many are: validation rows cannot tell more apart
CONCATS = (1, 2, 3, 4, 5, 6)
RATES = (0.05, 0.1, 0.3, 0.6, 1.0)
LEVELS = (4, 8, 16)
SPEEDS = (0.01, 0.02, 0.04)
COUNTER_TYPES = ("int4", "int8")
STACKED = (0, 2)
REUSES = (0.0, 0.3, 1.0)
NOISES = (0.0, 0.1, 0.3, 0.6)
DECAYS = (0.0, 0.1, 0.3, 1.0)
#: From so many columns on, where so few coordinates fit, such by weights of -1, 0 and +1 are glanced at.
WIDE, FEW_COMPONENTS = 24, 16
FIRST_READINGS = ("standard", "common")
FEW_ROWS = 100  # for each column: classifiers are then shown noise from the first
SHARES = (0.0, 0.3, 0.5, 0.7, 0.9)  # of the teacher
MIXTURES = {"classification": 0.5, "regression": 0.7}


@dataclass(frozen=True)
class Recipe:
    """How a sketch is trained.

    Attributes
    ----------
    family : "thresholds" of one byte, "fine thresholds" of two, or "bits": rows of K codes chosen greedily, with a
        rate; or "interpolated": rows of R levels over p coordinates, trained end to end
    mixture : share of the teacher in what is learned
    reuse : how much more codes count that an earlier row has
    reading : how columns are read before a projection
    n_stacked : K of rows that are grown on what interpolated rows leave, with the rate; 0 for none
    noise : added to what interpolated rows are shown, in standard deviations
    decay : how fast what interpolated rows have learned fades
    projection_type : "int8", or "ternary", which takes a quarter of the bytes
    start, speed : where interpolated rows start from, and their largest steps
    """

    family: str
    mixture: float
    n_concat: int = 4
    rate: float = 0.3
    counter_type: str = "int4"
    reuse: float = 0.3
    n_components: int = 4
    n_levels: int = 8
    reading: str = "standard"
    n_stacked: int = 0
    noise: float = 0.0
    decay: float = 0.1
    projection_type: str = "int8"
    start: str = "principal"
    speed: float = 0.02

    @property
    def is_greedy(self) -> bool:
        """Rows are chosen one after the other."""
        return self.family != "interpolated"

    def __str__(self) -> str:
        if self.is_greedy:
            codes = "random bits" if self.family == "bits" else self.family
            return (
                f"greedy rows over {codes} ({self.n_concat} per row, learning rate {self.rate:g}, {self.counter_type})"
            )
        kind = "ternary " if self.projection_type == "ternary" else ""
        components = f"{self.n_components} {kind}component{'s' * (self.n_components != 1)}"
        stacked = ", then greedy rows" if self.n_stacked else ""
        shown = f"{self.n_levels} levels, learning rate {self.speed:g}"
        return f"interpolated rows over {components}{stacked} ({shown})"


def has_numbers(problem: TrainingData) -> bool:
    """True if some column is neither boolean nor of categories."""
    return bool((problem.kinds == NUMERIC).any())


def first_recipes(problem: TrainingData, fits: Callable[[Recipe], bool]) -> Iterator[Recipe]:
    """One of each kind, to see which suits the data; interpolated ones from the largest that fits downwards."""
    mixture = MIXTURES[problem.task]
    counter_type = "int4" if problem.task == "classification" else "int8"
    for family in ("thresholds", *(("fine thresholds",) if has_numbers(problem) else ()), "bits"):
        reuse = 0.0 if family == "bits" else Recipe.reuse
        for share in (mixture, 0.0) if problem.answers is not None else (mixture,):
            yield Recipe(family, share, counter_type=counter_type, reuse=reuse)
    is_few = problem.task == "classification" and len(problem.kept) < FEW_ROWS * problem.n_columns
    smooth = Recipe("interpolated", mixture, rate=0.1, noise=0.6 if is_few else 0.0)
    fitting = _fitting(smooth, fits)
    n_first = N_FIRST if len(problem.kept) >= SMALL else N_FIRST_OF_SMALL
    firsts = _spread(fitting, n_first)
    yield from firsts
    yield from (replace(recipe, start="screened") for recipe in firsts[1:-1])
    yield from (replace(recipe, decay=DECAYS[-1]) for recipe in firsts[-2:])
    readings = FIRST_READINGS[: 2 if has_numbers(problem) else 1]
    if len(fitting) < N_FIRST and len(readings) > 1:  # ranges of columns leave no room
        yield from _spread(_fitting(replace(smooth, reading="common"), fits), n_first)
    is_tight = not fitting or fitting[-1].n_components < FEW_COMPONENTS
    for reading in readings if problem.n_columns >= WIDE and is_tight else ():
        ternary = replace(smooth, projection_type="ternary", reading=reading)
        yield from _spread(_fitting(ternary, fits)[-3:], 2)
    if problem.n_outputs > 2:  # a row is mostly the vector that decodes it: few levels leave room for more of them
        for reading in readings if is_tight else readings[:1]:
            yield from _fitting(replace(smooth, n_levels=LEVELS[0], reading=reading), fits)[-2:]


def _fitting(recipe: Recipe, fits: Callable[[Recipe], bool]) -> list[Recipe]:
    """The recipe with all numbers of coordinates that fit, rising."""
    return list(takewhile(fits, (replace(recipe, n_components=n) for n in COMPONENTS)))


def _spread(recipes: list[Recipe], n: int) -> list[Recipe]:
    """So many of them, evenly spread, the last one among them, without the first quarter."""
    low, high = len(recipes) // 4, len(recipes) - 1
    places = sorted({round(low + (high - low) * k / (n - 1)) for k in range(n)}) if recipes else []
    return [recipes[place] for place in places]


def neighbours(recipe: Recipe, problem: TrainingData) -> Iterator[Recipe]:
    """Recipes that differ in one thing, what tells most first."""
    values: dict[str, tuple]
    if recipe.is_greedy:
        values = {"n_concat": CONCATS, "mixture": SHARES, "rate": RATES, "reuse": REUSES, "counter_type": COUNTER_TYPES}
        if recipe.family == "bits":  # its codes come from the seed: a new one takes no byte
            del values["reuse"]
    else:
        values = {
            "start": tuple(STARTS), "n_components": COMPONENTS, "decay": DECAYS, "noise": NOISES, "n_stacked": STACKED,
            "mixture": SHARES, "speed": SPEEDS, "reading": READINGS, "n_levels": LEVELS,
        }  # fmt: skip
    if problem.answers is None:
        del values["mixture"]
    if not has_numbers(problem):
        values.pop("reading", None)
    for name, choices in values.items():
        place = choices.index(getattr(recipe, name))
        for near in (place + 1, place - 1):
            if 0 <= near < len(choices):
                yield replace(recipe, **{name: choices[near]})
