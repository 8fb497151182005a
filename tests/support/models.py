"""Random models of every kind, and inputs that sit where implementations differ: on edges, at zero, tiny and huge.

A model is drawn choice by choice. A *theme* narrows some choices, so that every path of the runtimes is met again and
again: the paper's sketch, tables of codes, bits over bytes, many rows, many outputs, wide inputs, stages.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from repsketch import lsh
from repsketch.errors import InputError
from repsketch.io import model_to_bytes
from repsketch.lsh import RowHashes
from repsketch.lsh.pool import CodePool, PooledRows
from repsketch.model.inputs import Inputs
from repsketch.model.model import Model
from repsketch.model.numbers import DTYPES, LARGEST, round_floats
from repsketch.model.projection import Projection
from repsketch.model.rows import RowGroup
from repsketch.model.stages import ACTIVATIONS, TABLE_SIZES, Stage, Stages

FAMILIES = [
    lsh.L2(1.0),
    lsh.L2(0.7, directions="gaussian"),
    lsh.Angular(),
    lsh.Angular(directions="ternary"),
    lsh.MinHash(),
    lsh.L1(1.3),
]
POOLS = ("ternary", "sparse", "threshold")
MOST_COUNTERS = 1 << 20  # numbers of one group of rows, so that models stay small

_SINGLE = {"n_outputs": [1], "decode": [None], "aggregate": ["sum", "mean"], "interpolate": [False]}
_BYTES = {"limits": [(-127, 127), (-127, 100), (0, 100), (-5, 9)], "kinds": ["numeric", "boolean", "both"]}
_OWN_L2 = {"hash": ["own"], "family": [FAMILIES[0]], "fold": ["universal"]}
_PAPER = {**_SINGLE, **_OWN_L2, "is_int": [True], "n_row_groups": [1]}

_BITS = {
    **_SINGLE, **_BYTES, "is_int": [True], "hash": ["pool"], "n_levels": [0], "projection": [None],
    "counter_type": ["int8", "int4"], "n_rows": [30, 300, 600],
}  # fmt: skip

_STAGES = {"is_int": [True], "projection": ["stages"]}

#: What each theme allows of a choice; other choices are free.
THEMES: dict[str, dict[str, Sequence[Any]]] = {
    "any": {},
    "stages": {**_STAGES, "n_row_groups": [0, 1, 1, 2]},
    "stages of bytes": {**_STAGES, **_BYTES, "n_row_groups": [0, 1, 2], "n_rows": [7, 30]},
    "paper in float32": {"is_int": [False], "hash": ["own"], "family": FAMILIES[:2], "fold": ["universal", "direct"]},
    "own": {"is_int": [False], "hash": ["own"], "family": FAMILIES[1:]},
    "own integers": {"is_int": [True], "hash": ["own"], "family": FAMILIES[1:]},
    "pool": {"hash": ["pool"]},
    "paper": {
        **_PAPER, **_BYTES, "projection": ["int8", "ternary"], "n_components": range(1, 24), "n_rows": [100, 300, 700],
    },
    "tables": {**_PAPER, "n_concat": [1], "width_bits": [8], "counter_type": ["int8", "int4"], "n_rows": [7, 64, 300]},
    "int16": {**_SINGLE, "is_int": [True], "limits": [(-127, 127), (-5, 9)], "width_bits": [4, 6], "n_row_groups": [1]},
    "bits": {**_BITS, "pool": ["sparse"], "n_nonzeros": [2, 3]},
    "thresholds": {**_BITS, "pool": ["threshold"]},
    "levels": {"hash": ["pool"], "pool": ["ternary", "sparse"], "n_levels": [2, 3, 8, 50]},
    "between": {
        "hash": ["pool"], "pool": ["ternary", "sparse"], "n_levels": [2, 3, 8, 50], "interpolate": [True],
        "n_row_groups": [1, 2],
    },
    "wide": {"n_features": range(60, 300), "n_components": [30, 64, 200], "n_rows": [2, 7, 30], "n_row_groups": [1]},
    "many outputs": {"n_outputs": [17, 64, 70], "n_rows": [2, 7], "n_row_groups": [1]},
}  # fmt: skip


def random_model(seed: int, largest: int = 40, theme: str | None = None) -> Model:
    """A model drawn from all there are; the same seed gives the same model.

    ``largest`` is the end of the range of columns, where the theme does not say another.
    """
    rng = np.random.default_rng(seed)
    names = list(THEMES)
    draw = _Draw(rng, THEMES[names[seed % len(names)] if theme is None else theme])
    for _ in range(2000):
        try:
            model = draw.model(largest)
            if model.stages:
                model_to_bytes(model)  # with many groups of rows, they need more sections than a file may have
            return model
        except InputError:  # a combination that bounds or rules forbid: draw another
            continue
    raise AssertionError(f"no model found for seed {seed}")


@dataclass
class _Draw:
    rng: np.random.Generator
    theme: dict[str, Sequence[Any]]

    def pick(self, name: str, options: Sequence[Any]) -> Any:
        """One of the options, or of those that the theme allows."""
        options = self.theme.get(name, options)
        return options[int(self.rng.integers(len(options)))]

    def happens(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def floats(self, *shape: int) -> np.ndarray:
        return self.rng.normal(size=shape).astype(np.float32)

    def model(self, largest: int) -> Model:
        rng = self.rng
        is_int = self.pick("is_int", [False, True])
        inputs = self.inputs(is_int, int(self.pick("n_features", range(1, largest))))
        projection = self.projection(inputs, is_int)
        n_outputs = self.pick("n_outputs", [1, 1, 1, 2, 3, 5])
        if isinstance(projection, Stages):
            projection = Stages(tuple(self.with_linear(stage, n_outputs) for stage in projection.stages))
        n_row_groups = self.pick("n_row_groups", [1, 1, 1, 2, 4])
        groups = tuple(self.row_group(inputs, projection, n_outputs, is_int) for _ in range(n_row_groups))
        n_coordinates = inputs.n_values if projection is None else projection.n_components
        linear = gain = None
        if self.happens(1 / 3) or not groups:
            linear = self.floats(n_coordinates, n_outputs)
            if is_int:
                linear = rng.integers(-100, 101, linear.shape).astype(self.pick("linear", [np.int8, np.int16]))
                gain = self.floats(self.pick("n_gains", [1, n_outputs]))
        stored_as = self.pick("offset", ["float32", "bfloat16", "none"]) if is_int else "float32"
        offset = self.floats(n_outputs)
        offset = np.zeros_like(offset) if stored_as == "none" else round_floats(offset, stored_as)
        return Model(inputs, projection, groups, offset, linear, gain, offset_stored_as=stored_as)

    def inputs(self, is_int: bool, n_features: int) -> Inputs:
        rng, columns = self.rng, None
        if self.happens(1 / 3):
            columns = np.sort(rng.choice(n_features, int(rng.integers(1, n_features + 1)), replace=False))
        n_columns = n_features if columns is None else len(columns)
        kinds = {
            "numeric": None,
            "boolean": np.ones(n_columns, np.int64),
            "both": rng.choice([0, 0, 1], n_columns),
            "all": rng.choice([0, 0, 1, 2, 5], n_columns),
            "large": np.where(np.arange(n_columns) == 0, 300, rng.choice([0, 1], n_columns)),
        }[self.pick("kinds", ["numeric"] * 5 + ["boolean", "both", "all", "all", "large"])]
        n_numeric = n_columns if kinds is None else int((kinds == 0).sum())
        stored_as = self.pick("stored_as", ["float32", "bfloat16", "float8"])
        centers = scales = None
        if n_numeric and (is_int or self.happens(0.5)):
            n = self.pick("n_scales", [1, n_numeric])
            scales = round_floats(np.exp(rng.normal(3 if is_int else 0, 0.5, n)), stored_as)
            scales = np.where(scales > 0, scales, np.float32(1.0))
            if self.happens(0.5):
                centers = round_floats(rng.normal(size=self.pick("n_centers", [1, n_numeric])), stored_as)
        limits = None
        if is_int:
            limits = self.pick("limits", [(-127, 127), (-127, 127), (-32767, 32767), (0, 255), (-5, 9)])
        return Inputs(n_features, columns, kinds, centers, scales, stored_as, limits, self.happens(1 / 4))

    def projection(self, inputs: Inputs, is_int: bool) -> Projection | Stages | None:
        rng, n_values = self.rng, inputs.n_values
        kinds = [None, "int8", "ternary", "stages"] if is_int else [None, "shift", "float32", "int8", "ternary"]
        kind = self.pick("projection", kinds)
        if kind is None:
            return None
        if kind == "stages":
            return self.stages(inputs)
        p = n_values if kind == "shift" else int(self.pick("n_components", range(1, 31)))
        shift = self.floats(p) if kind == "shift" or self.happens(0.5) else None
        if kind == "shift":
            return Projection("shift", p, shift=shift)
        if kind == "float32":
            return Projection("float32", p, self.floats(n_values, p), shift=shift)
        entry = 127 if kind == "int8" else 1
        matrix = rng.integers(-entry, entry + 1, (n_values, p)).astype(np.int8)
        if not is_int:
            return Projection(kind, p, matrix, scales=self.floats(p), shift=shift)
        return Projection(
            kind, p, matrix,
            shift=None if shift is None else rng.integers(-5000, 5000, p).astype(np.int32),
            multipliers=rng.integers(1, 300, p).astype(np.int16) if self.happens(0.5) else None,
            right_shift=int(rng.integers(0, 15)),
            limit=self.pick("limit", [200, 2000, 32767]),
        )  # fmt: skip

    def stages(self, inputs: Inputs) -> Stages:
        n_stages, n_inputs, largest, found = self.pick("n_stages", [1, 2, 2, 3, 4]), inputs.n_values, inputs.largest, []
        for i in range(n_stages):
            found.append(self.stage(n_inputs, largest, is_last=i + 1 == n_stages))
            n_inputs, largest = found[-1].n_components, found[-1].largest
        return Stages(tuple(found))

    def stage(self, n_inputs: int, largest: int, is_last: bool) -> Stage:
        rng, p = self.rng, int(self.pick("n_components", range(1, 31)))
        activation = self.pick("activation", ACTIVATIONS if is_last else ACTIVATIONS[1:])
        bits, is_sparse, limit = (
            self.pick("matrix_bits", [8, 4]),
            self.happens(0.4),
            int(rng.choice([200, 2000, 32767])),
        )
        most = LARGEST[f"int{bits}"]
        matrix = rng.integers(-most, most + 1, (n_inputs, p)).astype(np.int8)
        if is_sparse:
            matrix[rng.random(matrix.shape) < rng.choice([0.0, 0.5, 0.9, 1.0], p=[0.1, 0.3, 0.5, 0.1])] = 0
        # Sums that fill 32 bits, or a few of them; then a shift that brings most of them near the limit.
        sizes = np.maximum(largest * np.abs(matrix.astype(np.int64)).sum(axis=0), 1)
        bound = int(rng.choice([2**31 - 1 - 2**23, 10**6]))
        multipliers = np.clip(rng.integers(1, 256, p), 1, np.maximum(bound // sizes, 1)).astype(np.uint8)
        reach = int((sizes * multipliers).max())
        right_shift = int(np.clip((reach // limit).bit_length() + rng.integers(-4, 3), 0, 31))
        tables, width_bits = None, 0
        if activation == "table":
            n_entries = self.pick("n_entries", TABLE_SIZES)
            tables = rng.integers(-127, 128, (p, n_entries)).astype(np.int8)
            near = int(limit // n_entries).bit_length()
            width_bits = int(np.clip(near + rng.integers(-2, 2), 1, 8))
        elif activation != "none":
            width_bits = int(np.clip((limit // 127).bit_length() + rng.integers(-2, 2), 0, 15))
        return Stage(
            matrix, multipliers, rng.integers(-127, 128, p).astype(np.int8), right_shift,
            int(np.clip((limit // 127).bit_length() + rng.integers(-3, 1), 0, 15)),
            limit, activation, tables, width_bits, bits, is_sparse,
        )  # fmt: skip

    def with_linear(self, stage: Stage, n_outputs: int) -> Stage:
        """The stage, or the stage with a linear term."""
        if stage.activation == "none" or self.happens(0.6):
            return stage
        linear = self.rng.integers(-127, 128, (stage.n_components, n_outputs)).astype(np.int8)
        return replace(stage, linear=linear, linear_gain=self.floats(self.pick("n_gains", [1, n_outputs])))

    def row_group(
        self, inputs: Inputs, projection: Projection | Stages | None, n_outputs: int, is_int: bool
    ) -> RowGroup:
        rng = self.rng
        source = "values" if projection is not None and self.happens(1 / 3) else "projected"
        on_values = projection is None or source == "values"
        n_inputs = inputs.n_values if on_values else projection.n_components
        n_rows = self.pick("n_rows", [1, 2, 7, 30, 64, 100, 300])
        hashes = self.hashes(inputs if on_values else None, n_inputs, n_rows, is_int)
        counter_type = self.pick("counter_type", ["int16", "int8", "int4"] if is_int else list(DTYPES))
        if is_int and counter_type == "float32":
            raise InputError("a choice of the theme that is for the other precision")
        decode = self.pick("decode", [None, None, "shared", "rows"])
        n_numbers = {None: n_outputs, "shared": int(rng.integers(1, 4)), "rows": 1}[decode]
        shape = (n_rows, hashes.n_buckets, n_numbers)
        if np.prod(shape) > MOST_COUNTERS:
            raise InputError("too many counters for a test")
        if counter_type == "float32":
            counters = self.floats(*shape)
        else:
            most = LARGEST[counter_type]
            counters = rng.integers(-most, most + 1, shape).astype(DTYPES[counter_type])
        matrix, decode_bits = None, 8
        if decode is not None:
            matrix = self.floats(n_numbers if decode == "shared" else n_rows, n_outputs)
        if matrix is not None and is_int:
            decode_bits = self.pick("decode_bits", [8, 4])
            most = LARGEST[f"int{decode_bits}"]
            matrix = rng.integers(-most, most + 1, matrix.shape).astype(np.int8)
        aggregate, n_groups = self.pick("aggregate", ["sum", "mean", "median_of_means"]), 1
        if aggregate == "median_of_means":
            divisors = [g for g in range(1, n_rows + 1) if n_rows % g == 0 or not is_int]
            n_groups = divisors[int(rng.integers(len(divisors)))]
        gain = self.floats(self.pick("n_gains", [1, n_outputs]))
        return RowGroup(
            hashes, counters, gain, counter_type, source, aggregate, n_groups,
            shared_decode=matrix if decode == "shared" else None,
            row_decode=matrix if decode == "rows" else None,
            decode_shift=int(rng.integers(0, 6)) if decode == "shared" and is_int else 0,
            decode_bits=decode_bits,
        )  # fmt: skip

    def hashes(self, inputs: Inputs | None, n_inputs: int, n_rows: int, is_int: bool) -> RowHashes | PooledRows:
        rng = self.rng
        width_bits = self.pick("width_bits", [0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 8, 12, 15]) if is_int else None
        seed = int(rng.integers(2**32))
        n_concat = self.pick("n_concat", [1, 1, 2, 3, 4])
        if self.pick("hash", ["own", "pool"]) == "pool":
            return self.pool(inputs, n_inputs, n_rows, n_concat, seed, width_bits)
        family = self.pick("family", FAMILIES)
        fold = self.pick("fold", ["universal", "direct"])
        n_buckets = self.pick("n_buckets", [2, 3, 4, 8, 16, 17, 64, 100, 256, 1000, 4096, 5000, 65535, 65536])
        if fold == "direct":
            n_buckets = 2**n_concat if family.is_binary else int(rng.integers(2, 7)) ** n_concat
            if n_concat == 1 and not family.is_binary and self.happens(1 / 4):
                n_buckets = 65_536
        return RowHashes(family, n_rows, n_buckets, n_inputs, n_concat, seed, fold, width_bits)

    def pool(
        self, inputs: Inputs | None, n_inputs: int, n_rows: int, n_concat: int, seed: int, width_bits: int | None
    ) -> PooledRows:
        rng = self.rng
        kind = self.pick("pool", POOLS)
        is_drawn = kind != "threshold"
        n_levels = self.pick("n_levels", [0, 0, 2, 3, 8]) if is_drawn else 0
        interpolate = bool(n_levels and self.pick("interpolate", [False, True]))
        n_concat = 1 if interpolate else n_concat
        indices, n_codes = None, n_rows * n_concat
        if self.happens(3 / 4):
            n_codes = self.pick("n_codes", [1, 5, 64, 300])
            indices = rng.integers(0, n_codes, (n_rows, n_concat))
        is_seeded = is_drawn and self.happens(0.5)
        bias_scale: float = 0
        if is_seeded and not n_levels:
            bias_scale = float(np.float32(rng.random() / 100)) if width_bits is None else int(rng.integers(0, 60))
        columns = thresholds = None
        if not is_drawn:
            columns = rng.integers(0, n_inputs, n_codes)
            thresholds = self.floats(n_codes)
            if width_bits is not None:
                most = self.pick("thresholds", [100, 127, 3000])  # one byte or two
                thresholds = rng.integers(-most, most + 1, n_codes).astype(np.int32)
        pool = CodePool(
            kind, n_codes, n_inputs, seed, n_levels,
            n_axes=int(rng.integers(0, min(n_codes, n_inputs) + 1)) if is_drawn and self.happens(2 / 3) else 0,
            n_nonzeros=self.pick("n_nonzeros", [1, 2, 3]) if kind == "sparse" else 3,
            is_seeded=is_seeded,
            bias_scale=bias_scale,
            is_normalised=bool(n_levels and self.happens(0.5)),
            width_bits=width_bits,
            booleans=np.zeros(n_inputs, bool) if inputs is None else inputs.booleans,
            columns=columns,
            thresholds=thresholds,
        )  # fmt: skip
        return PooledRows(pool, n_rows, n_concat, indices, interpolate)


# -- inputs -------------------------------------------------------------------------------------

SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-42, -1e-45, 1e-30, 3e38, -3e38, 1e19, 2.0**64, 127.5, 2.0, 3.0], np.float32
)


def random_inputs(model: Model, n: int, seed: int) -> np.ndarray:
    """Inputs (n, d) float32: ordinary numbers, categories, zeros, edges, denormals, the largest floats, and NaN
    where it is accepted."""
    rng = np.random.default_rng(seed)
    shape = (n, model.n_features)
    X = rng.standard_normal(shape, np.float32) * rng.choice(np.array([0.1, 1, 30], np.float32), (n, 1))
    # What an entry is: ordinary numbers mostly, but special ones, small integers and edges in every row.
    kind = rng.choice(np.arange(4, dtype=np.int8), shape, p=[0.6, 0.15, 0.1, 0.15])
    _put(X, kind == 1, lambda size: rng.choice(SPECIAL, size))
    _put(X, kind == 2, lambda size: rng.integers(-2, 7, size))
    X = np.where(kind == 3, _edges(model, shape, rng), X)
    if model.inputs.accepts_missing:
        _put(X, rng.random(shape, np.float32) < 0.1, lambda size: np.float32(np.nan))
    return X


def _put(X: np.ndarray, where: np.ndarray, draw: Any) -> None:
    X[where] = draw(int(where.sum()))


def _edges(model: Model, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Inputs whose values lie on an edge, or the next float to it: of buckets and levels, or half a step."""
    places = rng.choice(edge_positions(model, rng), shape).astype(np.float64)
    scales, centers = np.ones(model.n_features), np.zeros(model.n_features)
    columns = np.arange(model.n_features) if model.inputs.columns is None else model.inputs.columns
    numeric = columns if model.inputs.kinds is None else columns[np.asarray(model.inputs.kinds) == 0]
    if model.inputs.scales is not None:
        scales[numeric] = model.inputs.scales
    if model.inputs.centers is not None:
        centers[numeric] = model.inputs.centers
    X = (places / scales + centers).astype(np.float32)
    steps = rng.integers(-1, 2, shape)
    return np.where(steps == 0, X, np.nextafter(X, np.where(steps > 0, np.float32(np.inf), np.float32(-np.inf))))


def edge_positions(model: Model, rng: np.random.Generator) -> np.ndarray:
    """Values at which a code that reads one of them changes, float64."""
    if model.is_integer:
        steps = rng.integers(-300, 300, 64) + rng.choice([0.0, 0.5], 64)  # rounding decides
        return np.append(steps, [limit + 0.5 for limit in (model.inputs.limits or ())])
    found = [rng.integers(-4, 5, 8).astype(np.float64)]
    for group in model.row_groups:
        hashes = group.hashes
        if isinstance(hashes, RowHashes):
            offsets = hashes.functions.parameters.get("offsets")
            if offsets is not None:
                found.append(rng.integers(-3, 4, 16) - rng.choice(offsets.ravel(), 16).astype(np.float64))
        elif hashes.pool.is_binary:
            found.append(rng.choice(hashes.pool.biases, 16).astype(np.float64))
        else:
            starts = hashes.pool.starts(hashes.interpolate)
            found.append(rng.integers(0, hashes.n_levels + 1, 16) - rng.choice(starts, 16).astype(np.float64))
    return np.concatenate(found)
