"""Pruned networks: wide ones that drop their smallest weights in training, and store the rest in int8 with places."""

import numpy as np

from repsketch.compare.network import Network
from repsketch.compare.peer import PeerModel
from repsketch.compare.tuning import Settings, tune_each
from repsketch.train.stage_shape import n_pruned
from repsketch.train.training_data import TrainingData

from .sparse import nonzeros_nbytes, pack_matrix, unpack_matrix

SPARSITIES = (0.5, 0.7, 0.8, 0.9)  # shares of a matrix that are dropped


class Pruned(Network):
    """Networks of one to three hidden layers; the weights of the outputs are not pruned."""

    name = "pruned network"
    pack, unpack = staticmethod(pack_matrix), staticmethod(unpack_matrix)

    def designed(self) -> list[Settings]:
        """The designed settings of a network, pruned by half and more."""
        settings = super().designed()
        return [setting | {"sparsity": SPARSITIES[k % len(SPARSITIES)]} for k, setting in enumerate(settings)]

    def draw(self, rng: np.random.Generator) -> Settings:
        """A setting at random."""
        return super().draw(rng) | {"sparsity": SPARSITIES[int(rng.integers(len(SPARSITIES)))]}

    def matrix_nbytes(self, n_inputs: int, n_units: int, sparsity: float) -> int:
        """Bytes of a pruned matrix; weights that are rounded to 0 make it smaller still."""
        size = n_inputs * n_units
        return nonzeros_nbytes((n_inputs, n_units), size - n_pruned(sparsity, size))


def fit(data: TrainingData, nbytes: int, *, seed: int = 0, is_distilled: bool = False) -> PeerModel | None:
    """The best pruned network of at most ``nbytes`` bytes, or None where none is so small."""
    return tune_each(Pruned, data, [nbytes], seed=seed, is_distilled=is_distilled)[nbytes]
