"""Greedy rows fitted to a budget, refitted in several ways, and scored on the validation rows."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..model.model import Model
from ..model.numbers import LARGEST
from ..runtime import runtime_for
from .assemble import stored_offset, summed_rows
from .clock import never
from .families import CodeFamily
from .greedy import GreedyRows, grow_rows
from .objective import Objective
from .sweeps import grid_for, outputs_of, sweep
from .training_data import TrainingData

MAX_ROWS = 8_000
PATIENCE, MIN_GAIN = 200, 1e-3  # stop after 200 rows without a 0.1 % gain in validation loss


@dataclass(frozen=True)
class Refit:
    """How counters are refitted together: ridge strength, towards the greedy counters if ``is_proximal``, else 0."""

    strength: float
    is_proximal: bool = False


@dataclass(frozen=True, eq=False)
class Trial:
    """A fitted model and its validation losses.

    Attributes
    ----------
    name : family, sizes and hyper-parameters, for logs
    losses : of ``fitted`` on the validation rows, as ``TrainingData.validation_losses`` gives them
    fitted : the model fitted to the training rows
    refit, n_rows : how the greedy rows were refitted, and how many there are; None and 0 without
    n_steps : steps of gradient descent; 0 for greedy rows
    retrained : the model trained again on training and validation rows, or None
    """

    name: str
    losses: np.ndarray
    fitted: Model
    refit: Refit | None = None
    n_rows: int = 0
    n_steps: int = 0
    retrained: Model | None = None

    @property
    def loss(self) -> float:
        """The mean validation loss."""
        return float(self.losses.mean())

    @property
    def model(self) -> Model:
        """What is deployed."""
        return self.fitted if self.retrained is None else self.retrained


def model_outputs(model: Model, data: TrainingData, rows: np.ndarray) -> np.ndarray:
    """Outputs (m, C) of a model for rows (m,) of the data, in units of the targets."""
    return (runtime_for(model).outputs(data.X[rows]).astype(np.float64) - data.middle) / data.unit


def loss_of(model: Model, data: TrainingData) -> float:
    """The mean validation loss of a model."""
    return float(data.validation_losses(model_outputs(model, data, data.validation_rows)).mean())


@dataclass(frozen=True, eq=False)
class GreedyTrials:
    """Greedy rows over a family of codes, grown once to the budget. A smaller model takes the first of them."""

    data: TrainingData
    family: CodeFamily
    n_concat: int
    shrinkage: float
    mixture: float
    counter_type: str
    budget: int
    reuse: float = 0.0
    seed: int = 0
    max_rows: int = MAX_ROWS
    is_late: Callable[[], bool] = never  # once True, growing and refitting stop
    min_rows: int = 0  # rows that are chosen even then
    patience: int = PATIENCE

    def nbytes(self, codes: np.ndarray) -> int:
        """Bytes of a model of rows with these codes (L, K)."""
        return self._model(codes, np.zeros((len(codes), 2**self.n_concat, self.data.n_outputs)), 1.0).nbytes

    def _model(self, codes: np.ndarray, counters: np.ndarray, step: float, offset: np.ndarray | float = 0.0) -> Model:
        data, fields = self.data, self._offset_fields(offset)
        inputs, pooled = self.family.store(codes)
        rows = summed_rows(pooled, counters, self.counter_type, data.unit * step)
        return Model(inputs, None, (rows,), task=data.task, classes=data.classes, **fields)

    def _offset_fields(self, offset: np.ndarray | float) -> dict[str, Any]:
        return stored_offset(self.data.middle + self.data.unit * offset, self.data.task)

    def _deployed(self, offset: np.ndarray) -> np.ndarray:
        """An offset (C,) of these rows, rounded as it is stored."""
        return (self._offset_fields(offset)["offset"] - self.data.middle) / self.data.unit

    @cached_property
    def objective(self) -> Objective:
        """The loss of the training rows."""
        return self.data.objective(self.data.train_rows, self.mixture)

    @cached_property
    def grown(self) -> GreedyRows:
        """Rows grown on the training rows until the budget is used up; early-stopped on the validation rows."""
        validation = self.data.validation_objective
        outputs = np.repeat(self.objective.start()[None], len(self.data.validation_rows), axis=0)
        best, best_at = np.inf, 0

        def is_done(codes: list[list[int]], values: list[np.ndarray]) -> bool:
            nonlocal best, best_at, outputs
            outputs += values[-1][self._validation_bucket(codes[-1])]
            if len(codes) >= self.min_rows and self.is_late():
                return True
            if len(codes) % 8:
                return False
            if (loss := validation.loss(outputs)) < (1.0 - MIN_GAIN) * best:
                best, best_at = loss, len(codes)
            return len(codes) - best_at >= self.patience or self.nbytes(np.array(codes)) > self.budget

        rows = grow_rows(
            self.family.train, self.objective, self.max_rows, self.n_concat, shrinkage=self.shrinkage, reuse=self.reuse,
            n_searched=self.family.n_searched, is_done=is_done, seed=self.seed,
        )  # fmt: skip
        return rows.first(self._n_rows(rows.codes))

    def _n_rows(self, codes: np.ndarray) -> int:
        """How many of the grown rows fit the budget."""
        low, high = 0, len(codes)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.nbytes(codes[:middle]) <= self.budget else (low, middle - 1)
        return low

    @cached_property
    def _validation_buckets(self) -> np.ndarray:
        return np.stack([self._validation_bucket(codes) for codes in self.grown.codes])

    def _validation_bucket(self, codes: Iterable[int]) -> np.ndarray:
        """The bucket of every validation row for these codes (K,), uint8 (m,)."""
        bucket = np.zeros(len(self.data.validation_rows), np.uint8)
        for place, code in enumerate(codes):
            bucket |= self.family.validation.bits(code) << place
        return bucket

    def best(self, refits: Iterable[Refit], shares: Iterable[float] = (1.0,), n_sweeps: int = 4) -> Trial | None:
        """The best of several refits, then of several shares of the rows with that refit; None without any row."""
        if self.family.train.n_codes < self.n_concat or not len(self.grown.codes):  # constant columns give no code
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
        """A share of the rows, from the first on, with counters refitted and rounded to their stored grid."""
        n_rows = max(1, round(share * len(self.grown.codes)))
        data, rows = self.data, self.grown.first(n_rows)
        towards = rows.values if refit.is_proximal else None
        largest = int(LARGEST[self.counter_type])
        fit = partial(sweep, objective=self.objective, n_sweeps=n_sweeps, strength=refit.strength, towards=towards)
        fitted = fit(rows)
        grid = grid_for(fitted.values, largest, 0.99 if largest < 100 else 1.0)
        fitted = fit(fitted, grid=grid)
        fitted = replace(fitted, offset=self._deployed(fitted.offset))
        validation = replace(fitted, buckets=self._validation_buckets[:n_rows])
        losses = data.validation_losses(outputs_of(validation))
        name = f"{self.family.name} K={self.n_concat} L={n_rows} {self.counter_type} rate={self.shrinkage:g} {refit}"
        model = self._model(rows.codes, grid.multiples(fitted.values), grid.step, fitted.offset)
        return Trial(name, losses, model, refit, n_rows)
