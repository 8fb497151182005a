"""A fitted peer: a function of raw rows, and every array it stores, in its stored type."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..model.numbers import encode_bfloat16
from ..train.training_data import TrainingData
from .trees import tree_nbytes

SPLIT_NBYTES = tree_nbytes(2) - 2  # a tree of two leaves, without its leaves


@dataclass(frozen=True, eq=False)
class PeerModel:
    """A fitted model whose bytes are those of the arrays it stores.

    Attributes
    ----------
    name : of the method
    outputs : raw rows (n, d) float32 -> (n, C) log-odds, logits or values, computed from ``stored``
    stored : the arrays, each in the type it is stored in
    loss : validation loss, of labels alone, or the negative score of a metric
    settings : the hyper-parameters
    n_splits : splits of trees, 3 bytes each: a column, and a threshold in 16 bits. The structure of trees and the bits
        of sets of categories are not counted, in favour of trees
    n_tried : settings compared

    >>> model = PeerModel("tree", lambda X: X, {"leaves": np.zeros(2, np.int8)}, 0.5, n_splits=1)
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


def validation_loss(data: TrainingData, outputs: np.ndarray) -> float:
    """What outputs (m, C) for the validation rows are compared by, the loss or the negative score of a metric."""
    return float(data.validation_losses((outputs.astype(np.float64) - data.middle) / data.unit).mean())


def stored_offset(data: TrainingData, offset: np.ndarray) -> np.ndarray:
    """Offsets or gains (C,) of outputs as they are stored: float32 for values, bfloat16 for classes."""
    return offset.astype(np.float32) if data.task == "regression" else encode_bfloat16(offset)


def offset_nbytes(data: TrainingData) -> int:
    """Bytes of ``stored_offset``."""
    return data.n_outputs * (4 if data.task == "regression" else 2)
