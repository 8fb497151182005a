"""One kind of sketch after the other, fitted to a budget and judged on the rows held out."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..model.model import Model
from ..model.numbers import LARGEST
from ..model.oracle import query
from .assemble import stored_offset, summed_part
from .clock import never
from .families import Family
from .greedy import Grown, grow_rows
from .objective import Objective
from .sweeps import grid_for, outputs_of, sweep
from .training_data import TrainingData

MOST_ROWS = 8_000
_BLOCK_ROWS = 4_096  # of data that the oracle evaluates together
PATIENCE, USE = 200, 1e-3  # no more rows are chosen once so many made the loss of rows held out no such share smaller


@dataclass(frozen=True)
class Refit:
    """How counters are fitted together: how strongly they are kept near those of the greedy choice, or near 0."""

    strength: float
    is_proximal: bool = False


@dataclass(frozen=True, eq=False)
class Trial:
    """A fitted sketch.

    Attributes
    ----------
    name : what it is called
    losses : (m,) of the rows held out
    judged : the form that has these losses
    refit, n_rows : how it was refitted, if it was, and how many rows were chosen greedily
    n_steps : of gradient descent, if there are interpolated rows
    retrained : the form trained again on all rows, if it was
    """

    name: str
    losses: np.ndarray
    judged: Model
    refit: Refit | None = None
    n_rows: int = 0
    n_steps: int = 0
    retrained: Model | None = None

    @property
    def loss(self) -> float:
        """The mean of the losses."""
        return float(self.losses.mean())

    @property
    def model(self) -> Model:
        """What is deployed."""
        return self.judged if self.retrained is None else self.retrained


@dataclass(frozen=True, eq=False)
class Base:
    """A fitted sketch that rows are added to, and what it answers, in units of the problem."""

    model: Model
    kept: np.ndarray
    held: np.ndarray

    @classmethod
    def of(cls, model: Model, problem: TrainingData) -> "Base":
        """A sketch, over the rows of a problem."""
        return cls(model, *(answers_of(model, problem, rows) for rows in (problem.kept, problem.held)))


def answers_of(model: Model, problem: TrainingData, rows: np.ndarray) -> np.ndarray:
    """What a sketch answers for rows of a problem, in its units."""
    outputs = [query(model, problem.X[block]) for block in np.array_split(rows, -(-len(rows) // _BLOCK_ROWS))]
    return (np.concatenate(outputs).astype(np.float64) - problem.middle) / problem.unit


@dataclass(frozen=True, eq=False)
class GreedyTrials:
    """Rows of a family grown once, as many as the budget holds; fewer are the first of them."""

    problem: TrainingData
    family: Family
    n_concat: int
    rate: float
    mixture: float
    counter_type: str
    budget: int
    reuse: float = 0.0
    seed: int = 0
    most_rows: int = MOST_ROWS
    base: Base | None = None
    is_late: Callable[[], bool] = never  # no further row is chosen, and no further refit made, once it is
    fewest_rows: int = 0  # that are chosen all the same

    def nbytes(self, codes: np.ndarray) -> int:
        """Bytes of a sketch of these rows."""
        return self._model(codes, np.zeros((len(codes), 2**self.n_concat, self.problem.n_outputs)), 1.0).nbytes

    def _model(self, codes: np.ndarray, whole: np.ndarray, step: float, offset: np.ndarray | float = 0.0) -> Model:
        problem, fields = self.problem, self._offset_fields(offset)
        inputs, rows = self.family.store(codes)
        part = summed_part(rows, whole, self.counter_type, problem.unit * step)
        if self.base is not None:
            model = self.base.model
            return replace(model, row_groups=(*model.row_groups, replace(part, source="values")), **fields)
        return Model(inputs, None, (part,), task=problem.task, classes=problem.classes, **fields)

    @property
    def _middle(self) -> np.ndarray:
        """What is added to outputs before the offset of these rows."""
        return self.problem.middle if self.base is None else self.base.model.offset

    def _offset_fields(self, offset: np.ndarray | float) -> dict[str, Any]:
        return stored_offset(self._middle + self.problem.unit * offset, self.problem.task)

    def _deployed(self, offset: np.ndarray) -> np.ndarray:
        """An offset of these rows as it comes back from being stored."""
        return (self._offset_fields(offset)["offset"] - self._middle) / self.problem.unit

    @cached_property
    def objective(self) -> Objective:
        """The loss of the kept rows."""
        return self.problem.objective(self.problem.kept, self.mixture)

    @cached_property
    def grown(self) -> Grown:
        """Rows on the kept rows, as many as the budget holds and the rows held out like."""
        held, base = self.problem.held_objective, self.base
        outputs = np.repeat(self.objective.start()[None], len(self.problem.held), axis=0) if base is None else base.held
        outputs, best, best_at = outputs.copy(), np.inf, 0

        def is_done(codes: list[list[int]], values: list[np.ndarray]) -> bool:
            nonlocal best, best_at, outputs
            outputs += values[-1][self._held_bucket(codes[-1])]
            if len(codes) >= self.fewest_rows and self.is_late():
                return True
            if len(codes) % 8:
                return False
            if (loss := held.loss(outputs)) < (1.0 - USE) * best:
                best, best_at = loss, len(codes)
            return len(codes) - best_at >= PATIENCE or self.nbytes(np.array(codes)) > self.budget

        rows = grow_rows(
            self.family.kept, self.objective, self.most_rows, self.n_concat, rate=self.rate, reuse=self.reuse,
            outputs=None if self.base is None else self.base.kept, n_searched=self.family.n_searched, is_done=is_done,
            seed=self.seed,
        )  # fmt: skip
        return rows.first(self._n_rows(rows.codes))

    def _n_rows(self, codes: np.ndarray) -> int:
        """How many of the grown rows fit."""
        low, high = 0, len(codes)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.nbytes(codes[:middle]) <= self.budget else (low, middle - 1)
        return low

    @cached_property
    def _held_buckets(self) -> np.ndarray:
        return np.stack([self._held_bucket(codes) for codes in self.grown.codes])

    def _held_bucket(self, codes: Iterable[int]) -> np.ndarray:
        """The bucket of every row held out by these codes, uint8 (m,)."""
        bucket = np.zeros(len(self.problem.held), np.uint8)
        for place, code in enumerate(codes):
            bucket |= self.family.held.bits(code) << place
        return bucket

    def best(self, refits: Iterable[Refit], shares: Iterable[float] = (1.0,), n_sweeps: int = 4) -> Trial | None:
        """Counters refitted and rounded in several ways; then fewer rows in the best of them. None without any row."""
        if self.family.kept.n_codes < self.n_concat or not len(self.grown.codes):  # constant columns give no code
            return None
        first, *others = shares
        trials = [self.trial(first, refit, n_sweeps) for number, refit in enumerate(refits) if self._has_time(number)]
        best = min(trials, key=lambda trial: trial.loss)
        assert best.refit is not None
        fewer = [self.trial(share, best.refit, n_sweeps) for share in others if self._has_time(len(trials))]
        return min([best, *fewer], key=lambda trial: trial.loss)

    def _has_time(self, n_fitted: int) -> bool:
        return n_fitted == 0 or not self.is_late()

    def trial(self, share: float, refit: Refit, n_sweeps: int = 4) -> Trial:
        """The first rows with counters refitted and rounded to their stored grid."""
        n_rows = max(1, round(share * len(self.grown.codes)))
        problem, rows, base = self.problem, self.grown.first(n_rows), self.base
        towards = rows.values if refit.is_proximal else None
        outputs = None if base is None else base.kept
        largest = int(LARGEST[self.counter_type])
        fit = partial(sweep, objective=self.objective, n_sweeps=n_sweeps, strength=refit.strength, towards=towards,
                      outputs=outputs)  # fmt: skip
        fitted = fit(rows)
        grid = grid_for(fitted.values, largest, 0.99 if largest < 100 else 1.0)
        fitted = fit(fitted, grid=grid)
        fitted = replace(fitted, offset=self._deployed(fitted.offset))
        held = replace(fitted, buckets=self._held_buckets[:n_rows])
        losses = problem.held_objective.losses(outputs_of(held, None if base is None else base.held))
        name = f"{self.family.name} K={self.n_concat} L={n_rows} {self.counter_type} rate={self.rate:g} {refit}"
        name = name if base is None else f"interpolated + {name}"
        model = self._model(rows.codes, grid.whole(fitted.values), grid.step, fitted.offset)
        return Trial(name, losses, model, refit, n_rows)
