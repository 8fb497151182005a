"""Kinds of codes that rows are chosen from, over the rows of a problem, and how such rows are stored."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..lsh.pool import CodePool, PooledRows
from ..model.inputs import Inputs
from .assemble import threshold_rows
from .candidates import Bits, Candidates
from .columns import STEPS_A_SPREAD
from .training_data import TrainingData

POOL_CODES = 1_024
SPREAD = 0.9  # of seeded biases, in standard deviations


@dataclass(frozen=True, eq=False)
class Family:
    """Codes of one kind over the kept and the held rows, and how rows of them are stored."""

    name: str
    kept: Candidates
    held: Candidates
    store: Callable[[np.ndarray], tuple[Inputs, PooledRows]]  # of codes (L, K)
    n_searched: int  # rows of data that codes are searched on


def threshold_family(problem: TrainingData, inputs: Inputs, is_fixed: bool = False) -> Family:
    """Learned thresholds on single columns; ``is_fixed``: the inputs stay as they are."""
    kept, held = problem.thresholds(inputs)

    def store(codes: np.ndarray) -> tuple[Inputs, PooledRows]:
        return threshold_rows(inputs, kept, codes, is_fixed=is_fixed)

    return Family("thresholds", kept, held, store, 100_000)


def bit_family(problem: TrainingData, seed: int) -> Family:
    """A pool of seeded bits: columns themselves, then sums of a few."""
    inputs = problem.standard
    pool = CodePool(
        "sparse",
        POOL_CODES,
        inputs.n_values,
        seed,
        n_axes=min(inputs.n_values, POOL_CODES // 2) if inputs.booleans.all() else 0,
        n_nonzeros=2,
        is_seeded=True,
        spread=round(SPREAD * STEPS_A_SPREAD * 256 / 148),
        width_bits=0,
        booleans=inputs.booleans,
    )

    def store(codes: np.ndarray) -> tuple[Inputs, PooledRows]:
        return inputs, PooledRows(pool, len(codes), codes.shape[1], codes)

    kept, held = (Bits(_pool_bits(pool, inputs.values(problem.X[rows]))) for rows in (problem.kept, problem.held))
    return Family("bits", kept, held, store, 6_000)


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
