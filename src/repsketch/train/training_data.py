"""What is to be compressed: rows, labels, a teacher's answers, and which rows are held out to choose by."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from ..model.inputs import LARGEST_VALUE, Inputs
from .candidates import Thresholds
from .columns import find_kinds, projected_inputs, ranged_inputs, standard_inputs
from .interpolated import TrainingRows
from .objective import Absolute, Logistic, Objective, Softmax

HELD_FRACTION, FEWEST_HELD, MOST_HELD = 0.2, 5, 8_000


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Rows to learn from.

    Attributes
    ----------
    X : (n, d) float32; a category is its index, NaN is missing
    kinds : (d,) as in ``Inputs``
    labels : (n, C) chances of classes, or values in units of ``unit`` around ``middle``
    answers : (n, C) the teacher's in the same measure, or None
    task : "classification" or "regression"
    unit, middle : (C,) from values trained on to outputs
    held : (m,) rows that settings are chosen on
    places : the columns in use, rising; None for all
    spares_none : train on all rows, also on those held out
    has_missing : some value is missing, maybe in a row that is not among these
    """

    X: np.ndarray
    kinds: np.ndarray
    labels: np.ndarray
    answers: np.ndarray | None
    task: str
    classes: np.ndarray | None
    unit: np.ndarray
    middle: np.ndarray
    held: np.ndarray
    places: np.ndarray | None = None
    spares_none: bool = False
    has_missing: bool = False

    @classmethod
    def of(
        cls,
        X: np.ndarray,
        labels: np.ndarray,
        answers: np.ndarray | None,
        task: str,
        *,
        classes: np.ndarray | None = None,
        n_categories: dict[int, int] | None = None,
        seed: int = 0,
    ) -> "TrainingData":
        """A problem from chances or raw values (n, C); a fifth of the rows is held out."""
        unit, middle = np.ones(labels.shape[1]), np.zeros(labels.shape[1])
        if task == "regression":
            middle, unit = np.median(labels, axis=0), labels.std(axis=0)
            unit = np.where(unit > 1e-12 * np.maximum(1.0, np.abs(middle)), unit, 1.0)
            labels = (labels - middle) / unit
            answers = None if answers is None else (answers - middle) / unit
        order = np.random.default_rng([seed, 7]).permutation(len(X))
        held = order[: min(int(HELD_FRACTION * len(X)), MOST_HELD)]
        spares_none = len(held) < FEWEST_HELD  # too few rows to spare any: judged where it was trained
        held = order if spares_none else held
        kinds, has_missing = find_kinds(X, n_categories), bool(np.isnan(X).any())
        return cls(
            X, kinds, labels, answers, task, classes, unit, middle, np.sort(held), None, spares_none, has_missing
        )

    def answered(self, answers: np.ndarray) -> "TrainingData":
        """The same problem with other answers (n, C) of a teacher, chances or raw values."""
        return replace(self, answers=(answers - self.middle) / self.unit)

    def whole(self) -> "TrainingData":
        """The same problem trained on all rows: for settings that have been chosen."""
        return replace(self, spares_none=True)

    @cached_property
    def kept(self) -> np.ndarray:
        """The rows that are trained on."""
        everything = np.arange(len(self.X))
        return everything if self.spares_none else np.setdiff1d(everything, self.held)

    def narrowed(self, most: int) -> "TrainingData":
        """The same problem with the most telling columns alone.

        A column tells as much as the best split of its values gains on the best constant.
        """
        if self.n_columns <= most:
            return self
        objective = self.objective(self.kept, 0.0)
        slope, curvature = objective.slopes(np.repeat(objective.start()[None], len(self.kept), axis=0))
        numbers = np.concatenate([slope, curvature], axis=1).astype(np.float32)
        codes, _ = self.thresholds(self.ranged)
        gains = codes.gains(np.zeros(len(numbers), np.uint8), 1, numbers, 1.0)
        best = np.zeros(self.n_columns)
        np.maximum.at(best, np.repeat(np.arange(self.n_columns), np.diff(codes.starts)), gains)
        chosen = np.sort(np.argsort(-best, kind="stable")[:most])
        return self.using(chosen if self.places is None else self.places[chosen])

    def subset(self, n_kept: int, seed: int) -> "TrainingData":
        """The same problem with some of the kept rows; those held out stay."""
        if n_kept >= len(self.kept):
            return self
        chosen = np.random.default_rng([seed, 8]).choice(self.kept, n_kept, replace=False)
        rows = np.concatenate([np.sort(chosen), self.held])
        answers = None if self.answers is None else self.answers[rows]
        held = np.arange(n_kept, len(rows))
        return replace(self, X=self.X[rows], labels=self.labels[rows], answers=answers, held=held)

    @property
    def n_columns(self) -> int:
        """Columns in use."""
        return self.X.shape[1] if self.places is None else len(self.places)

    @property
    def n_values(self) -> int:
        """Values that the columns in use become, a category one for each label."""
        return int(np.maximum(self.kinds if self.places is None else self.kinds[self.places], 1).sum())

    def with_table(self, X: np.ndarray, n_categories: dict[int, int]) -> "TrainingData":
        """The same problem over another table (n, d) of the same columns, some of them categories."""
        return replace(self, X=X, kinds=find_kinds(X, n_categories))

    def using(self, places: np.ndarray) -> "TrainingData":
        """The same problem with these columns (m,), rising, alone."""
        return replace(self, places=places)

    @property
    def n_outputs(self) -> int:
        """Outputs, C."""
        return self.labels.shape[1]

    def objective(self, rows: np.ndarray, mixture: float) -> Objective:
        """The loss of some rows, the teacher's answers counting ``mixture``."""
        targets = self.labels[rows]
        if self.answers is not None:
            targets = (1.0 - mixture) * targets + mixture * self.answers[rows]
        if self.task == "regression":
            return Absolute(targets)
        return Logistic(targets) if self.n_outputs == 1 else Softmax(targets)

    @cached_property
    def held_objective(self) -> Objective:
        """The loss that settings are chosen by: labels alone."""
        return self.objective(self.held, 0.0)

    def _inputs(self, read: Callable[[np.ndarray, np.ndarray], Inputs], kinds: np.ndarray) -> Inputs:
        """How the columns in use are read."""
        places = np.arange(self.X.shape[1]) if self.places is None else self.places
        inputs = read(self.X[np.ix_(self.kept, places)], kinds[places])
        return replace(inputs, n_features=self.X.shape[1], columns=self.places, accepts_missing=self.has_missing)

    @cached_property
    def ranged(self) -> Inputs:
        """Inputs for thresholds of one byte."""
        return self._inputs(ranged_inputs, self.kinds)

    @cached_property
    def finely_ranged(self) -> Inputs:
        """Inputs for thresholds of two bytes."""
        return self._inputs(partial(ranged_inputs, largest=LARGEST_VALUE), self.kinds)

    @cached_property
    def standard(self) -> Inputs:
        """Inputs for sums of columns."""
        return self._inputs(standard_inputs, self.kinds)

    def projected(self, reading: str) -> Inputs:
        """Inputs for a projection."""
        return self._inputs(partial(projected_inputs, reading=reading), self.kinds)

    def thresholds(self, inputs: Inputs) -> tuple[Thresholds, Thresholds]:
        """Codes on single columns over the kept and the held rows."""
        kept = Thresholds.between(inputs.values(self.X[self.kept]), inputs.kinds)
        return kept, kept.over(inputs.values(self.X[self.held]))

    def lesson(self, inputs: Inputs, rows: np.ndarray, mixture: float) -> TrainingRows:
        """Some rows as interpolated rows learn them."""
        answers = None if self.answers is None else self.answers[rows]
        return TrainingRows(inputs.values(self.X[rows]).T, self.labels[rows], answers, mixture, self.task)
