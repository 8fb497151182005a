"""Int8 networks: one or two hidden layers as wide as the bytes allow, rounded while they are trained."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from ..train.training_data import TrainingData
from .descent import Descended
from .layers import Layers, layers_nbytes, layers_outputs
from .peer import Budgeted
from .tuning import Settings, tune_each

RATES = (3e-3, 1e-2, 3e-2)
DECAYS, FEW_DECAYS = (0.0, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2), (0.0, 1e-2)  # few where a teacher is there
MOST_UNITS = 256  # of a layer; wider ones take minutes and the rows at hand do not fill them


def widest(n_inputs: int, n_hidden: int, problem: TrainingData, nbytes: int) -> tuple[int, ...] | None:
    """Widths of the widest network that fits, the second hidden layer half as wide as the first; None if none does.

    >>> from types import SimpleNamespace
    >>> widest(3, 2, SimpleNamespace(task="classification", n_outputs=1), 100)
    (3, 7, 3, 1)
    """
    for width in range(MOST_UNITS, 0, -1):
        widths = (n_inputs, *[width, width // 2][:n_hidden], problem.n_outputs)
        if min(widths) > 0 and layers_nbytes(widths, problem) <= nbytes:
            return widths
    return None


class Network(Descended):
    """Networks of one or two hidden layers, the second half as wide."""

    name = "int8 network"

    def settings(self, nbytes: int) -> Iterator[Settings]:
        """Depths, rates, weight decays and shares of the teacher."""
        decays = FEW_DECAYS if self.is_distilled else DECAYS
        for n_hidden, rate, decay, mixture in product((1, 2), RATES, decays, self.mixtures):
            yield {"n_hidden": n_hidden, "rate": rate, "decay": decay, "mixture": mixture}

    def shape(self, setting: Settings, nbytes: int) -> tuple[int, ...] | None:
        """Widths of the widest network that fits."""
        return widest(self.features.n_values, setting["n_hidden"], self.problem, nbytes - self.features.nbytes)

    def fit(self, shape: Any, settings: list[Settings]) -> list[Budgeted]:
        """Networks of these widths."""
        stack = Layers(shape, len(settings), self.seed)
        return [
            self.model(
                stack.stored(numbers, self.problem),
                setting | {"widths": list(shape), "stopped": float(numbers["stopped"])},
                lambda stored, values: layers_outputs(stored, stack.n_layers, values),
            )
            for setting, numbers in zip(settings, self.trained(stack, settings, self.lessons), strict=True)
        ]


def fit(problem: TrainingData, nbytes: int, *, seed: int = 0, is_distilled: bool = False) -> Budgeted | None:
    """The best int8 network of at most ``nbytes`` bytes, or None where no unit fits."""
    return tune_each(Network, problem, [nbytes], seed=seed, is_distilled=is_distilled)[nbytes]
