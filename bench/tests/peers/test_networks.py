"""Networks by our own search: as many fits, of as many steps; bytes counted without headers; pruned ones are sparse."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from repsketch.compare.peer import validation_loss
from repsketch.errors import InputError
from repsketch.train import search as searching
from repsketch.train.effort import EFFORTS
from repsketch.train.recipes import GreedyRecipe
from repsketch.train.search import search
from repsketch.train.stage_recipes import StageRecipe
from repsketch.train.stage_sizes import StageSizes
from repsketch.train.stage_trials import StageRows, StageTrials
from repsketch_bench.peers.networks import MIN_SPARSITY, Networks, NetworkSizes
from repsketch_bench.peers.sparse import unpack_matrix
from support.datasets import data_of

KINDS = ("two classes", "three classes", "values")


def test_recipes_become_networks_in_int8():
    tables = StageRecipe(0.5, 0, n_entries=4, first_bits=4, matrix_bits=4)
    network, pruned = (Networks(True, is_pruned).network(tables) for is_pruned in (False, True))
    assert network == StageRecipe(0.5, 1, "relu")
    assert pruned == StageRecipe(0.5, 1, "relu", sparsity=MIN_SPARSITY)
    deep = StageRecipe(0.0, 3, "relu", sparsity=0.85, learning_rate=0.04)
    assert Networks(True).network(deep) == replace(deep, sparsity=0.0)
    assert Networks(True, is_pruned=True).network(deep) == deep
    assert Networks(True).network(GreedyRecipe("thresholds", 0.5)) is None


@pytest.mark.parametrize("is_pruned", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_networks_fill_their_bytes(kind, is_pruned):
    """Every number that is stored is counted, and one unit more in the first layer would not fit."""
    data, recipe = data_of(kind), StageRecipe(0.0, 2, "relu", sparsity=0.7 * is_pruned)
    trials = StageTrials(StageRows(data), recipe, count=NetworkSizes)
    shape = trials.shape(1_000)
    wider = trials.sizes.shape(shape.widths[0] + 1, recipe.sparsity, shape.has_offset)
    assert trials.sizes.nbytes(shape) <= 1_000 < trials.sizes.nbytes(wider)
    assert trials.sizes.nbytes(shape) < StageTrials(StageRows(data), recipe).sizes.nbytes(shape)
    trial = trials.trial(trials.trained(shape, 60), shape, 60)
    model = Networks(False, is_pruned).stored(data, trial)
    assert validation_loss(data, model.outputs(data.X[data.validation_rows])) == pytest.approx(trial.loss, rel=0.01)
    assert model.nbytes <= trials.sizes.nbytes(shape)
    assert is_pruned or model.nbytes == trials.sizes.nbytes(shape)


def test_pruned_networks_are_sparse():
    model = dict(Networks(False, is_pruned=True).models(data_of("values"), [1_000], is_quick=True))[1_000]
    for k, (n, p) in enumerate(pairwise(model.settings["widths"][:-1])):
        packed = {name.removesuffix(f" {k}"): a for name, a in model.stored.items() if name.endswith(f" {k}")}
        assert np.count_nonzero(unpack_matrix(packed, (n, p))) < n * p


def test_the_search_is_that_of_sketches(monkeypatch):
    """The same effort, hence as many fits, of as many steps."""
    seen = []

    def listen(data, budget, **options):
        seen.append((budget, options["effort"], options["count"], data.soft_labels is None))
        return search(data, budget, **options | {"effort": EFFORTS["fast"]})

    monkeypatch.setattr("repsketch_bench.peers.networks.search", listen)
    data = data_of("values")
    list(Networks(True).models(data, [400, 100]))
    list(Networks(False).models(data, [100]))
    normal = EFFORTS["normal"]
    assert seen == [
        (100, normal, NetworkSizes, False), (400, normal, NetworkSizes, False), (100, normal, NetworkSizes, True),
    ]  # fmt: skip
    assert searching.search.__kwdefaults__["count"] is StageSizes


def test_a_smaller_network_that_is_better_is_used_again(monkeypatch):
    data, found = data_of("values"), {}

    def rising(data, budget, **options):
        trials = search(data, budget, **options | {"effort": EFFORTS["fast"]})
        found[budget] = [replace(trial, losses=trial.losses + budget) for trial in trials]
        return found[budget]

    monkeypatch.setattr("repsketch_bench.peers.networks.search", rising)
    models = dict(Networks(False).models(data, [100, 200]))
    assert models[100] is models[200]
    assert models[100].loss == found[100][0].loss


def test_a_teacher_is_needed_to_be_distilled():
    with pytest.raises(InputError, match="have no soft labels"):
        list(Networks(True).models(data_of("values", has_soft_labels=False), [100]))
