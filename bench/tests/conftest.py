"""Tiny teachers with tiny data, so that every peer is built in a moment."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from repsketch_bench import boosters
from repsketch_bench.layers import network_of
from repsketch_bench.teachers import Case

WIDTHS = (5, 12, 8, 1)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    """Tests ask no server but their own."""
    monkeypatch.setenv("REPSKETCH_LIBSVM", "off")


@pytest.fixture(scope="session", params=["classification", "regression"])
def case(request):
    """A random network and rows that it labelled itself."""
    rng = np.random.default_rng(0)
    shapes = [(out, width) for width, out in pairwise(WIDTHS)]
    teacher = network_of([rng.normal(size=shape) for shape in shapes], [rng.normal(size=out) for out, _ in shapes])
    X = rng.normal(size=(600, WIDTHS[0])).astype(np.float32)
    with torch.inference_mode():
        y = teacher(torch.from_numpy(X))[:, 0].numpy()
    if request.param == "classification":
        with torch.no_grad():
            teacher[-1].bias -= float(np.median(y))  # both classes equally often
        y = (y > np.median(y)).astype(np.int64)
    arrays = [X[:300], y[:300], X[300:450], y[300:450], X[450:], y[450:]]
    return Case("tiny", request.param, teacher, *arrays)


@pytest.fixture(scope="session", autouse=True)
def _few_trees():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boosters, "TREES", (5, 20))
        patch.setattr(boosters, "LEAVES", (4, 8, 16))
        patch.setattr(boosters, "FOREST_LEAVES", (8, 16))
        patch.setattr(boosters, "FOREST_TREES", (3, 6))
        yield
