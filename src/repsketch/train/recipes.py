"""Recipes of sketches whose rows are chosen greedily: the hyper-parameters, those screened first, and neighbours."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from ..model.inputs import NUMERIC
from .training_data import TrainingData

CONCATS = (1, 2, 3, 4, 5, 6)
SHRINKAGES = (0.05, 0.1, 0.3, 0.6, 1.0)
COUNTER_TYPES = ("int4", "int8")
REUSES = (0.0, 0.3, 1.0)
TEACHER_SHARES = (0.0, 0.3, 0.5, 0.7, 0.9)
MIXTURES = {"classification": 0.5, "regression": 0.7}


@dataclass(frozen=True)
class GreedyRecipe:
    """The hyper-parameters of rows that are chosen greedily, one after the other.

    Attributes
    ----------
    family : "thresholds" of one byte or "fine thresholds" of two: the codes that rows are chosen from
    mixture : weight of the soft labels in the loss; the labels have the rest
    n_concat, shrinkage : codes a row, and the share of a Newton step that each row takes
    reuse : share by which the gain of a code grows if an earlier row has it already
    """

    is_greedy: ClassVar[bool] = True

    family: str
    mixture: float
    n_concat: int = 4
    shrinkage: float = 0.3
    counter_type: str = "int4"
    reuse: float = 0.3

    @property
    def kind(self) -> str:
        """What recipes of one kind have in common: the family."""
        return self.family

    def __str__(self) -> str:
        sizes = f"{self.n_concat} per row, learning rate {self.shrinkage:g}, {self.counter_type}"
        return f"greedy rows over {self.family} ({sizes})"


def has_numbers(data: TrainingData) -> bool:
    """True if some column is numeric."""
    return bool((data.kinds == NUMERIC).any())


def first_greedy_recipes(data: TrainingData) -> Iterator[GreedyRecipe]:
    """A recipe of every family to screen, with and without the teacher."""
    mixture = MIXTURES[data.task]
    counter_type = "int4" if data.task == "classification" else "int8"
    for family in ("thresholds", "fine thresholds") if has_numbers(data) else ("thresholds",):
        for share in (mixture, 0.0) if data.soft_labels is not None else (mixture,):
            yield GreedyRecipe(family, share, counter_type=counter_type)


def greedy_neighbours(recipe: GreedyRecipe, data: TrainingData) -> Iterator[GreedyRecipe]:
    """Recipes that differ in one hyper-parameter, those that matter most first."""
    values: dict[str, tuple] = {
        "n_concat": CONCATS,
        "mixture": TEACHER_SHARES,
        "shrinkage": SHRINKAGES,
        "reuse": REUSES,
        "counter_type": COUNTER_TYPES,
    }
    if data.soft_labels is None:
        del values["mixture"]
    for name, choices in values.items():
        place = choices.index(getattr(recipe, name))
        for near in (place + 1, place - 1):
            if 0 <= near < len(choices):
                yield replace(recipe, **{name: choices[near]})
