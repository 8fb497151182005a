"""Peers use all bytes they are given, and not one more."""

import pytest

from repsketch_bench.peers.forest import Forest
from repsketch_bench.peers.fourier import MOST_FEATURES, Fourier
from repsketch_bench.peers.prototypes import MOST_POINTS, Kernels, Prototypes
from support.datasets import data_of

KINDS = ("two classes", "three classes", "values")


def method_of(kind, data, largest=65_536):
    return kind(data, seed=0, is_distilled=False, largest=largest, is_screening=True)


def nbytes_of(arrays) -> int:
    return sum(array.nbytes for array in arrays.values())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nbytes", [300, 1_000, 4_000])
def test_prototypes_fill_their_bytes(kind, nbytes):
    data = data_of(kind)
    method = method_of(Prototypes, data)
    n_components, n_points = method.shape({"n_components": 2}, nbytes)
    stack = Kernels(method.row_sets[0], n_components, n_points, 1, 0)
    stored = stack.stored({name: value[0] for name, value in stack.start.items()}, data)
    used = nbytes_of({**method.features.stored, **stored})
    assert used <= nbytes
    assert n_points == MOST_POINTS or nbytes < used + n_components + data.n_outputs


@pytest.mark.parametrize("kind", KINDS)
def test_fourier_features_fill_their_bytes(kind):
    data = data_of(kind)
    assert MOST_FEATURES == 2_048
    for nbytes in (300, 1_000, 2_000):
        n_features = method_of(Fourier, data).shape({"width": 1.0}, nbytes)[1]
        assert 0.8 * nbytes < n_features * data.n_outputs + 100 < nbytes + 100
    assert method_of(Fourier, data).shape({"width": 1.0}, 1 << 20)[1] == MOST_FEATURES


@pytest.mark.parametrize("nbytes", [300, 1_000])
def test_forests_fill_their_bytes(nbytes):
    data = data_of("two classes")
    setting = {"variant": "random", "share": 1.0, "mixture": 0.0, "n_leaves": 8}
    ((_, model),) = method_of(Forest, data, nbytes).fit_all([setting], nbytes)
    assert nbytes - 40 < model.nbytes <= nbytes
