"""From a kernel model to the sketch that users hold."""

from typing import Any

from ..paper.build import build_counters
from ..paper.kernel_model import KernelModel
from .sketch import KernelSketch, as_kernel_sketch


def build_sketch(
    kernel: KernelModel,
    n_rows: int = 500,
    n_buckets: int = 2,
    aggregate: str = "mean",
    n_groups: int | None = None,
    random_state: Any = 0,
    *,
    fold: str = "auto",
    debias: bool = True,
    progress: bool = True,
) -> KernelSketch:
    """The sketch of a kernel model: L rows of R counters. Paper: Algorithm 1.

    Parameters
    ----------
    kernel : what ``distill`` returned
    n_rows, n_buckets : L and R
    aggregate : "mean" or "median_of_means", then with ``n_groups`` groups (default: Lemma 1 at delta = 0.05)
    random_state : seed of the hash functions; a kernel trained "as_hashed" has the directions of its
        own ``random_state``, so give the same
    fold : "universal" hashes K codes into R buckets, and its collisions are debiased exactly;
        "direct" clamps each code to a few levels around the points' centre and uses their joint value;
        "auto" is "direct" for sign bits that fill the buckets (R = 2**K), else "universal"
    debias : take out the universal fold's accidental collisions (erratum 2)

    >>> import numpy as np
    >>> from repsketch import distill
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> kernel = distill(lambda X: X[:, 0], X, n_points=16, n_components=2, n_epochs=5)
    >>> build_sketch(kernel, n_rows=20, n_buckets=4).counters.shape
    (20, 4, 1)
    """
    counters = build_counters(
        kernel, n_rows, n_buckets, aggregate, n_groups, random_state, fold=fold, debias=debias, progress=progress
    )
    return as_kernel_sketch(counters)
