"""Recipes of sketches trained by gradient descent: stages of tables with rows behind them, and int8 networks.

A recipe and a budget give a shape. The search starts from a few recipes of every kind and goes on with variations of
the best.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar

import numpy as np

from .columns import SCALINGS
from .recipes import MIXTURES, TEACHER_SHARES, has_numbers
from .training_data import TrainingData

#: The values that a hyper-parameter may have, in order: a variation takes the next or the previous one.
VALUES: dict[str, tuple[Any, ...]] = {
    "activation": ("table", "relu"),
    "n_hidden": (0, 1, 2, 3),
    "n_entries": (4, 8, 16),
    "first_bits": (4, 8),
    "matrix_bits": (4, 8),
    "sparsity": (0.0, 0.3, 0.5, 0.7, 0.85, 0.93),
    "size": (0.25, 0.5, 0.75, 1.0),
    "steps": (0.1, 0.3, 1.0),
    "columns": (0.12, 0.25, 0.5, 1.0),
    "scaling": SCALINGS,
    "noise": (0.0, 0.05, 0.1, 0.3, 0.6),
    "weight_decay": (0.0, 0.03, 0.1, 0.3, 1.0),
    "learning_rate": (0.005, 0.01, 0.02, 0.04),
    "mixture": TEACHER_SHARES,
}
#: How often the first recipes have these values, where not all are alike.
WEIGHTS: dict[str, tuple[float, ...]] = {
    "activation": (3, 1),
    "n_hidden": (4, 4, 2, 1),
    "n_entries": (4, 4, 1),
    "sparsity": (4, 1, 2, 2, 1, 1),
    "size": (0, 0, 0, 1),
    "steps": (1, 2, 6),
    "columns": (1, 1, 2, 8),
    "noise": (4, 1, 1, 1, 1),
    "weight_decay": (2, 4, 4, 4, 1),
    "learning_rate": (1, 3, 4, 2),
}
#: The same where the budget is large: a model of fewer bytes may generalise better.
LARGE_WEIGHTS = WEIGHTS | {"size": (1, 2, 1, 8)}
INHERITED_SIZES = (1.0, 0.5)  # of the best recipes of a search at fewer bytes
FEW_ROWS = 100  # training rows per column; classifiers with fewer are started with noise added to the inputs
WIDE = 24  # values from which sparse matrices are among the first recipes
MIN_COLUMNS = 8  # of a table of which some may be left out
MAX_VARIED = 2  # hyper-parameters that a variation changes


@dataclass(frozen=True)
class StageRecipe:
    """The hyper-parameters of a model trained by gradient descent.

    Attributes
    ----------
    mixture : weight of the soft labels in the loss; the labels have the rest
    n_hidden : hidden stages before the rows, or hidden layers of a network
    activation : "table", with interpolated rows behind the last stage; or "relu", a network without rows
    n_entries : of a table, and levels of a row
    first_bits, matrix_bits : of an entry of the first matrix, and of the others
    sparsity : share of every matrix that is pruned
    size : share of the budget to use
    steps : share of the steps of a round to make
    columns : share of the columns to use, those with the largest gain
    scaling : how numeric columns are scaled, one of ``SCALINGS``
    noise : standard deviation of the noise added to standardised inputs during training
    weight_decay, learning_rate : of the gradient descent
    restart : number of the restart; another one is trained from other random parameters
    """

    is_greedy: ClassVar[bool] = False
    family: ClassVar[str] = "stages"

    mixture: float
    n_hidden: int = 1
    activation: str = "table"
    n_entries: int = 8
    first_bits: int = 8
    matrix_bits: int = 8
    sparsity: float = 0.0
    size: float = 1.0
    steps: float = 1.0
    columns: float = 1.0
    scaling: str = "standard"
    noise: float = 0.0
    weight_decay: float = 0.03
    learning_rate: float = 0.02
    restart: int = 0

    @property
    def kind(self) -> tuple[str, int]:
        """What recipes of one kind have in common: the activation and the number of hidden stages."""
        return self.activation, self.n_hidden

    def __str__(self) -> str:
        kind = f"tables of {self.n_entries}" if self.activation == "table" else "ReLU"
        stages = f"{self.n_hidden} hidden stage{'s' * (self.n_hidden != 1)} of {kind}"
        pruned = f", {self.sparsity:.0%} pruned" if self.sparsity else ""
        return f"{stages}{pruned} (learning rate {self.learning_rate:g}, weight decay {self.weight_decay:g})"


def first_stage_recipes(
    data: TrainingData, seed: int, *, is_large: bool = False, best: Sequence[StageRecipe] = ()
) -> Iterator[StageRecipe]:
    """The recipes that a search starts from, without end: a few of every kind, then random ones.

    Parameters
    ----------
    is_large : the budget is large: some recipes use less
    best : recipes of a search at fewer bytes; they come first, in place of those of every kind
    """
    for recipe, size in product(best, INHERITED_SIZES):
        yield replace(recipe, size=size, restart=0)
    if not best:
        yield from _designed(data)
    rng = np.random.default_rng([seed, 20])
    while True:
        yield draw(data, rng, LARGE_WEIGHTS if is_large else WEIGHTS)


def _designed(data: TrainingData) -> Iterator[StageRecipe]:
    """Recipes that differ in what matters most: stages, then sizes and regularisation."""
    is_few = data.task == "classification" and len(data.train_rows) < FEW_ROWS * data.n_columns
    plain = StageRecipe(MIXTURES[data.task], noise=0.3 if is_few else 0.0)
    if data.soft_labels is None:
        plain = replace(plain, mixture=0.0)
    entries = 4 if data.n_outputs > 2 else 8  # of many classes, most bytes of a row are its decode vector
    yield from (replace(plain, n_hidden=n, n_entries=entries) for n in (1, 0, 2))
    yield replace(plain, n_hidden=2, activation="relu")
    yield replace(plain, n_hidden=0, n_entries=4, first_bits=4, mixture=0.0, learning_rate=0.04)
    yield replace(plain, n_hidden=0, n_entries=entries, weight_decay=0.3)
    if data.n_values >= WIDE:
        yield from (replace(plain, n_hidden=n, sparsity=0.7, n_entries=entries) for n in (0, 1))
        yield replace(plain, n_hidden=1, activation="relu", sparsity=0.7)
    yield replace(plain, n_hidden=1, n_entries=entries, weight_decay=0.3, size=0.5)
    yield replace(plain, n_hidden=0, size=0.25, weight_decay=0.3)
    if has_numbers(data):
        yield replace(plain, n_hidden=0, n_entries=4, scaling="common")
    yield replace(plain, n_hidden=2, n_entries=4, learning_rate=0.04)
    yield replace(plain, n_hidden=1, activation="relu", weight_decay=0.3)
    for mixture, n_hidden in product((0.0, 0.9) if data.soft_labels is not None else (), (0, 1)):
        yield replace(plain, n_hidden=n_hidden, mixture=mixture)


def draw(
    data: TrainingData, rng: np.random.Generator, weights: Mapping[str, tuple[float, ...]] = WEIGHTS
) -> StageRecipe:
    """A recipe at random; the values that are most often good are drawn most often."""
    recipe = StageRecipe(0.0)
    for name, choices in VALUES.items():
        if _matters(name, recipe, data):
            often = np.array(weights.get(name, [1.0] * len(choices)))
            value = choices[int(rng.choice(len(choices), p=often / often.sum()))]
            recipe = replace(recipe, **{name: value})
    return recipe if recipe.n_hidden or recipe.activation == "table" else replace(recipe, n_hidden=1)


def vary(
    parents: Sequence[StageRecipe], data: TrainingData, rng: np.random.Generator, *, is_large: bool = False
) -> StageRecipe:
    """A recipe whose values are those of two of the parents at random, some moved to a neighbouring value.

    The share of the budget moves only where this ``is_large``.
    """
    pair = [parents[int(place)] for place in rng.integers(len(parents), size=2)]
    child = replace(pair[0], restart=0, **{name: getattr(pair[int(rng.integers(2))], name) for name in VALUES})
    names = [name for name in VALUES if _matters(name, child, data) and (is_large or name != "size")]
    n_moved = int(rng.integers(MAX_VARIED + 1)) if pair[0] != pair[1] else 1 + int(rng.integers(MAX_VARIED))
    for name in rng.permutation(names)[:n_moved]:
        choices = VALUES[str(name)]
        place = choices.index(getattr(child, str(name)))
        near = [other for other in (place - 1, place + 1) if 0 <= other < len(choices)]
        child = replace(child, **{str(name): choices[near[int(rng.integers(len(near)))]]})
    if child.activation == "relu" and not child.n_hidden:  # that would be a linear model
        child = replace(child, n_hidden=1)
    return child


def _matters(name: str, recipe: StageRecipe, data: TrainingData) -> bool:
    """True if another value of this hyper-parameter gives another model."""
    if name == "n_entries" and recipe.activation == "relu":
        return False
    if name == "matrix_bits" and recipe.n_hidden == 0:
        return False
    if name == "mixture" and data.soft_labels is None:
        return False
    if name == "columns" and data.n_columns < MIN_COLUMNS:
        return False
    if name == "steps" and data.stops_early:
        return False
    return name != "scaling" or has_numbers(data)
