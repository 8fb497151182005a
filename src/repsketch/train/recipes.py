"""Recipes, the hyper-parameters of a sketch: which are screened first, and the neighbours of each in a local search."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile

from ..model.inputs import NUMERIC
from .columns import SCALINGS
from .interpolated import STARTS
from .training_data import TrainingData

COMPONENTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)
N_FIRST = 4  # numbers of components that are screened
FEW_TRAIN_ROWS, N_FIRST_OF_FEW = 500, 2  # with fewer training rows, validation rows cannot tell more apart
CONCATS = (1, 2, 3, 4, 5, 6)
SHRINKAGES = (0.05, 0.1, 0.3, 0.6, 1.0)
LEVELS = (4, 8, 16)
LEARNING_RATES = (0.01, 0.02, 0.04)
COUNTER_TYPES = ("int4", "int8")
STACKED = (0, 2)
REUSES = (0.0, 0.3, 1.0)
NOISES = (0.0, 0.1, 0.3, 0.6)
WEIGHT_DECAYS = (0.0, 0.1, 0.3, 1.0)
#: Ternary projections are screened for tables of ``WIDE`` columns and more where fewer than ``FEW_COMPONENTS`` fit.
WIDE, FEW_COMPONENTS = 24, 16
FIRST_SCALINGS = ("standard", "common")
FEW_ROWS = 100  # training rows per column; classifiers with fewer are screened with noise added to the inputs
TEACHER_SHARES = (0.0, 0.3, 0.5, 0.7, 0.9)
MIXTURES = {"classification": 0.5, "regression": 0.7}


@dataclass(frozen=True)
class Recipe:
    """The hyper-parameters of a sketch.

    Attributes
    ----------
    family : "thresholds" of one byte, "fine thresholds" of two, or "bits": rows of K codes chosen greedily; or
        "interpolated": rows of R levels over p components, trained by gradient descent
    mixture : weight of the soft labels in the loss; the labels have the rest
    n_concat, shrinkage : of greedy rows, codes a row and the share of a Newton step that each row takes
    reuse : share by which the gain of a code grows if an earlier row has it already
    n_components, n_levels : p and R of interpolated rows
    scaling : how numeric columns are scaled before a projection, one of ``SCALINGS``
    n_stacked : codes a row of greedy rows fitted to the residuals of interpolated rows; 0 for none
    noise : standard deviation of the noise added to standardised inputs while interpolated rows are trained
    weight_decay, learning_rate : of the gradient descent
    projection_type : "int8", or "ternary", which takes a quarter of the bytes
    start : how the projection is initialised, one of ``STARTS``
    """

    family: str
    mixture: float
    n_concat: int = 4
    shrinkage: float = 0.3
    counter_type: str = "int4"
    reuse: float = 0.3
    n_components: int = 4
    n_levels: int = 8
    scaling: str = "standard"
    n_stacked: int = 0
    noise: float = 0.0
    weight_decay: float = 0.1
    projection_type: str = "int8"
    start: str = "principal"
    learning_rate: float = 0.02

    @property
    def is_greedy(self) -> bool:
        """True if rows are chosen greedily, one after the other."""
        return self.family != "interpolated"

    def __str__(self) -> str:
        if self.is_greedy:
            codes = "random bits" if self.family == "bits" else self.family
            sizes = f"{self.n_concat} per row, learning rate {self.shrinkage:g}, {self.counter_type}"
            return f"greedy rows over {codes} ({sizes})"
        kind = "ternary " if self.projection_type == "ternary" else ""
        components = f"{self.n_components} {kind}component{'s' * (self.n_components != 1)}"
        stacked = ", then greedy rows" if self.n_stacked else ""
        shown = f"{self.n_levels} levels, learning rate {self.learning_rate:g}"
        return f"interpolated rows over {components}{stacked} ({shown})"


def has_numbers(data: TrainingData) -> bool:
    """True if some column is numeric."""
    return bool((data.kinds == NUMERIC).any())


def first_recipes(
    data: TrainingData,
    fits: Callable[[Recipe], bool],
    n_first: int = N_FIRST,
    few_rows: int = FEW_TRAIN_ROWS,
    n_first_of_few: int = N_FIRST_OF_FEW,
) -> Iterator[Recipe]:
    """Recipes of every kind to screen; of interpolated rows, ``n_first`` numbers of components among those that fit.

    With fewer training rows than ``few_rows`` it is ``n_first_of_few`` numbers.
    """
    mixture = MIXTURES[data.task]
    counter_type = "int4" if data.task == "classification" else "int8"
    for family in ("thresholds", *(("fine thresholds",) if has_numbers(data) else ()), "bits"):
        reuse = 0.0 if family == "bits" else Recipe.reuse
        for share in (mixture, 0.0) if data.soft_labels is not None else (mixture,):
            yield Recipe(family, share, counter_type=counter_type, reuse=reuse)
    is_few = data.task == "classification" and len(data.train_rows) < FEW_ROWS * data.n_columns
    interpolated = Recipe("interpolated", mixture, shrinkage=0.1, noise=0.6 if is_few else 0.0)
    fitting = _fitting(interpolated, fits)
    n_screened = n_first if len(data.train_rows) >= few_rows else n_first_of_few
    firsts = _evenly_spaced(fitting, n_screened)
    yield from firsts
    yield from (replace(recipe, start="screened") for recipe in firsts[1:-1])
    yield from (replace(recipe, weight_decay=WEIGHT_DECAYS[-1]) for recipe in firsts[-2:])
    scalings = FIRST_SCALINGS[: 2 if has_numbers(data) else 1]
    if len(fitting) < n_first and len(scalings) > 1:  # centers and scales of columns leave no room
        yield from _evenly_spaced(_fitting(replace(interpolated, scaling="common"), fits), n_screened)
    is_tight = not fitting or fitting[-1].n_components < FEW_COMPONENTS
    for scaling in scalings if data.n_columns >= WIDE and is_tight else ():
        ternary = replace(interpolated, projection_type="ternary", scaling=scaling)
        yield from _evenly_spaced(_fitting(ternary, fits)[-3:], 2)
    if data.n_outputs > 2:  # most bytes of a row are its decode vector: few levels leave room for more rows
        for scaling in scalings if is_tight else scalings[:1]:
            yield from _fitting(replace(interpolated, n_levels=LEVELS[0], scaling=scaling), fits)[-2:]


def _fitting(recipe: Recipe, fits: Callable[[Recipe], bool]) -> list[Recipe]:
    """The recipe with each number of components that fits, rising."""
    return list(takewhile(fits, (replace(recipe, n_components=n) for n in COMPONENTS)))


def _evenly_spaced(recipes: list[Recipe], n: int) -> list[Recipe]:
    """``n`` of the recipes, evenly spaced from the end of the first quarter to the last."""
    low, high = len(recipes) // 4, len(recipes) - 1
    places = sorted({round(low + (high - low) * k / (n - 1)) for k in range(n)}) if recipes else []
    return [recipes[place] for place in places]


def neighbours(recipe: Recipe, data: TrainingData) -> Iterator[Recipe]:
    """Recipes that differ in one hyper-parameter, those that matter most first."""
    values: dict[str, tuple]
    if recipe.is_greedy:
        values = {
            "n_concat": CONCATS,
            "mixture": TEACHER_SHARES,
            "shrinkage": SHRINKAGES,
            "reuse": REUSES,
            "counter_type": COUNTER_TYPES,
        }
        if recipe.family == "bits":  # their codes come from the seed: a new one takes no bytes
            del values["reuse"]
    else:
        values = {
            "start": tuple(STARTS), "n_components": COMPONENTS, "weight_decay": WEIGHT_DECAYS, "noise": NOISES,
            "n_stacked": STACKED, "mixture": TEACHER_SHARES, "learning_rate": LEARNING_RATES, "scaling": SCALINGS,
            "n_levels": LEVELS,
        }  # fmt: skip
    if data.soft_labels is None:
        del values["mixture"]
    if not has_numbers(data):
        values.pop("scaling", None)
    for name, choices in values.items():
        place = choices.index(getattr(recipe, name))
        for near in (place + 1, place - 1):
            if 0 <= near < len(choices):
                yield replace(recipe, **{name: choices[near]})
