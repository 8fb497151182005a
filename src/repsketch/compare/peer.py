"""What a peer of a given size hands back: a function of raw rows, and everything it keeps, in its own types."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..model.numbers import encode_bfloat16
from ..train.training_data import TrainingData
from .trees import tree_nbytes

SPLIT_NBYTES = tree_nbytes(2) - 2  # a tree of two leaves, without its leaves


@dataclass(frozen=True, eq=False)
class Budgeted:
    """A fitted model whose bytes are those of the arrays it keeps.

    Attributes
    ----------
    name : of the method
    outputs : raw rows (n, d) float32 -> (n, C) log-odds, logits or values, computed from what is kept
    stored : the arrays, each in the type it is kept in
    loss : on the rows held out, labels alone
    settings : what was chosen
    n_splits : of trees, 3 bytes each: a column, and a threshold in 16 bits. Where a node stands in its tree and the
        bits of a set of categories are not counted: in favour of trees
    n_tried : settings compared

    >>> model = Budgeted("tree", lambda X: X, {"leaves": np.zeros(2, np.int8)}, 0.5, n_splits=1)
    >>> model.nbytes
    5
    """

    name: str
    outputs: Callable[[np.ndarray], np.ndarray]
    stored: Mapping[str, np.ndarray]
    loss: float
    settings: dict[str, Any] = field(default_factory=dict)
    n_splits: int = 0
    n_tried: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes a device must hold."""
        return sum(array.nbytes for array in self.stored.values()) + SPLIT_NBYTES * self.n_splits


def held_loss(problem: TrainingData, outputs: np.ndarray) -> float:
    """Loss of outputs (m, C) for the rows held out."""
    return problem.held_objective.loss((outputs.astype(np.float64) - problem.middle) / problem.unit)


def stored_offset(problem: TrainingData, offset: np.ndarray) -> np.ndarray:
    """Offsets (C,) of outputs as they are kept: float32 for values, the upper half of one for classes."""
    return offset.astype(np.float32) if problem.task == "regression" else encode_bfloat16(offset)


def offset_nbytes(problem: TrainingData) -> int:
    """Bytes of ``stored_offset``."""
    return problem.n_outputs * (4 if problem.task == "regression" else 2)
