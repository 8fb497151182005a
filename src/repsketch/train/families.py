"""Families of codes that greedy rows are chosen from, over training and validation rows, and how they are stored."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..lsh.pool import PooledRows
from ..model.inputs import Inputs
from .assemble import threshold_rows
from .candidates import Thresholds
from .training_data import TrainingData


@dataclass(frozen=True, eq=False)
class CodeFamily:
    """Codes of one kind over the training and the validation rows, and how rows of them are stored."""

    name: str
    train: Thresholds
    validation: Thresholds
    store: Callable[[np.ndarray], tuple[Inputs, PooledRows]]  # from codes (L, K) to how they are stored
    n_searched: int  # training rows that codes are compared on, at most


def threshold_family(data: TrainingData, inputs: Inputs) -> CodeFamily:
    """Learned thresholds on single columns."""
    train, validation = data.thresholds(inputs)

    def store(codes: np.ndarray) -> tuple[Inputs, PooledRows]:
        return threshold_rows(inputs, train, codes)

    return CodeFamily("thresholds", train, validation, store, 8_000)
