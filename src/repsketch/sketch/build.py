"""Stage 2: fold a kernel model into counters. Paper: Algorithm 1."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..kernel import KernelModel
from ..lsh import RowHashes
from ..lsh.generator import resolve_seed
from .aggregate import choose_groups
from .counters import Counters, step_for
from .kernel_sketch import KernelSketch


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
    """The sketch of a kernel model: L rows of R counters.

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
    if not isinstance(kernel, KernelModel):
        raise InputError(f"build_sketch takes a KernelModel, not {type(kernel).__name__}; call distill first.")
    family = kernel.family
    if fold == "auto":
        fold = "direct" if family.is_binary and n_buckets == 2**kernel.n_concat else "universal"
    n_components, seed = kernel.points.shape[1], resolve_seed(random_state)
    hashes = RowHashes(family, n_rows, n_buckets, n_components, kernel.n_concat, seed, fold)
    points, shift = kernel.points, kernel.shift
    bias = kernel.bias.astype(np.float64)
    if fold == "direct" and family.is_shift_invariant:  # levels are counted from the middle of the points
        centre = np.median(points, axis=0)
        points = points - centre
        shift = -centre if shift is None else shift - centre
        bias = bias if kernel.linear is None else bias + centre @ kernel.linear
    unit = family.unit_scale
    sketch = KernelSketch(
        hashes,
        Counters.zeros(n_rows, n_buckets, kernel.n_outputs, step_for(kernel.weights)),
        projection=_in_units(kernel.projection, unit),
        shift=_in_units(shift, unit),
        linear=_in_units(kernel.linear, 1.0 / unit),
        output_bias=bias,
        debias=debias,
        n_groups=choose_groups(aggregate, n_groups, n_rows),
        task=kernel.task,
        classes=kernel.classes,
        sample=kernel.sample,
    )
    return sketch.add(points, kernel.weights, progress=progress)


def spread_levels(kernel: KernelModel, X: Any, n_buckets: int) -> KernelModel:
    """The kernel model with a bucket width that spreads ``n_buckets`` levels of a direct fold over the data.

    The kernel's own width is what makes the paper's counters unbiased. Counters that will be refitted
    need no such link, and predict better when a row's levels reach two standard deviations either side.
    """
    deviation = float(np.sqrt(kernel.transform(X).var(axis=0, dtype=np.float64).sum()))
    if deviation == 0.0:
        return kernel
    return replace(kernel, family=kernel.family.with_bandwidth(4.0 * deviation / n_buckets))


def _in_units(array: np.ndarray | None, unit: float) -> np.ndarray | None:
    return None if array is None else (array.astype(np.float64) * unit).astype(np.float32)
