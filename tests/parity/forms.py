"""Random forms of every kind, and inputs that sit where implementations differ: on edges, at zero, tiny and huge."""

import numpy as np

from repsketch import lsh
from repsketch.errors import InputError
from repsketch.lsh import RowHashes
from repsketch.lsh.pool import CodePool, PooledRows
from repsketch.sketch.form import Form
from repsketch.sketch.inputs import Inputs
from repsketch.sketch.numbers import DTYPES, LARGEST, round_floats
from repsketch.sketch.part import Part
from repsketch.sketch.projection import Projection

FAMILIES = [
    lsh.L2(1.0),
    lsh.L2(0.7, directions="gaussian"),
    lsh.Angular(),
    lsh.Angular(directions="ternary"),
    lsh.MinHash(),
    lsh.L1(1.3),
]
POOLS = ("ternary", "sparse", "threshold")


def random_form(seed: int, largest: int = 40) -> Form:
    """A form drawn from all there are; the same seed gives the same form."""
    rng = np.random.default_rng(seed)
    for _ in range(200):
        try:
            return _draw_form(rng, largest)
        except InputError:  # a combination that bounds or rules forbid: draw another
            continue
    raise AssertionError(f"no form found for seed {seed}")


def _draw_form(rng: np.random.Generator, largest: int) -> Form:
    is_whole = bool(rng.integers(2))
    inputs = _draw_inputs(rng, is_whole, int(rng.integers(1, largest)))
    projection = _draw_projection(rng, inputs, is_whole)
    n_outputs = int(rng.choice([1, 1, 1, 2, 3, 5]))
    parts = tuple(_draw_part(rng, inputs, projection, n_outputs, is_whole) for _ in range(rng.choice([1, 1, 1, 2, 4])))
    n_coordinates = inputs.n_values if projection is None else projection.n_components
    linear = gain = None
    if rng.integers(3) == 0:
        if is_whole:
            kind = rng.choice([np.int8, np.int16])
            linear = rng.integers(-100, 101, (n_coordinates, n_outputs)).astype(kind)
            gain = rng.normal(size=int(rng.choice([1, n_outputs]))).astype(np.float32)
        else:
            linear = rng.normal(size=(n_coordinates, n_outputs)).astype(np.float32)
    offset = rng.normal(size=n_outputs).astype(np.float32)
    return Form(inputs, projection, parts, offset, linear, gain)


def _draw_inputs(rng: np.random.Generator, is_whole: bool, n_features: int) -> Inputs:
    columns = None
    if rng.integers(3) == 0:
        n_used = int(rng.integers(1, n_features + 1))
        columns = np.sort(rng.choice(n_features, n_used, replace=False))
    n_columns = n_features if columns is None else len(columns)
    kinds = None
    if rng.integers(3) == 0:
        kinds = rng.choice([0, 0, 1, 2, 5], n_columns)
    elif rng.integers(4) == 0:
        kinds = np.ones(n_columns, np.int64)
    n_numeric = n_columns if kinds is None else int((kinds == 0).sum())
    stored_as = str(rng.choice(["float32", "bfloat16", "float8"]))
    centers = scales = None
    if n_numeric and (is_whole or rng.integers(2)):
        n = int(rng.choice([1, n_numeric]))
        scales = round_floats(np.exp(rng.normal(3 if is_whole else 0, 0.5, n)), stored_as)
        scales = np.where(scales > 0, scales, np.float32(1.0))
        if rng.integers(2):
            centers = round_floats(rng.normal(size=int(rng.choice([1, n_numeric]))), stored_as)
    limits = None
    if is_whole:
        limits = [(-127, 127), (-32767, 32767), (0, 255), (-5, 9)][int(rng.choice([0, 0, 0, 1, 2, 3]))]
    return Inputs(n_features, columns, kinds, centers, scales, stored_as, limits, bool(rng.integers(4) == 0))


def _draw_projection(rng: np.random.Generator, inputs: Inputs, is_whole: bool) -> Projection | None:
    n_values = inputs.n_values
    choice = rng.choice([None, "int8", "ternary"] if is_whole else [None, "shift", "float32", "int8", "ternary"])
    if choice is None:
        return None
    p = n_values if choice == "shift" else int(rng.integers(1, 30))
    has_shift = choice == "shift" or rng.integers(2)
    if not is_whole:
        shift = rng.normal(size=p).astype(np.float32) if has_shift else None
        if choice == "shift":
            return Projection("shift", p, shift=shift)
        if choice == "float32":
            return Projection("float32", p, rng.normal(size=(n_values, p)).astype(np.float32), shift=shift)
        scales = rng.normal(size=p).astype(np.float32)
        return Projection(str(choice), p, _draw_matrix(rng, choice, n_values, p), scales=scales, shift=shift)
    shift = rng.integers(-5000, 5000, p).astype(np.int32) if has_shift else None
    multipliers = rng.integers(1, 300, p).astype(np.int16) if rng.integers(2) else None
    limit = int(rng.choice([200, 2000, 32767]))
    matrix = _draw_matrix(rng, choice, n_values, p)
    return Projection(
        str(choice), p, matrix, shift=shift, multipliers=multipliers, right_shift=int(rng.integers(0, 14)), limit=limit
    )


def _draw_matrix(rng: np.random.Generator, kind: str, n_values: int, p: int) -> np.ndarray:
    largest = 127 if kind == "int8" else 1
    return rng.integers(-largest, largest + 1, (n_values, p)).astype(np.int8)


def _draw_part(
    rng: np.random.Generator, inputs: Inputs, projection: Projection | None, n_outputs: int, is_whole: bool
) -> Part:
    source = "values" if projection is not None and rng.integers(3) == 0 else "projected"
    on_values = projection is None or source == "values"
    n_inputs = inputs.n_values if on_values else projection.n_components
    n_rows = int(rng.choice([1, 2, 7, 30, 64, 100]))
    hashes = _draw_hashes(rng, inputs if on_values else None, n_inputs, n_rows, is_whole)
    counter_type = str(rng.choice(["int16", "int8", "int4"] if is_whole else ["float32", "int16", "int8", "int4"]))
    decode = rng.choice([None, None, "shared", "rows"])
    n_numbers = {None: n_outputs, "shared": int(rng.integers(1, 4)), "rows": 1}[decode]
    shape = (n_rows, hashes.n_buckets, n_numbers)
    if counter_type == "float32":
        counters = rng.normal(size=shape).astype(np.float32)
    else:
        counters = rng.integers(-LARGEST[counter_type], LARGEST[counter_type] + 1, shape).astype(DTYPES[counter_type])
    matrix = {"shared": (n_numbers, n_outputs), "rows": (n_rows, n_outputs)}.get(decode)
    if matrix is not None:
        drawn = rng.integers(-127, 128, matrix).astype(np.int8) if is_whole else rng.normal(size=matrix)
        matrix = drawn if is_whole else drawn.astype(np.float32)
    aggregate, n_groups = str(rng.choice(["sum", "mean"])), 1
    if decode is None and rng.integers(3) == 0:
        divisors = [g for g in range(1, n_rows + 1) if n_rows % g == 0]
        aggregate = "median_of_means"
        n_groups = int(rng.choice(divisors)) if is_whole else int(rng.integers(1, n_rows + 1))
    return Part(
        hashes,
        counters,
        rng.normal(size=int(rng.choice([1, n_outputs]))).astype(np.float32),
        counter_type,
        source,
        aggregate,
        n_groups,
        shared_decode=matrix if decode == "shared" else None,
        row_decode=matrix if decode == "rows" else None,
        decode_shift=int(rng.integers(0, 6)) if decode == "shared" and is_whole else 0,
    )


def _draw_hashes(
    rng: np.random.Generator, inputs: Inputs | None, n_inputs: int, n_rows: int, is_whole: bool
) -> RowHashes | PooledRows:
    width_bits = int(rng.integers(0, 9)) if is_whole else None
    seed = int(rng.integers(2**32))
    n_concat = int(rng.choice([1, 1, 2, 3, 4]))
    if rng.integers(2):
        family = FAMILIES[int(rng.integers(len(FAMILIES)))]
        fold, n_buckets = "universal", int(rng.choice([2, 3, 4, 8, 16, 17, 64, 100, 1000, 65536]))
        if rng.integers(2) and family.has_ordered_codes:
            fold = "direct"
            n_buckets = 2**n_concat if family.is_binary else int(rng.integers(2, 6)) ** n_concat
        return RowHashes(family, n_rows, n_buckets, n_inputs, n_concat, seed, fold, width_bits)
    return _draw_pool(rng, inputs, n_inputs, n_rows, n_concat, seed, width_bits)


def _draw_pool(rng, inputs, n_inputs, n_rows, n_concat, seed, width_bits) -> PooledRows:
    kind = str(rng.choice(POOLS))
    n_levels = 0 if kind == "threshold" else int(rng.choice([0, 0, 2, 3, 8]))
    interpolate = bool(n_levels and rng.integers(2))
    n_concat = 1 if interpolate else n_concat
    indices, n_codes = None, n_rows * n_concat
    if rng.integers(4):
        n_codes = int(rng.choice([1, 5, 64, 300]))
        indices = rng.integers(0, n_codes, (n_rows, n_concat))
    is_seeded = bool(kind != "threshold" and rng.integers(2))
    spread = 0.0 if width_bits is None else 0
    if is_seeded and not n_levels:
        spread = float(np.float32(rng.random() / 100)) if width_bits is None else int(rng.integers(0, 60))
    columns = thresholds = None
    if kind == "threshold":
        columns = rng.integers(0, n_inputs, n_codes)
        thresholds = rng.normal(size=n_codes).astype(np.float32)
        if width_bits is not None:
            thresholds = rng.integers(-100, 100, n_codes) if rng.integers(2) else rng.integers(-3000, 3000, n_codes)
            thresholds = thresholds.astype(np.int32)
    pool = CodePool(
        kind,
        n_codes,
        n_inputs,
        seed,
        n_levels,
        n_axes=0 if kind == "threshold" else int(rng.integers(0, min(n_codes, n_inputs) + 1)),
        n_nonzeros=int(rng.integers(1, 4)) if kind == "sparse" else 3,
        is_seeded=is_seeded,
        spread=spread,
        is_normalised=bool(n_levels and rng.integers(2)),
        width_bits=width_bits,
        booleans=np.zeros(n_inputs, bool) if inputs is None else inputs.booleans,
        columns=columns,
        thresholds=thresholds,
    )
    return PooledRows(pool, n_rows, n_concat, indices, interpolate)


def random_inputs(form: Form, n: int, seed: int) -> np.ndarray:
    """Inputs (n, d) float32: ordinary numbers, categories, zeros, edges, denormals, the largest floats, and NaN
    where it is accepted."""
    rng = np.random.default_rng(seed)
    shape = (n, form.n_features)
    X = rng.normal(0, rng.choice([0.1, 1, 30], (n, 1)), shape)
    special = np.array(
        [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-42, -1e-45, 1e-30, 3e38, -3e38, 1e19, 2.0**64, 127.5, 2.0, 3.0]
    )
    X = np.where(rng.random(shape) < 0.2, rng.choice(special, shape), X)
    X = np.where(rng.random(shape) < 0.1, rng.integers(-2, 7, shape), X).astype(np.float32)
    unit = np.float32(3.0**0.5)
    X = np.where(rng.random(shape) < 0.05, (rng.integers(-4, 5, shape) / unit).astype(np.float32), X)  # bucket edges
    if form.inputs.accepts_missing:
        X = np.where(rng.random(shape) < 0.1, np.float32(np.nan), X)
    return X
