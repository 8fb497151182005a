"""The C core against the oracle: bucket numbers, then accumulators, then outputs, all to the last bit.

A million rows and more over random models of every kind, at every instruction set; then every other way into the core:
compact plans, single rows, threads, sparse rows, rows of bytes, strides.
"""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

from repsketch import lsh
from repsketch.io import model_to_bytes
from repsketch.lsh import RowHashes
from repsketch.lsh.pool import CodePool, PooledRows
from repsketch.model.inputs import Inputs
from repsketch.model.model import Model
from repsketch.model.oracle import accumulators, buckets, query
from repsketch.model.projection import Projection
from repsketch.model.rows import RowGroup
from repsketch.model.stages import ACTIVATIONS, TABLE_SIZES, Stage
from support.models import FAMILIES, POOLS, THEMES, random_inputs, random_model

native = pytest.importorskip("repsketch._native", reason="the package was installed without its C core")

N_MODELS, N_FAST = 14 * len(THEMES), 2 * len(THEMES)  # random models; those that the fast tests run
ISAS = native.isas()
MOST_ROWS = 10_000
FEW_ROWS = 200  # three blocks of 64 and a rest


def seeds(step: int) -> list:
    """Seeds of random models, those beyond the first few marked slow."""
    slow = pytest.mark.slow
    return [seed if seed < N_FAST else pytest.param(seed, marks=slow) for seed in range(0, N_MODELS, step)]


def n_rows_of(model: Model) -> int:
    """Rows to compare: many where the oracle is quick, never a multiple of a block."""
    work = model.inputs.n_values * model.n_coordinates + sum(stage.matrix.size for stage in model.stages)
    for group in model.row_groups:
        work += group.n_rows * (group.hashes.n_concat * (8 + group.hashes.n_features) + 2 * group.counters.shape[2])
    return int(np.clip(50_000_000 // work, 1_000, MOST_ROWS)) | 1


@dataclass
class Truth:
    """What the oracle says."""

    buckets: np.ndarray  #: (n, rows)
    accumulators: np.ndarray  #: (n, groups of rows, outputs), their 32 bits
    outputs: np.ndarray  #: (n, outputs), their 32 bits

    @classmethod
    def of(cls, model: Model, X: np.ndarray) -> "Truth":
        accumulated = np.ascontiguousarray(accumulators(model, X).transpose(1, 0, 2))
        outputs = query(model, X)
        assert np.isfinite(outputs).all()  # equal bits of NaN would prove nothing
        return cls(buckets(model, X), accumulated.view(np.int32), outputs.view(np.int32))

    def first(self, n: int) -> "Truth":
        return Truth(self.buckets[:n], self.accumulators[:n], self.outputs[:n])


def open_model(model: Model, isa: int, compact: bool = False):
    data = model_to_bytes(model)
    return native.Model(data, len(data), compact, isa)


def check_same(what: str, found: np.ndarray, wanted: np.ndarray) -> None:
    if np.array_equal(found, wanted):
        return
    differing = np.argwhere(found != wanted)
    first = tuple(int(i) for i in differing[0])
    values = f"{found[first]}, not {wanted[first]}"
    raise AssertionError(f"{what}: {len(differing)} of {found.size} differ, first {first}: {values}")


def check_trace(what: str, opened, X: np.ndarray, truth: Truth, one_by_one: bool = False) -> None:
    """Buckets first, then accumulators, then outputs."""
    # Filled with what no result is, so that nothing is right by having been there.
    found = Truth(*(np.full_like(array, -77_777_777) for array in (truth.buckets, truth.accumulators, truth.outputs)))
    opened.trace(X, found.outputs.view(np.float32), found.buckets, found.accumulators, one_by_one)
    for name in ("buckets", "accumulators", "outputs"):
        check_same(f"{name} traced, {what}", getattr(found, name), getattr(truth, name))


def check_predict(what: str, opened, X: np.ndarray, truth: Truth, n_threads: int = 1) -> None:
    """Outputs without a trace, which takes the fastest path."""
    found = np.full(truth.outputs.shape, np.nan, np.float32)
    opened.predict(X, found, n_threads)
    check_same(f"outputs, {what}", found.view(np.int32), truth.outputs)


@pytest.mark.parametrize("seed", seeds(1))
def test_batches(seed):
    model = random_model(seed)
    X = random_inputs(model, n_rows_of(model), seed)
    truth = Truth.of(model, X)
    for name, isa in ISAS.items():
        opened = open_model(model, isa)
        check_trace(name, opened, X, truth)
        check_predict(name, opened, X, truth)
        check_single_rows(name, opened, X[:2_000], truth.first(2_000))


def test_the_batches_have_a_million_rows():
    assert N_MODELS >= 120
    assert sum(n_rows_of(random_model(seed)) for seed in range(N_MODELS)) >= 1_000_000


@pytest.mark.parametrize("seed", seeds(1))
def test_other_ways_in(seed):
    model = random_model(seed)
    X = random_inputs(model, FEW_ROWS, 1000 + seed)
    truth = Truth.of(model, X)
    for name, isa in ISAS.items():
        opened = open_model(model, isa)
        for n in (1, 63, 64, 65):
            check_predict(f"{name}, {n} rows", opened, X[:n], truth.first(n))
        check_trace(f"{name}, one by one", opened, X, truth, one_by_one=True)
        check_single_rows(name, opened, X, truth)
        for n_threads in (2, 3):
            check_predict(f"{name}, {n_threads} threads", opened, X, truth, n_threads)
        check_strides(name, opened, X, truth)
        # A compact plan draws its hash functions again for every block: a block and a rest must do.
        compact = open_model(model, isa, compact=True)
        check_predict(f"{name}, compact", compact, X[:70], truth.first(70))
        check_trace(f"{name}, compact", compact, X[:70], truth.first(70))
        check_trace(f"{name}, compact, one by one", compact, X[:3], truth.first(3), one_by_one=True)
        check_single_rows(f"{name}, compact", compact, X[:3], truth.first(3))


def check_single_rows(what: str, opened, X: np.ndarray, truth: Truth) -> None:
    """Row by row, which has a fast path of its own."""
    found = np.full(truth.outputs.shape, np.nan, np.float32)
    opened.predict_each(np.ascontiguousarray(X), found)
    check_same(f"outputs, {what}, row by row", found.view(np.int32), truth.outputs)
    for row, out, wanted in zip(X[:5], found, truth.outputs, strict=False):
        opened.predict_row(row, out)
        check_same(f"outputs, {what}, predict_row", out.view(np.int32), wanted)
        if len(out) == 1:
            assert opened.output_of(row) == wanted.view(np.float32)[0]


def check_strides(name: str, opened, X: np.ndarray, truth: Truth) -> None:
    n, d = X.shape
    apart = np.full((n, d + 5), np.nan, np.float32)  # reading beside the columns would be refused
    apart[:, 3 : 3 + d] = X
    check_predict(f"{name}, rows apart", opened, apart[:, 3 : 3 + d], truth)
    check_predict(f"{name}, rows apart, 2 threads", opened, apart[:, 3 : 3 + d], truth, n_threads=2)
    check_predict(f"{name}, every other row", opened, np.repeat(X, 2, axis=0)[::2], truth)
    again = np.broadcast_to(X[0], (70, d))
    check_predict(f"{name}, one row again and again", opened, again, Truth(*([None] * 2), truth.outputs[[0] * 70]))
    frozen = X.copy()
    frozen.flags.writeable = False
    check_predict(f"{name}, read-only", opened, frozen, truth)


@pytest.mark.parametrize("seed", seeds(2))
def test_sparse_rows(seed):
    model = random_model(seed)
    rng = np.random.default_rng(seed)
    X = random_inputs(model, FEW_ROWS, 2000 + seed)
    X[rng.random(X.shape) < rng.choice([0.0, 0.5, 0.95])] = 0.0
    table = sp.csr_matrix(X)
    table.data[rng.random(len(table.data)) < 0.1] = 0.0  # zeros may be stored, too
    truth = Truth.of(model, table.toarray())
    ends, columns = table.indptr.astype(np.int32), table.indices.astype(np.int32)
    for name, isa in ISAS.items():
        for compact in (False, True):
            n = 70 if compact else FEW_ROWS
            opened = open_model(model, isa, compact)
            for n_threads in (1, 2, 3):
                found = np.full((n, model.n_outputs), np.nan, np.float32)
                opened.predict_sparse(table.data, ends[: n + 1], columns, found, n_threads)
                check_same(f"outputs, {name}, sparse", found.view(np.int32), truth.outputs[:n])
            check_predict(f"{name}, the same rows dense", opened, table.toarray()[:n], truth.first(n))


@pytest.mark.parametrize("seed", seeds(2))
def test_rows_of_bytes(seed):
    model = random_model(seed)
    X = np.random.default_rng(seed).integers(0, 256, (FEW_ROWS, model.n_features), np.uint8)
    X[::3] %= 4  # small ones: categories, zeros
    truth = Truth.of(model, X.astype(np.float32))
    for name, isa in ISAS.items():
        for compact in (False, True):
            n = 70 if compact else FEW_ROWS
            opened, what = open_model(model, isa, compact), f"{name}, uint8"
            for n_threads in (1, 2, 3):
                check_predict(what, opened, X[:n], truth.first(n), n_threads)
            check_trace(what, opened, X[:n], truth.first(n))
            check_trace(f"{what}, one by one", opened, X[:5], truth.first(5), one_by_one=True)
        check_predict(f"{name}, the same rows as floats", opened, X[:70].astype(np.float32), truth.first(70))
        apart = np.full((FEW_ROWS, model.n_features + 3), 255, np.uint8)
        apart[:, 1:-2] = X
        check_predict(f"{name}, uint8, rows apart", open_model(model, isa), apart[:, 1:-2], truth, n_threads=2)


# -- every option occurs ------------------------------------------------------------------------


def options_of(model: Model) -> set[str]:
    """The choices of a model, as words; those of hashing with the precision they are made in."""
    inputs, projection, kind = model.inputs, model.projection, model.precision
    found = {
        kind,
        f"{len(model.row_groups)} groups of rows",
        f"{kind} projection {None if projection is None else projection.kind}",
        f"{kind} linear {None if model.linear is None else model.linear.dtype}",
        f"{kind} stored as {inputs.stored_as}" if inputs.scales is not None else "no scales",
        "some columns" if inputs.columns is not None else "all columns",
        f"{kind} missing" if inputs.accepts_missing else f"{kind} nothing missing",
        f"centers {None if inputs.centers is None else min(len(inputs.centers), 2)}",
        f"scales {None if inputs.scales is None else min(len(inputs.scales), 2)}",
    }
    kinds = {0} if inputs.kinds is None else set(np.asarray(inputs.kinds).tolist())
    found |= {f"{kind} column {name}" for name, k in (("numeric", {0}), ("boolean", {1})) if kinds & k}
    found |= {f"{kind} column categorical"} if kinds - {0, 1} else set()
    found |= {"all boolean"} if kinds == {1} else set()
    found |= {"many categories"} if max(kinds) > 256 else set()
    found |= {"many outputs"} if model.n_outputs > 16 else set()
    if isinstance(projection, Projection):
        found |= {f"{kind} {name} {getattr(projection, name) is not None}" for name in ("shift", "multipliers")}
        found |= {f"right shift {projection.right_shift > 0}"} if model.is_integer else set()
    found |= {f"{len(model.stages)} stages, {min(len(model.row_groups), 1)} groups"} if model.stages else set()
    for stage in model.stages:
        found |= options_of_stage(stage, stage is model.stages[-1])
    for group in model.row_groups:
        found |= {f"{kind} {word}" for word in options_of_group(group)}
        found.add(f"R {group.hashes.n_buckets}")
    return found


def options_of_stage(stage: Stage, is_last: bool) -> set[str]:
    sparse = "sparse " if stage.is_sparse else ""
    found = {f"{'last ' if is_last else ''}stage {stage.activation}", f"stage {sparse}int{stage.matrix_bits}"}
    found |= {f"stage table of {stage.tables.shape[1]}"} if stage.tables is not None else set()
    found |= {f"stage gains {min(len(stage.linear_gain), 2)}"} if stage.linear_gain is not None else set()
    found |= {"stage of zeros"} if not stage.n_nonzeros else set()
    return found


def options_of_group(group: RowGroup) -> set[str]:
    hashes = group.hashes
    decode = "rows" if group.row_decode is not None else "shared" if group.shared_decode is not None else None
    found = {
        f"source {group.source}", f"counters {group.counter_type}", f"aggregate {group.aggregate}", f"decode {decode}",
        f"K {hashes.n_concat}", f"even groups {group.n_groups % 2 == 0}", f"gains {min(len(group.gain), 2)}",
        "width up to 30" if hashes.n_features <= 30 else "width up to 128" if hashes.n_features <= 128 else "wide",
    }  # fmt: skip
    found |= {"many rows"} if group.n_rows > 256 else set()
    found |= {"one row"} if group.n_rows == 1 else set()
    found |= {f"w {hashes.width_bits}"} if hashes.width_bits is not None else set()
    found |= {f"p {hashes.n_features}"} if hashes.n_features < 4 else set()
    found |= {"decode shift"} if group.decode_shift else set()
    if isinstance(hashes, RowHashes):
        family = f"{hashes.family.name} {getattr(hashes.family, 'directions', '')}".strip()
        found.add(f"{family} {hashes.fold}")
        if family == "l2 ternary" and hashes.fold == "universal" and hashes.n_concat == 1 and hashes.width_bits == 8:
            found.add(f"table of codes {group.counter_type}")
        return found
    pool, kind = hashes.pool, hashes.pool.kind
    found |= {f"pool {kind} {'bits' if pool.is_binary else 'levels'}", f"indices {hashes.indices is not None}"}
    found |= {f"seeded {kind}"} if pool.is_seeded else set()
    found |= {f"axes {kind}"} if pool.n_axes else set()
    found |= {f"normalised {kind}"} if pool.is_normalised else set()
    found |= {f"between levels {kind} seeded {pool.is_seeded}"} if hashes.interpolate else set()
    found |= {f"at most {pool.n_nonzeros}"} if kind == "sparse" else set()
    if pool.thresholds is not None and pool.width_bits is not None:
        found.add(f"thresholds of {1 if np.abs(pool.thresholds).max() <= 127 else 2} bytes")
    return found


def wanted_options() -> set[str]:
    """What must occur: in any precision, in one, and in both."""
    wanted = {
        "float32",
        "int",
        "1 groups of rows",
        "2 groups of rows",
        "4 groups of rows",
        "some columns",
        "all columns",
        "no scales",
    }
    wanted |= {"many outputs", "all boolean", "many categories", "right shift True", "right shift False"}
    wanted |= {f"{name} {n}" for name in ("centers", "scales") for n in (None, 1, 2)}
    wanted |= {f"R {n}" for n in (2, 3, 4, 8, 16, 17, 64, 100, 256, 1000, 4096, 5000, 65_535, 65_536)}
    wanted |= {f"float32 projection {k}" for k in (None, "shift", "float32", "int8", "ternary")}
    wanted |= {"float32 linear None", "float32 linear float32", "float32 counters float32"}
    wanted |= {f"{n} stages, {k} groups" for n in (1, 2, 3, 4) for k in (0, 1)}
    wanted |= {f"stage {k}" for k in ("table", "relu", "clip", "gains 1", "gains 2", "of zeros")}
    wanted |= {f"last stage {k}" for k in ACTIVATIONS} | {f"stage table of {n}" for n in TABLE_SIZES}
    wanted |= {f"stage {k}int{n}" for k in ("", "sparse ") for n in (8, 4)}
    of_int = [f"projection {k}" for k in (None, "int8", "ternary", "stages")] + [
        f"linear {k}" for k in (None, "int8", "int16")
    ]
    of_int += [f"w {w}" for w in (0, 1, 4, 6, 8, 12, 15)] + ["multipliers True", "multipliers False", "decode shift"]
    of_int += ["thresholds of 1 bytes", "thresholds of 2 bytes", "table of codes int8", "table of codes int4"]
    wanted |= {f"int {word}" for word in of_int}
    words = [f"stored as {k}" for k in ("float32", "bfloat16", "float8")] + ["missing", "nothing missing"]
    words += [f"column {k}" for k in ("numeric", "boolean", "categorical")] + ["shift True", "shift False"]
    words += [f"counters {k}" for k in ("int16", "int8", "int4")] + ["source projected", "source values"]
    words += [f"aggregate {k}" for k in ("sum", "mean", "median_of_means")] + ["even groups True", "even groups False"]
    words += [f"decode {k}" for k in (None, "shared", "rows")] + [f"K {k}" for k in (1, 2, 3, 4)]
    words += ["gains 1", "gains 2", "many rows", "one row", "p 1", "width up to 30", "width up to 128", "wide"]
    for family in FAMILIES:
        name = f"{family.name} {getattr(family, 'directions', '')}".strip()
        words += [f"{name} universal"] + ([f"{name} direct"] if family.has_ordered_codes else [])
    words += [f"pool {kind} bits" for kind in POOLS] + ["indices True", "indices False"]
    for kind in ("ternary", "sparse"):
        words += [f"pool {kind} levels", f"seeded {kind}", f"axes {kind}", f"normalised {kind}"]
        words += [f"between levels {kind} seeded {k}" for k in (False, True)]
    words += [f"at most {n}" for n in (1, 2, 3)]
    return wanted | {f"{precision} {word}" for precision in ("float32", "int") for word in words}


def test_every_option_occurs():
    found: dict[str, int] = {}
    for seed in range(N_MODELS):
        for word in options_of(random_model(seed)):
            found[word] = found.get(word, 0) + 1
    assert wanted_options() - set(found) == set()
    # The commonest sketches are met often, not by luck.
    assert min(found["int l2 ternary universal"], found["float32 l2 ternary universal"]) >= 5
    assert found["int table of codes int8"] + found["int table of codes int4"] >= 10


def test_inputs_have_what_they_promise():
    model = random_model(0, theme="paper")
    X = random_inputs(model, 4_000, 0)
    tiny = np.finfo(np.float32).tiny
    assert ((X != 0) & (np.abs(X) < tiny)).any()
    for value in (0.0, 1.0, 3e38, -3e38):
        assert (np.float32(value) == X).any()
    assert (np.signbit(X) & (X == 0)).any()


# -- the largest sizes --------------------------------------------------------------------------


def largest(hashes: RowHashes | PooledRows, n_outputs: int = 1) -> Model:
    """A model of this one group of rows, over all-boolean columns or plain numbers."""
    rng = np.random.default_rng(0)
    is_integer = hashes.width_bits is not None
    inputs = Inputs(hashes.n_features, limits=(-127, 127) if is_integer else None)
    shape = (hashes.n_rows, hashes.n_buckets, n_outputs)
    counters = rng.integers(-7, 8, shape, np.int8) if is_integer else rng.standard_normal(shape, np.float32)
    gain = rng.standard_normal(n_outputs, np.float32)
    group = RowGroup(hashes, counters, gain, "int8" if is_integer else "float32", aggregate="sum")
    return Model(inputs, None, (group,), rng.standard_normal(n_outputs, np.float32))


def sparse_pool(n_codes: int, n_features: int, width_bits: int | None, **options) -> CodePool:
    return CodePool("sparse", n_codes, n_features, seed=5, n_axes=1, width_bits=width_bits, is_seeded=True, **options)


def threshold_pool(n_codes: int, n_features: int, width_bits: int | None) -> CodePool:
    rng = np.random.default_rng(2)
    columns, thresholds = rng.integers(0, n_features, n_codes), rng.integers(-30, 31, n_codes)
    thresholds = thresholds.astype(np.float32 if width_bits is None else np.int32)
    return CodePool("threshold", n_codes, n_features, width_bits=width_bits, columns=columns, thresholds=thresholds)


def indexed(pool: CodePool, n_rows: int, n_concat: int) -> PooledRows:
    indices = np.random.default_rng(1).integers(0, pool.n_codes, (n_rows, n_concat))
    return PooledRows(pool, n_rows, n_concat, indices)


D = 1_048_576
LARGEST_FORMS = {
    "columns, sets": lambda w: largest(RowHashes(lsh.MinHash(), 2, 16, D, 1, 3, "universal", w)),
    "columns, pool": lambda w: largest(indexed(sparse_pool(6, D, w), 5, 2)),
    "columns, additions": lambda w: largest(RowHashes(lsh.L2(1.0), 2, 16, D, 1, 3, "universal", w)),
    "rows": lambda w: largest(RowHashes(lsh.L2(1.0), 65_536, 4, 2, 1, 3, "universal", w)),
    "codes, pool": lambda w: largest(indexed(threshold_pool(65_536, 3, w), 300, 3)),
    "buckets": lambda w: largest(RowHashes(lsh.L2(1.0), 3, 65_536, 4, 2, 3, "universal", w)),
    "levels": lambda w: largest(RowHashes(lsh.L2(0.01), 3, 65_536, 4, 1, 3, "direct", w)),
    "levels, pool": lambda w: largest(indexed(sparse_pool(4, 4, w, n_levels=65_536), 3, 1)),
    "outputs": lambda w: largest(RowHashes(lsh.L2(1.0), 3, 2, 4, 1, 3, "universal", w), n_outputs=65_536),
    "codes of a row": lambda w: largest(RowHashes(lsh.L2(1.0), 2, 16, 3, 4_096, 3, "universal", w)),
    "bits of a row": lambda w: largest(RowHashes(lsh.Angular("ternary"), 2, 65_536, 3, 16, 3, "direct", w)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("width_bits", [None, 5], ids=["float32", "int"])
@pytest.mark.parametrize("make", LARGEST_FORMS.values(), ids=LARGEST_FORMS)
def test_largest_sizes(make, width_bits):
    model = make(width_bits)
    X = random_inputs(model, 3, 0)
    if model.n_features == D:
        X[0, ::2], X[1, 5:], X[2, :-1] = 0.0, 0.0, 0.0  # many, few, and only the last column
    truth = Truth.of(model, X)
    for name, isa in ISAS.items():
        opened = open_model(model, isa)
        check_trace(name, opened, X, truth)
        check_predict(name, opened, X, truth)
        check_single_rows(name, opened, X, truth)
    compact = open_model(model, isa, compact=True)
    check_predict(f"{name}, compact", compact, X[:1], truth.first(1))
    table = sp.csr_matrix(X)
    found = np.empty((3, model.n_outputs), np.float32)
    opened.predict_sparse(table.data, table.indptr.astype(np.int32), table.indices.astype(np.int32), found, 1)
    check_same("sparse", found.view(np.int32), truth.outputs)
