"""The paper's sketch as data: hash functions and counters that are sums of weights of hashed points, or refitted.

Made by ``build_counters`` from a kernel model, or empty for a stream of points. Its model is one group of rows in
float32 whose rows own their codes. Beyond the model it has the sums behind the counters.
"""

from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from ..checks import check_count
from ..data.arrays import as_outputs, as_table, check_width, iterate_blocks, sample_rows
from ..errors import InputError, MergeError
from ..lsh import Family, RowHashes
from ..lsh.generator import resolve_seed
from ..model.aggregate import choose_groups
from ..model.counters import DEFAULT_STEP, Counters, Sums
from ..model.inputs import Inputs
from ..model.model import MAX_OUTPUTS, Model
from ..model.projection import LARGEST_ENTRY, Projection
from ..model.rows import RowGroup
from ..progress import progress_bar
from ..theory import Cost

SAMPLE_ROWS = 512  # inputs stored for quantising


@dataclass(frozen=True, eq=False, repr=False)
class KernelCounters:
    """Counters over hash functions, and how outputs come from them.

    An output is ``gain * aggregate(counters[l, h_l(z)]) + offset``, plus ``linear`` on z if there.

    Attributes
    ----------
    hashes : the functions h_1 ... h_L, given by family, sizes and seed
    counters : (L, R, C) float32, S of the paper
    projection : (d, p) float32 in the family's units (A times ``family.unit_scale``), or None
    shift : (p,) float32 added after the projection, or None
    linear : (p, C) float32 on the projected input, or None
    output_scale, output_bias : numbers or (C,) float64, applied to the debiased estimate
    debias : take the fold's accidental collisions out of the estimate (erratum 2)
    n_groups : 1 for the mean, else groups of the median of means
    sums : the additive state behind the counters; None once they are refitted
    task, classes : what the outputs mean
    """

    hashes: RowHashes
    sums: Counters | None
    fitted: np.ndarray | None = None  # (L, R, C) float32: refitted counters, in place of sums
    projection: np.ndarray | None = None
    shift: np.ndarray | None = None
    linear: np.ndarray | None = None
    output_scale: np.ndarray | float = 1.0
    output_bias: np.ndarray | float = 0.0
    debias: bool = True
    n_groups: int = 1
    task: str | None = None
    classes: np.ndarray | None = None
    sample: np.ndarray | None = None  # a few inputs (n, d), float32, to quantise by; not saved

    def __post_init__(self) -> None:
        for name in ("projection", "shift", "linear"):
            array = getattr(self, name)
            if array is not None and not np.all(np.abs(array) <= LARGEST_ENTRY):  # NaN fails too
                raise InputError(f"{name} holds values beyond {LARGEST_ENTRY:.0e} or NaN; rescale the data.")

    @classmethod
    def empty(
        cls,
        family: Family,
        n_rows: int,
        n_buckets: int,
        n_features: int,
        n_concat: int = 1,
        *,
        n_outputs: int = 1,
        aggregate: str = "mean",
        n_groups: int | None = None,
        fold: str = "universal",
        debias: bool = True,
        weight_step: float = DEFAULT_STEP,
        random_state: Any = 0,
    ) -> Self:
        """Counters without points: those of a weighted RACE sketch before its first point."""
        hashes = RowHashes(family, n_rows, n_buckets, n_features, n_concat, resolve_seed(random_state), fold)
        check_count("n_outputs", n_outputs, MAX_OUTPUTS)
        n_groups = choose_groups(aggregate, n_groups, n_rows)
        return cls(hashes, Counters.zeros(n_rows, n_buckets, n_outputs, weight_step), debias=debias, n_groups=n_groups)

    @cached_property
    def counters(self) -> np.ndarray:
        """S of the paper, (L, R, C) float32: sums of weights, or what ``refit`` put in their place."""
        if self.sums is not None:
            return self.sums.values.astype(np.float32)
        assert self.fitted is not None
        return self.fitted

    @property
    def n_features(self) -> int:
        """Number of input features, d."""
        return len(self.projection) if self.projection is not None else self.hashes.n_features

    @property
    def n_outputs(self) -> int:
        """Number of outputs, C."""
        return self.counters.shape[2]

    @property
    def n_rows(self) -> int:
        """Rows of counters, L."""
        return self.hashes.n_rows

    @property
    def n_buckets(self) -> int:
        """Buckets a row, R."""
        return self.hashes.n_buckets

    @cached_property
    def _affine(self) -> tuple[np.ndarray, np.ndarray]:
        """Gain and offset (C,) that undo the fold's bias and apply the output's scale and bias, float64.

        Erratum 2: E[mean] = f + rate * (total - f), so f = (mean - rate * total) / (1 - rate).
        """
        scale, bias = (np.full(self.n_outputs, value) for value in (self.output_scale, self.output_bias))
        if self.sums is None or not self.debias:
            return scale, bias
        rate = self.hashes.collision_rate
        gain = scale / (1.0 - rate)
        return gain, bias - gain * rate * (self.sums.total * self.sums.step)

    @cached_property
    def gain(self) -> np.ndarray:
        """What the aggregate is multiplied by, float32 (C,)."""
        return self._affine[0].astype(np.float32)

    @cached_property
    def offset(self) -> np.ndarray:
        """What is added after the gain, float32 (C,)."""
        return self._affine[1].astype(np.float32)

    @cached_property
    def model(self) -> Model:
        """What predicts: one group of rows that own their codes, in float32."""
        family = self.hashes.family
        inputs, projection = Inputs(self.n_features), None
        if self.projection is not None:
            projection = Projection("float32", self.hashes.n_features, self.projection, shift=self.shift)
        else:
            if family.unit_scale != 1.0:
                inputs = Inputs(self.n_features, scales=np.full(1, family.unit_scale, np.float32))
            if self.shift is not None:
                projection = Projection("shift", self.hashes.n_features, shift=self.shift)
        aggregate = "mean" if self.n_groups == 1 else "median_of_means"
        rows = RowGroup(self.hashes, self.counters, self.gain, aggregate=aggregate, n_groups=self.n_groups)
        return Model(inputs, projection, (rows,), self.offset, self.linear, task=self.task, classes=self.classes)

    def cost(self) -> Cost:
        """What one prediction costs: numbers, operations, energy."""
        return Cost.of_sketch(
            self.n_features,
            self.hashes.n_features,
            self.n_rows,
            self.n_buckets,
            self.hashes.n_concat,
            self.n_outputs,
            projected=self.projection is not None,
            dense_directions=not self.hashes.family.has_ternary_directions,
            universal_fold=self.hashes.fold == "universal",
            has_shift=self.shift is not None,
            has_linear=self.linear is not None,
        )

    def add(self, points: Any, weights: Any = None, *, progress: bool = True) -> Self:
        """With weighted points added. Paper: Algorithm 1.

        Parameters
        ----------
        points : (n, p) in the space that is hashed: after the projection and shift, if there are any
        weights : (n,) or (n, C); 1 for every point by default

        >>> from repsketch import lsh
        >>> blank = KernelCounters.empty(lsh.L1(bandwidth=1.0), n_rows=50, n_buckets=16, n_features=1)
        >>> blank.add([[0.0], [0.0], [5.0]]).counters.sum(axis=1)[0]
        array([3.], dtype=float32)
        """
        return self._accumulate(points, weights, sign=1, progress=progress)

    def subtract(self, points: Any, weights: Any = None, *, progress: bool = True) -> Self:
        """With weighted points taken off: exactly what it was before they were added.

        >>> from repsketch import lsh
        >>> blank = KernelCounters.empty(lsh.L1(bandwidth=1.0), n_rows=50, n_buckets=16, n_features=1)
        >>> bool(blank.add([[0.1]], [0.7]).subtract([[0.1]], [0.7]).counters.any())
        False
        """
        return self._accumulate(points, weights, sign=-1, progress=progress)

    def _accumulate(self, points: Any, weights: Any, sign: int, progress: bool) -> Self:
        state = self._additive("added to")
        table = as_table(points, "points")
        check_width(table, self.hashes.n_features, "points")
        n = table.shape[0]
        values = np.ones((n, self.n_outputs)) if weights is None else as_outputs(weights, n, "weights", np.inf)
        if values.shape[1] != self.n_outputs:
            raise InputError(f"weights have {values.shape[1]} columns; this sketch has {self.n_outputs} outputs.")
        with progress_bar("sketching", total=n, enabled=progress) as bar:
            for start, block in iterate_blocks(table, "points"):
                z = self.hashes.family.in_units(block)
                steps = sign * state.round(values[start : start + len(block)])
                state = self._add_block(state, z, steps)
                bar.advance(len(block))
        if self.sample is None and self.projection is None and self.shift is None and n:
            return replace(self, sums=state, sample=sample_rows(table, SAMPLE_ROWS))
        return replace(self, sums=state)

    def _add_block(self, state: Counters, z: np.ndarray, steps: np.ndarray) -> Counters:
        at_once = state.rows_at_once(steps)
        for start in range(0, len(steps), at_once):
            points, weights = z[:, start : start + at_once], steps[start : start + at_once]
            sums = np.empty_like(state.sums)
            for row in range(self.n_rows):
                bucket = self.hashes.buckets(points, row)
                for output in range(self.n_outputs):
                    sums[row, :, output] = np.bincount(bucket, weights[:, output], self.n_buckets)
            state = state.plus(sums, weights.sum(axis=0).astype(np.int64))
        return state

    def merge(self, other: Self) -> Self:
        """With the points of both: the same bytes as one build over all of them.

        >>> from repsketch import lsh
        >>> blank = KernelCounters.empty(lsh.L1(bandwidth=1.0), n_rows=50, n_buckets=16, n_features=1)
        >>> both = blank.add([[0.0], [1.0]])
        >>> merged = blank.add([[0.0]]).merge(blank.add([[1.0]]))
        >>> merged.counters.tobytes() == both.counters.tobytes()
        True
        """
        if not isinstance(other, KernelCounters):
            raise MergeError(f"an object of type {type(other).__name__} cannot be merged; allowed is a Sketch of sums.")
        mine, theirs = self._additive("merged"), other._additive("merged")
        if self.hashes != other.hashes:
            raise MergeError(f"other hash functions: {self.hashes} and {other.hashes}; build both alike.")
        if mine.step != theirs.step or mine.sums.shape != theirs.sums.shape:
            raise MergeError("other weight_step or number of outputs; build both alike.")
        names = "projection shift linear output_scale output_bias debias n_groups task classes"
        for name in names.split():
            if not np.array_equal(getattr(self, name), getattr(other, name)):
                raise MergeError(f"another {name}; only sketches of one model can be merged.")
        return replace(self, sums=mine.plus(theirs.sums, theirs.total))

    def scale(self, factor: float) -> Self:
        """With every weight multiplied by ``factor``, for example to let old points fade.

        >>> from repsketch import lsh
        >>> blank = KernelCounters.empty(lsh.L1(bandwidth=1.0), n_rows=50, n_buckets=16, n_features=1)
        >>> blank.add([[0.0]]).scale(0.5).counters.max()
        np.float32(0.5)
        """
        return replace(self, sums=self._additive("scaled").times(factor))

    def _additive(self, verb: str) -> Counters:
        if self.sums is None:
            raise MergeError(f"a refitted sketch cannot be {verb}: its counters are no longer sums of point weights.")
        return self.sums

    def scaled_to(self, outputs: np.ndarray, targets: np.ndarray) -> Self:
        """With scale and bias of each output fitted to ``targets`` (n, C) by least squares, for its ``outputs``."""
        self.check_columns(targets)
        middle, aim = outputs.mean(axis=0), targets.mean(axis=0)
        variance = ((outputs - middle) ** 2).mean(axis=0)
        slope = ((outputs - middle) * (targets - aim)).mean(axis=0) / np.where(variance > 0, variance, 1.0)
        slope = np.where(variance > 0, slope, 1.0)
        slope = np.where(slope == 0, 1e-30, slope)  # a gain of 0 is not allowed
        return replace(
            self,
            output_scale=self.output_scale * slope,
            output_bias=(self.output_bias - middle) * slope + aim,
            linear=None if self.linear is None else (self.linear * slope).astype(np.float32),
        )

    def check_columns(self, targets: np.ndarray) -> None:
        """Refuse targets (n, k) with another number of columns than there are outputs."""
        if targets.shape[1] != self.n_outputs:
            raise InputError(f"targets have {targets.shape[1]} columns; this sketch has {self.n_outputs} outputs.")


def counters_behind(model: Model, sums: Sums | None = None) -> KernelCounters | None:
    """The kernel counters whose model this is, with the sums of its file if there are any; None if none have it."""
    if model.is_integer:  # it may have no rows
        return None
    rows, projection = model.row_groups[0], model.matrix_projection
    if not isinstance(rows.hashes, RowHashes):
        return None
    options: dict[str, Any] = {
        "projection": None if projection is None else projection.matrix,
        "shift": None if projection is None else projection.shift,
        "linear": model.linear,
        "n_groups": rows.n_groups,
        "task": model.task,
        "classes": model.classes,
    }
    if sums is None:
        options |= {
            "fitted": rows.counters,
            "output_scale": rows.gain.astype(np.float64),
            "output_bias": model.offset.astype(np.float64),
        }
    else:
        options |= {"output_scale": sums.scale, "output_bias": sums.bias, "debias": sums.debias}
    try:
        made = KernelCounters(rows.hashes, None if sums is None else sums.state, **options)
        return made if _are_same(made.model, model) else None
    except (InputError, ValueError):  # shapes that kernel counters cannot have
        return None


def sums_behind(counters: KernelCounters) -> Sums | None:
    """What a file stores besides the model, so that points can be added later; None for refitted counters."""
    if counters.sums is None:
        return None
    scale, bias = (np.full(counters.n_outputs, value) for value in (counters.output_scale, counters.output_bias))
    return Sums(counters.sums, scale, bias, counters.debias)


def _are_same(one: Any, other: Any) -> bool:
    """The same numbers in the same fields, all the way down."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return type(one) is type(other) and one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_are_same, one, other))
    if is_dataclass(one) and type(one) is type(other):
        names = (field.name for field in fields(one) if field.name != "stored")
        return all(_are_same(getattr(one, name), getattr(other, name)) for name in names)
    return bool(one == other)
