"""Stage 2: fold a kernel model into counters. Paper: Algorithm 1."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..lsh import RowHashes
from ..lsh.generator import resolve_seed
from ..model.aggregate import choose_groups
from ..model.counters import Counters, step_for
from .kernel_counters import KernelCounters
from .kernel_model import KernelModel


def build_counters(
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
) -> KernelCounters:
    """Counters of a kernel model: L rows of R, every point added with its weight.

    Parameters as for ``repsketch.build_sketch``.
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
    if fold == "direct" and family.is_shift_invariant:  # levels are counted from the median of the points
        centre = np.median(points, axis=0)
        points = points - centre
        shift = -centre if shift is None else shift - centre
        bias = bias if kernel.linear is None else bias + centre @ kernel.linear
    unit = family.unit_scale
    blank = KernelCounters(
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
    return blank.add(points, kernel.weights, progress=progress)


def with_covering_bandwidth(kernel: KernelModel, X: Any, n_buckets: int) -> KernelModel:
    """The kernel model with a bandwidth such that ``n_buckets`` levels of a direct fold cover the data.

    The paper's counters are unbiased only with the kernel's own bandwidth. Counters that will be refitted do not need
    it, and predict better when the levels of a row cover two standard deviations on either side.
    """
    deviation = float(np.sqrt(kernel.transform(X).var(axis=0, dtype=np.float64).sum()))
    if deviation == 0.0:
        return kernel
    return replace(kernel, family=kernel.family.with_bandwidth(4.0 * deviation / n_buckets))


def _in_units(array: np.ndarray | None, unit: float) -> np.ndarray | None:
    return None if array is None else (array.astype(np.float64) * unit).astype(np.float32)
