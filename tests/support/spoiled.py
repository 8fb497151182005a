"""Good arguments that the tests here spoil one by one, and what every error must be."""

import numpy as np
import pytest
import scipy.sparse as sp

from repsketch import KernelModel, Sketch, build_sketch, lsh
from repsketch.errors import RepSketchError

N, D = 6, 3
QUICK = {"n_points": 4, "n_components": 2, "n_epochs": 1, "progress": False}


def good_table() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(N, D))


def good_targets() -> np.ndarray:
    return np.arange(N, dtype=float)


def teacher(X):
    return np.asarray(X.todense() if sp.issparse(X) else X)[:, 0]


def kernel_model(**changes) -> KernelModel:
    rng = np.random.default_rng(1)
    draw = lambda *shape: rng.normal(size=shape).astype(np.float32)  # noqa: E731
    arrays = {"points": draw(4, 2), "weights": draw(4, 1), "bias": draw(1), "projection": draw(D, 2)}
    return KernelModel(**{**arrays, "family": lsh.L2(bandwidth=1.0), **changes})


def built(**options) -> Sketch:
    return build_sketch(kernel_model(), **{"n_rows": 5, "n_buckets": 4, "progress": False, **options})


def empty(**options) -> Sketch:
    defaults = {"family": lsh.L2(bandwidth=1.0), "n_rows": 5, "n_buckets": 4, "n_features": D}
    return Sketch.empty(**{**defaults, **options})


def check(call, error, words):
    """``call`` raises this child of the root, with a message that has these words and is one readable line."""
    assert issubclass(error, RepSketchError)
    with pytest.raises(RepSketchError, match=words) as caught:
        call()
    assert type(caught.value) is error
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
