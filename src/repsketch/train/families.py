"""Families of codes that greedy rows are chosen from, over training and validation rows, and how they are stored."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..lsh.pool import CodePool, PooledRows
from ..model.inputs import Inputs
from .assemble import threshold_rows
from .candidates import Bits, Candidates
from .columns import STEPS_PER_DEVIATION
from .training_data import TrainingData

POOL_CODES = 1_024
BIAS_DEVIATION = 0.9  # of seeded biases, in standard deviations of a column
MAX_BIT_BYTES = 6_144  # of rows over seeded bits: more take long to grow, and thresholds are then as good


@dataclass(frozen=True, eq=False)
class CodeFamily:
    """Codes of one kind over the training and the validation rows, and how rows of them are stored."""

    name: str
    train: Candidates
    validation: Candidates
    store: Callable[[np.ndarray], tuple[Inputs, PooledRows]]  # from codes (L, K) to how they are stored
    n_searched: int  # training rows that codes are compared on, at most


def threshold_family(data: TrainingData, inputs: Inputs) -> CodeFamily:
    """Learned thresholds on single columns."""
    train, validation = data.thresholds(inputs)

    def store(codes: np.ndarray) -> tuple[Inputs, PooledRows]:
        return threshold_rows(inputs, train, codes)

    return CodeFamily("thresholds", train, validation, store, 8_000)


def bit_family(data: TrainingData, seed: int) -> CodeFamily:
    """A pool of seeded bits: single columns, then signed sums of two."""
    inputs = data.standard
    pool = CodePool(
        "sparse",
        POOL_CODES,
        inputs.n_values,
        seed,
        n_axes=min(inputs.n_values, POOL_CODES // 2) if inputs.booleans.all() else 0,
        n_nonzeros=2,
        is_seeded=True,
        bias_scale=round(BIAS_DEVIATION * STEPS_PER_DEVIATION * 256 / 148),
        width_bits=0,
        booleans=inputs.booleans,
    )

    def store(codes: np.ndarray) -> tuple[Inputs, PooledRows]:
        return inputs, PooledRows(pool, len(codes), codes.shape[1], codes)

    train, validation = (
        Bits(_pool_bits(pool, inputs.values(data.X[rows]))) for rows in (data.train_rows, data.validation_rows)
    )
    return CodeFamily("bits", train, validation, store, 6_000)


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
