"""Int8 networks: one or two hidden layers as wide as the budget allows, with quantisation-aware training."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from ..train.training_data import TrainingData
from .descent import GradientTrained
from .layers import Layers, layers_nbytes, layers_outputs
from .peer import PeerModel
from .tuning import Settings, tune_each

LEARNING_RATES = (3e-3, 1e-2, 3e-2)
WEIGHT_DECAYS, FEW_WEIGHT_DECAYS = (0.0, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2), (0.0, 1e-2)  # few with a teacher
MAX_UNITS = 256  # of a layer; wider ones take minutes and are no better on tables of this size


def widest(n_inputs: int, n_hidden: int, data: TrainingData, nbytes: int) -> tuple[int, ...] | None:
    """Widths of the widest network that fits, the second hidden layer half as wide as the first; None if none does.

    >>> from types import SimpleNamespace
    >>> widest(3, 2, SimpleNamespace(task="classification", n_outputs=1), 100)
    (3, 7, 3, 1)
    """
    for width in range(MAX_UNITS, 0, -1):
        widths = (n_inputs, *[width, width // 2][:n_hidden], data.n_outputs)
        if min(widths) > 0 and layers_nbytes(widths, data) <= nbytes:
            return widths
    return None


class Network(GradientTrained):
    """Networks of one or two hidden layers, the second half as wide."""

    name = "int8 network"

    def settings(self, nbytes: int) -> Iterator[Settings]:
        """Depths, learning rates, weight decays and weights of the soft labels."""
        decays = FEW_WEIGHT_DECAYS if self.is_distilled else WEIGHT_DECAYS
        for n_hidden, rate, decay, mixture in product((1, 2), LEARNING_RATES, decays, self.mixtures):
            yield {"n_hidden": n_hidden, "rate": rate, "decay": decay, "mixture": mixture}

    def shape(self, setting: Settings, nbytes: int) -> tuple[int, ...] | None:
        """Widths of the widest network that fits."""
        return widest(self.features.n_values, setting["n_hidden"], self.data, nbytes - self.features.nbytes)

    def fit(self, shape: Any, settings: list[Settings]) -> list[PeerModel]:
        """Networks of these widths."""
        stack = Layers(shape, len(settings), self.seed)
        return [
            self.model(
                stack.stored(numbers, self.data),
                setting | {"widths": list(shape), "stopped": float(numbers["stopped"])},
                lambda stored, values: layers_outputs(stored, stack.n_layers, values),
            )
            for setting, numbers in zip(settings, self.trained(stack, settings, self.row_sets), strict=True)
        ]


def fit(data: TrainingData, nbytes: int, *, seed: int = 0, is_distilled: bool = False) -> PeerModel | None:
    """The best int8 network of at most ``nbytes`` bytes, or None if not one unit fits."""
    return tune_each(Network, data, [nbytes], seed=seed, is_distilled=is_distilled)[nbytes]
