"""Linear models: int8 weights, one step an output."""

from collections.abc import Iterator
from itertools import product

from ...tune.problem import Problem
from .layers import layers_nbytes
from .model import Budgeted
from .network import Network
from .tuning import Settings, tune_each

RATES = (3e-3, 1e-2, 3e-2)
FEW_DECAYS = (0.0, 1e-3, 1e-2, 1e-1)  # where a teacher is there
DECAYS = (0.0, *(1e-4 * 2.0**power for power in range(11)))


class Linear(Network):
    """Networks without a hidden layer: logistic regression, or the line of the least absolute error."""

    name = "linear"

    def settings(self, nbytes: int) -> Iterator[Settings]:
        """Rates, weight decays and shares of the teacher."""
        decays = FEW_DECAYS if self.is_distilled else DECAYS
        for rate, decay, mixture in product(RATES, decays, self.mixtures):
            yield {"rate": rate, "decay": decay, "mixture": mixture}

    def shape(self, setting: Settings, nbytes: int) -> tuple[int, ...] | None:
        """Inputs and outputs, if they fit."""
        widths = self.features.n_values, self.problem.n_outputs
        return widths if self.features.nbytes + layers_nbytes(widths, self.problem) <= nbytes else None


def fit(problem: Problem, nbytes: int, *, seed: int = 0, is_distilled: bool = False) -> Budgeted | None:
    """The best linear model, or None where it takes more than ``nbytes`` bytes."""
    return tune_each(Linear, problem, [nbytes], seed=seed, is_distilled=is_distilled)[nbytes]
