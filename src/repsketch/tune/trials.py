"""One kind of sketch after the other, fitted to a budget and judged on the rows held out."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..lsh.pool import CodePool, PooledRows
from ..sketch import Form
from ..sketch.inputs import Inputs
from ..sketch.numbers import LARGEST
from ..sketch.train.assemble import summed_part, threshold_rows
from ..sketch.train.candidates import Bits, Candidates
from ..sketch.train.columns import STEPS_A_SPREAD
from ..sketch.train.greedy import Grown, grow_rows
from ..sketch.train.sweeps import grid_for, outputs_of, sweep
from .problem import Problem

POOL_CODES = 1_024
SPREAD = 0.9  # of seeded biases, in standard deviations


@dataclass(frozen=True, eq=False)
class Trial:
    """A fitted sketch: what it is called, its loss on the rows held out, and its form."""

    name: str
    loss: float
    form: Form


@dataclass(frozen=True, eq=False)
class Family:
    """Codes of one kind over the kept and the held rows, and how rows of them are stored."""

    name: str
    kept: Candidates
    held: Candidates
    store: Callable[[np.ndarray], tuple[Inputs, PooledRows]]  # of codes (L, K)


def threshold_family(problem: Problem) -> Family:
    """Learned thresholds on single columns."""
    kept, held = problem.thresholds
    return Family("thresholds", kept, held, lambda codes: threshold_rows(problem.ranged, kept, codes))


def bit_family(problem: Problem, seed: int, n_nonzeros: int = 2) -> Family:
    """A pool of seeded bits: columns themselves, then sums of a few."""
    inputs = problem.standard
    pool = CodePool(
        "sparse",
        POOL_CODES,
        inputs.n_values,
        seed,
        n_axes=min(inputs.n_values, POOL_CODES // 2) if inputs.booleans.all() else 0,
        n_nonzeros=n_nonzeros,
        is_seeded=True,
        spread=round(SPREAD * STEPS_A_SPREAD * 256 / 148),
        width_bits=0,
        booleans=inputs.booleans,
    )

    def store(codes: np.ndarray) -> tuple[Inputs, PooledRows]:
        return inputs, PooledRows(pool, len(codes), codes.shape[1], codes)

    kept, held = (Bits(_pool_bits(pool, inputs.values(problem.X[rows]))) for rows in (problem.kept, problem.held))
    return Family("bits", kept, held, store)


def _pool_bits(pool: CodePool, values: np.ndarray) -> np.ndarray:
    """All bits of a sparse pool, uint8 (P, n)."""
    values = values.astype(np.int16)
    bits = np.empty((pool.n_codes, values.shape[1]), np.uint8)
    for code in range(pool.n_codes):
        total = np.zeros(values.shape[1], np.int16)
        for place, sign in pool.sparse_direction(code):
            total += values[place] if sign > 0 else -values[place]
        bits[code] = total >= pool.biases[code]
    return bits


@dataclass(frozen=True, eq=False)
class GreedyTrials:
    """Rows of a family grown once to the largest budget; every smaller one takes the first of them."""

    problem: Problem
    family: Family
    n_concat: int
    rate: float
    mixture: float
    counter_type: str
    largest: int
    seed: int = 0
    most_rows: int = 2_000

    def nbytes(self, codes: np.ndarray) -> int:
        """Bytes of a sketch of these rows."""
        return self._form(codes, np.zeros((len(codes), 2**self.n_concat, self.problem.n_outputs)), 1.0).nbytes

    def _form(self, codes: np.ndarray, whole: np.ndarray, step: float, offset: np.ndarray | float = 0.0) -> Form:
        problem = self.problem
        inputs, rows = self.family.store(codes)
        part = summed_part(rows, whole, self.counter_type, problem.unit * step)
        shifted = (problem.middle + problem.unit * offset).astype(np.float32)
        return Form(inputs, None, (part,), shifted, task=problem.task, classes=problem.classes)

    @cached_property
    def grown(self) -> Grown:
        """Rows on the kept rows, as many as the largest budget holds."""

        def is_done(codes: list[list[int]]) -> bool:
            return len(codes) % 8 == 0 and self.nbytes(np.array(codes)) > self.largest

        objective = self.problem.objective(self.problem.kept, self.mixture)
        return grow_rows(
            self.family.kept, objective, self.most_rows, self.n_concat, rate=self.rate, is_done=is_done, seed=self.seed
        )

    def n_rows(self, budget: int) -> int:
        """How many of the grown rows fit."""
        low, high = 0, len(self.grown.codes)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.nbytes(self.grown.codes[:middle]) <= budget else (low, middle - 1)
        return low

    def trials(self, budget: int, strengths: Iterable[float] = (3.0, 30.0), n_sweeps: int = 4) -> Iterator[Trial]:
        """Counters refitted and rounded, for several strengths."""
        if self.family.kept.n_codes < self.n_concat:  # constant columns give no code
            return
        n_rows = self.n_rows(budget)
        if n_rows < 1:
            return
        problem, rows = self.problem, self.grown.first(n_rows)
        objective = problem.objective(problem.kept, self.mixture)
        held_buckets = np.zeros((n_rows, len(problem.held)), np.uint8)
        for buckets, codes in zip(held_buckets, rows.codes, strict=True):
            for place, code in enumerate(codes):
                buckets |= self.family.held.bits(code) << place
        largest = LARGEST[self.counter_type]
        for strength in strengths:
            fitted = sweep(rows, objective, n_sweeps, strength=strength)
            grid = grid_for(fitted.values, int(largest), 0.99 if largest < 100 else 1.0)
            fitted = sweep(fitted, objective, n_sweeps, strength=strength, grid=grid)
            loss = problem.held_objective.loss(outputs_of(replace(fitted, buckets=held_buckets)))
            whole = grid.whole(fitted.values)
            name = f"{self.family.name} K={self.n_concat} L={n_rows} {self.counter_type} strength={strength:g}"
            yield Trial(name, loss, self._form(rows.codes, whole, grid.step, fitted.offset))
