"""Int8 networks, dense or pruned, found by the search that finds sketches: as many fits, of as many steps."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from repsketch.compare.network_arrays import (
    Pack,
    Unpack,
    input_arrays,
    network_arrays,
    network_from,
    pack_dense,
    unpack_dense,
)
from repsketch.compare.peer import PeerModel
from repsketch.errors import InputError
from repsketch.model.model import Model
from repsketch.runtime import runtime_for
from repsketch.train.effort import EFFORTS
from repsketch.train.fitter import Recipe
from repsketch.train.search import Outcome, search
from repsketch.train.stage_recipes import StageRecipe
from repsketch.train.stage_shape import Shape, n_pruned
from repsketch.train.stage_sizes import StageSizes
from repsketch.train.training_data import TrainingData
from repsketch.train.trials import Trial

from .sparse import nonzeros_nbytes, pack_matrix, unpack_matrix

MIN_SPARSITY = 0.5  # of a pruned network; recipes with less get this one


class NetworkSizes(StageSizes):
    """Bytes of what a network stores, without headers: gains and offsets of classes take two bytes each."""

    def nbytes(self, shape: Shape) -> int:
        """Bytes of a network of this shape."""
        widths, last = (self.inputs.n_values, *shape.widths), shape.widths[-1]
        matrices = (matrix_nbytes(*size, share) for size, share in zip(pairwise(widths), shape.sparsities, strict=True))
        n_floats = (1 if self.has_equal_units else self.n_outputs) + (self.n_outputs if shape.has_offset else 0)
        inputs = sum(array.nbytes for array in input_arrays(self.inputs).values())
        floats = n_floats * (4 if self.task == "regression" else 2)
        return inputs + sum(matrices) + 2 * sum(shape.widths) + last * self.n_outputs + floats


def matrix_nbytes(n_inputs: int, n_units: int, sparsity: float) -> int:
    """Bytes of a matrix, at most: weights of a pruned one that are rounded to 0 make it smaller still."""
    size = n_inputs * n_units
    return size if not sparsity else nonzeros_nbytes((n_inputs, n_units), size - n_pruned(sparsity, size))


@dataclass(frozen=True)
class Networks:
    """Networks of one to three hidden layers, dense or pruned; ``is_distilled``: with the teacher's soft labels."""

    is_distilled: bool
    is_pruned: bool = False

    def models(
        self, data: TrainingData, budgets: Iterable[int], *, seed: int = 0, is_quick: bool = False
    ) -> Iterator[tuple[int, PeerModel | None]]:
        """Budgets in rising order, each with its best network; one that is better than a larger one is used again."""
        if self.is_distilled and data.soft_labels is None:
            raise InputError("is_distilled=True, but the data have no soft labels; pass them, or is_distilled=False.")
        data = data if self.is_distilled else replace(data, soft_labels=None)
        effort = EFFORTS["fast" if is_quick else "normal"]
        best: PeerModel | None = None
        outcomes: dict[int, Outcome | None] = {}
        for nbytes in sorted(budgets):
            try:
                found = search(
                    data, nbytes, seed=seed, progress=False, change=self.network, effort=effort, count=NetworkSizes,
                    outcomes=outcomes,
                )  # fmt: skip
            except InputError:  # nothing of the kind is so small
                yield nbytes, best
                continue
            if best is None or found[0].loss < best.loss:
                best = replace(self.stored(data, found[0]), n_tried=len(found))
            yield nbytes, best

    def network(self, recipe: Recipe) -> Recipe | None:
        """The network that is tried in place of a recipe, its matrices in int8."""
        if not isinstance(recipe, StageRecipe):
            return None
        plain, n_hidden = StageRecipe(recipe.mixture), max(1, recipe.n_hidden)
        return replace(
            recipe, activation="relu", n_hidden=n_hidden,
            sparsity=max(MIN_SPARSITY, recipe.sparsity) if self.is_pruned else 0.0, first_bits=8, matrix_bits=8,
            n_entries=plain.n_entries,
        )  # fmt: skip

    def stored(self, data: TrainingData, trial: Trial) -> PeerModel:
        """The network of a trial as the arrays that it stores, from which it predicts."""
        ways: tuple[Pack, Unpack] = (pack_matrix, unpack_matrix) if self.is_pruned else (pack_dense, unpack_dense)
        return network_of(trial.model, data, *ways, loss=trial.loss, name=trial.name, is_pruned=self.is_pruned)


def network_of(
    model: Model, data: TrainingData, pack: Pack, unpack: Unpack, *, loss: float, name: str, is_pruned: bool
) -> PeerModel:
    """A network that predicts from its stored arrays."""
    stored = network_arrays(model, data, pack)

    def outputs(X: np.ndarray) -> np.ndarray:
        return runtime_for(network_from(stored, model, unpack)).outputs(X)

    widths = [model.stages[0].matrix.shape[0], *(stage.matrix.shape[1] for stage in model.stages), data.n_outputs]
    settings = {"name": name, "widths": widths}
    return PeerModel("pruned network" if is_pruned else "int8 network", outputs, stored, loss, settings)
