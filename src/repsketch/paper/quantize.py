"""From a sketch in float32 to the int precision: integers from the inputs to the accumulators.

Every input column gets a center and a scale, the projection becomes int8 or ternary, the bucket width a power of
two, counters int16, int8 or int4. The hash functions and their seed stay the same, so the counters need no second
fit; the change that rounding makes is measured and reported.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..checks import check_choice
from ..data.arrays import as_table, check_not_empty, check_width, sample_rows
from ..errors import InputError
from ..lsh import RowHashes
from ..model.inputs import BOOLEAN, LARGEST_VALUE, Inputs
from ..model.model import Model
from ..model.numbers import DTYPES, LARGEST
from ..model.oracle import coordinates, query
from ..model.projection import Projection, integer_projection
from ..model.rows import LARGEST_INT, RowGroup
from ..predictor import to_choice
from .kernel_counters import KernelCounters

COUNTER_TYPES = ("int16", "int8", "int4")
PROJECTION_TYPES = ("int8", "ternary")
_SAMPLE_ROWS = 4_096
_WANTED_WIDTH_BITS = 6  # a bucket width in 64 steps moves about one code in a hundred
_MAX_WIDTH_BITS = 8
_INT16 = 32_767


@dataclass(frozen=True)
class Change:
    """How much quantising changed the outputs, over ``n_rows`` sample rows.

    Attributes
    ----------
    mean, largest : absolute difference of an output
    relative : root mean square difference over the outputs' standard deviation; infinite if constant outputs changed
    agreement : share of rows with the same predicted class; 1 for regression
    n_rows : rows compared
    """

    mean: float
    largest: float
    relative: float
    agreement: float
    n_rows: int


def quantize(
    sketch: KernelCounters,
    X: Any = None,
    *,
    counter_type: str = "int8",
    projection_type: str = "int8",
) -> tuple[Model, Change]:
    """The model of a sketch in integers, and how the outputs change.

    Parameters
    ----------
    X : (n, d) sample inputs, to find the range of every column and to measure the change on; by default
        the few rows stored when the sketch was made
    counter_type : "int16", "int8" or "int4"
    projection_type : "int8", or "ternary" for a matrix of -1, 0 and +1

    >>> from repsketch import lsh, Sketch
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> sketch = Sketch.empty(lsh.L2(bandwidth=1.0), n_rows=50, n_buckets=16, n_features=2).add(X)
    >>> small, change = quantize(sketch, X)
    >>> small.precision, small.nbytes < sketch.nbytes / 3, change.relative < 0.1
    ('int', True, True)
    """
    check_choice("counter_type", counter_type, COUNTER_TYPES)
    check_choice("projection_type", projection_type, PROJECTION_TYPES)
    sample = _sample(sketch, X)
    model = sketch.model
    z = coordinates(model, sample).projected
    width_bits, factor, limit = _resolution(sketch.hashes, z)
    if model.matrix_projection is None or model.matrix_projection.matrix is None:
        inputs = _bare_inputs(sketch, sample, factor, limit)
        projection, linear_gain = None, 1.0 / factor
    else:
        inputs = _inputs(sample)
        projection = _project(model, inputs, projection_type, factor, limit)
        linear_gain = 1.0 / factor
    group, offset = _quantize_rows(
        model, model.row_groups[0], replace(sketch.hashes, width_bits=width_bits), counter_type
    )
    linear, gain = _quantize_linear(model, limit, linear_gain)
    quantized = Model(
        inputs, projection, (group,), offset, linear, gain, model.task, model.classes, model.feature_names
    )
    return quantized, measure_change(model, quantized, sample)


def _sample(sketch: KernelCounters, X: Any) -> np.ndarray:
    """Rows to quantise by, float32 (n, d)."""
    if X is None:
        if sketch.sample is None:
            raise InputError("quantize() without X: this sketch has not seen inputs; pass sample rows: quantize(X).")
        return sketch.sample
    table = as_table(X)
    check_width(table, sketch.n_features)
    check_not_empty(table)
    return sample_rows(table, _SAMPLE_ROWS)


def _resolution(hashes: RowHashes, z: np.ndarray) -> tuple[int, float, int]:
    """Width bits, integer steps a unit of z, and the largest size of an integer coordinate."""
    largest = max(float(np.abs(z).max()), 1e-30)
    terms = hashes.family.most_terms(hashes.functions)
    largest_sum = LARGEST_INT // 2 // max(terms, 1)
    if not hashes.family.has_bandwidth:
        limit = min(LARGEST_VALUE, largest_sum, max(_INT16 // max(terms, 1), 255))
        return 0, limit / largest, limit
    max_bits = min(_MAX_WIDTH_BITS, int(np.floor(np.log2(LARGEST_VALUE / largest))))
    if hashes.fold == "universal" and hashes.family.wraps and terms < 512:
        bits = max_bits  # sums are taken modulo 2**16, so that their size does not matter
    else:
        # int16 sums are twice as fast as int32: as fine as they allow, unless that is too coarse.
        for room in (_INT16, LARGEST_INT // 2):
            bits = min(max_bits, int(np.floor(np.log2(room / (terms * largest + 1.0)))))
            if bits >= _WANTED_WIDTH_BITS:
                break
    bits = max(bits, 0)
    limit = int(min(LARGEST_VALUE, largest_sum, np.ceil(largest * 2.0**bits)))
    return bits, 2.0**bits, limit


def _bare_inputs(sketch: KernelCounters, sample: np.ndarray, factor: float, limit: int) -> Inputs:
    """Columns of a sketch without a projection: the coordinates themselves, in integer steps."""
    d = sketch.n_features
    if sketch.hashes.family.takes_sets:
        return Inputs(d, kinds=np.full(d, BOOLEAN), limits=(0, 1))
    unit = sketch.hashes.family.unit_scale
    scales = np.full(1, unit * factor, np.float32)
    centers = None if sketch.shift is None else (-sketch.shift.astype(np.float64) / unit).astype(np.float32)
    return Inputs(d, centers=centers, scales=scales, limits=(-limit, limit))


def _inputs(sample: np.ndarray) -> Inputs:
    """Columns before a projection: booleans if all are 0 or 1, else each over [-127, 127].

    Both kinds side by side would share the few bits of the matrix badly: the one step of a boolean would weigh as much
    as a hundred steps of a number.
    """
    is_boolean = np.all((sample == 0) | (sample == 1), axis=0)
    d = sample.shape[1]
    if is_boolean.all():
        return Inputs(d, kinds=np.full(d, BOOLEAN), limits=(0, 1))
    low, high = (edge(sample, axis=0).astype(np.float64) for edge in (np.min, np.max))
    low[is_boolean], high[is_boolean] = 0.0, 1.0  # also where the sample has only one of them
    half = np.maximum((high - low) / 2.0, 1e-30)  # a constant column must not take bits from the others
    centers, scales = ((low + high) / 2.0).astype(np.float32), (127.0 / half).astype(np.float32)
    return Inputs(d, centers=centers, scales=scales, limits=(-127, 127))


def _project(model: Model, inputs: Inputs, projection_type: str, factor: float, limit: int) -> Projection:
    """The model's projection of integer inputs, such that z comes out in steps of 1 / ``factor``."""
    given = model.matrix_projection
    assert given is not None
    assert given.matrix is not None
    matrix = given.matrix.astype(np.float64)
    scales, centers = np.ones(len(matrix)), np.zeros(len(matrix))
    if inputs.scales is not None and inputs.centers is not None:
        scales[~inputs.booleans], centers[~inputs.booleans] = inputs.scales, inputs.centers
    constant = centers @ matrix
    if given.shift is not None:
        constant = constant + given.shift
    return integer_projection(matrix / scales[:, None], constant, inputs.largest, projection_type, factor, limit)


def _quantize_rows(model: Model, group: RowGroup, hashes: RowHashes, counter_type: str) -> tuple[RowGroup, np.ndarray]:
    """The rows with integer counters, and the offset with what all buckets of a row have in common."""
    counters = group.counters.astype(np.float64)
    gain = np.broadcast_to(group.gain, model.offset.shape).astype(np.float64)
    offset = model.offset.astype(np.float64)
    if group.n_groups == 1:
        middle = (counters.max(axis=1, keepdims=True) + counters.min(axis=1, keepdims=True)) / 2.0
        counters = counters - middle
        offset = offset + gain * middle.mean(axis=(0, 1))
    elif group.n_rows % group.n_groups:
        raise InputError(
            f"n_groups={group.n_groups} does not divide {group.n_rows} rows; the int precision takes equal groups."
        )
    steps = np.maximum(np.abs(counters).max(axis=(0, 1)), 1e-30) / LARGEST[counter_type]
    integers = np.rint(counters / steps).astype(DTYPES[counter_type])
    n_summed = group.n_rows // group.n_groups * (1 if group.n_groups % 2 else 2)
    integer_gain = (gain * steps / n_summed).astype(np.float32)
    integer_gain[integer_gain == 0] = np.float32(1e-30)  # an output that never changes
    made = RowGroup(hashes, integers, integer_gain, counter_type, group.source, group.aggregate, group.n_groups)
    return made, offset.astype(np.float32)


def _quantize_linear(model: Model, limit: int, unit: float) -> tuple[np.ndarray | None, np.ndarray | None]:
    if model.linear is None:
        return None, None
    largest = max(float(np.abs(model.linear).max()), 1e-30)
    largest_step = min(_INT16, LARGEST_INT // (limit * len(model.linear)))
    if largest_step < 1:
        raise InputError(
            f"a linear term over {len(model.linear)} coordinates does not fit 32 bits; project the data first."
        )
    step = largest / largest_step
    return np.rint(model.linear / step).astype(np.int16), np.full(1, step * unit, np.float32)


def measure_change(before: Model, after: Model, sample: np.ndarray) -> Change:
    """How much the outputs of two models differ on sample rows."""
    old, new = (query(model, sample).astype(np.float64) for model in (before, after))
    gap = np.abs(new - old)
    deviation = float(old.std(axis=0).mean())
    agreement = 1.0
    if before.task == "classification":
        agreement = float((to_choice(old) == to_choice(new)).mean())
    difference = float(np.sqrt((gap**2).mean()))
    relative = difference / deviation if deviation > 0 else (np.inf if difference > 0 else 0.0)
    return Change(float(gap.mean()), float(gap.max()), relative, agreement, len(sample))
