"""Complete sketches worked out by hand, the sketch that is nothing but its model, and what a prediction costs."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

from repsketch import KernelModel, Sketch, build_sketch, lsh
from repsketch.errors import InputError, MergeError
from repsketch.lsh import RowHashes
from repsketch.lsh.generator import Stream, words
from repsketch.lsh.pool import CodePool, PooledRows
from repsketch.model.cost import cost_of_model
from repsketch.model.inputs import Inputs
from repsketch.model.model import Model
from repsketch.model.oracle import accumulators, buckets, query
from repsketch.model.projection import Projection
from repsketch.model.rows import RowGroup
from repsketch.sketch import CompiledSketch

F = np.float32


def one(value=1.0) -> np.ndarray:
    return np.full(1, value, F)


# -- by hand ------------------------------------------------------------------------------------


@pytest.fixture
def by_hand() -> Model:
    """Two columns, a number and a boolean; two coordinates; a group of levels on them, one of bits on the values."""
    inputs = Inputs(2, kinds=np.array([0, 1]), centers=one(10.0), scales=one(4.0), limits=(-127, 127))
    matrix = np.array([[2, -1], [5, 50]], np.int8)
    projection = Projection("int8", 2, matrix, shift=np.array([-7, 8], np.int32), right_shift=1, limit=40)
    levels = CodePool("sparse", 2, 2, n_levels=4, n_axes=2, width_bits=3)  # coordinate itself, levels 8 wide around 0
    first = RowGroup(
        PooledRows(levels, 1, 2),
        np.arange(16, dtype=np.int16).reshape(1, 16, 1) * 100,
        one(0.5),
        "int16",
        aggregate="sum",
    )
    bits = CodePool("threshold", 2, 2, width_bits=0, columns=np.array([0, 1]), thresholds=np.array([3, 1], np.int32))
    counters = np.array([[-1, 1], [-7, 7]], np.int8)[..., None]
    second = RowGroup(PooledRows(bits, 2), counters, one(10.0), "int4", source="values", aggregate="sum")
    return Model(inputs, projection, (first, second), one(1000.0), np.array([[3], [-2]], np.int8), one(0.25))


@pytest.mark.parametrize(
    ("row", "values", "z", "bucket", "sums", "output"),
    [
        # x = 11: (11 - 10) * 4 = 4; z = (4*2 - 7) >> 1 = 0, (-4 + 8) >> 1 = 2; levels 2 and 2: bucket 2 + 4*2.
        ([11.0, 0.0], [4, 0], [0, 2], [10, 1, 0], [1000, -6], 1000 + 500 - 60 + 0.25 * (0 - 4)),
        # x = 8.1: -7.6 rounds to -8, and the boolean is 1: z = (-16 + 5 - 7) >> 1 = -9, (8 + 50 + 8) >> 1 = 33.
        ([8.1, 9.0], [-8, 1], [-9, 33], [12, 0, 1], [1200, 6], 1000 + 600 + 60 + 0.25 * (-27 - 66)),
        # x = -90: clamped to -127: z = (-254 - 7) >> 1 = -131 -> -40, (127 + 8) >> 1 = 67 -> 40.
        ([-90.0, 0.0], [-127, 0], [-40, 40], [12, 0, 0], [1200, -8], 1000 + 600 - 80 + 0.25 * (-120 - 80)),
    ],
)  # fmt: skip
def test_integers_from_column_to_output(by_hand, row, values, z, bucket, sums, output):
    X = np.array([row], F)
    assert by_hand.inputs.values(X)[:, 0].tolist() == values
    assert by_hand.projection.apply(by_hand.inputs.values(X))[:, 0].tolist() == z
    assert buckets(by_hand, X).tolist() == [bucket]
    assert accumulators(by_hand, X)[:, 0, 0].tolist() == sums
    assert query(by_hand, X).tolist() == [[output]]


def test_outputs_are_float32_sums_in_the_order_of_the_groups():
    counters = np.ones((1, 2, 1), np.int16)
    bit = PooledRows(CodePool("sparse", 1, 1, n_axes=1, width_bits=0), 1)
    groups = tuple(RowGroup(bit, counters, one(gain), "int16", aggregate="sum") for gain in (1e8, 1.0, -1e8))
    model = Model(Inputs(1, limits=(-1, 1)), None, groups, one(0.0))
    assert query(model, np.zeros((1, 1), F)).tolist() == [[0.0]]
    assert query(replace(model, row_groups=(groups[0], groups[2], groups[1])), np.zeros((1, 1), F)).tolist() == [[1.0]]


def paper_row(z: np.ndarray, seed: int, row: int, n_concat: int, width_bits: int, n_buckets: int, wraps: bool) -> int:
    """Bucket of one row of the paper's sketch in integers, by section 3 of the page."""
    total = int(words(seed, Stream.FOLD, row + 1, 1, 2)[row, 0, 1])
    for k in range(n_concat):
        word = int(words(seed, Stream.OFFSET, row + 1, n_concat, 1)[row, k, 0])
        directions = lsh.L2(1.0).sample(len(z), row + 1, n_concat, seed).parameters["directions"][row, k]
        t = (word >> (32 - width_bits) if width_bits else 0) + int(directions.astype(int) @ z)
        if wraps:
            t = (t + 32_768) % 65_536 - 32_768
        code = max(-32_768, min(32_767, t >> width_bits))
        total += int(words(seed, Stream.FOLD, row + 1, n_concat, 1)[row, k, 0]) * (code % 65_536)
    return (((total % 2**32) >> 16) * n_buckets) >> 16


@pytest.mark.parametrize("width_bits", [0, 3, 8, 15])
def test_the_papers_rows_wrap_at_16_bits(width_bits):
    rng = np.random.default_rng(0)
    hashes = RowHashes(lsh.L2(1.0), 6, 1000, 9, n_concat=2, seed=77, width_bits=width_bits)
    Z = rng.integers(-32_767, 32_768, (9, 40))
    wrapped = unwrapped = 0
    for row in range(6):
        found = hashes.buckets(Z.astype(np.int32), row).tolist()
        assert found == [paper_row(z, 77, row, 2, width_bits, 1000, wraps=True) for z in Z.T]
        wrapped += sum(
            b != paper_row(z, 77, row, 2, width_bits, 1000, wraps=False) for b, z in zip(found, Z.T, strict=True)
        )
        small = (Z >> 6).astype(np.int32)
        unwrapped += sum(
            b != paper_row(z, 77, row, 2, width_bits, 1000, wraps=False)
            for b, z in zip(hashes.buckets(small, row), small.T, strict=True)
        )
    assert wrapped > 20  # the numbers are large enough to tell
    assert unwrapped == 0


def test_direct_levels_are_clamped_where_hashed_ones_wrap():
    hashes = RowHashes(lsh.L2(1.0), 50, 4, 3, seed=5, fold="direct", width_bits=4)
    Z = np.full((3, 1), 32_767, np.int32)
    directions = hashes.functions.parameters["directions"][:, 0].astype(int)
    for row, sign in enumerate(directions.sum(axis=1)):
        if sign:
            assert hashes.buckets(Z, row).tolist() == [3 if sign > 0 else 0]


# -- the sketch that is its model ---------------------------------------------------------------


def classifier(n_outputs: int) -> CompiledSketch:
    rng = np.random.default_rng(n_outputs)
    hashes = RowHashes(lsh.L2(1.0), 20, 8, 3, width_bits=6)
    counters = rng.integers(-100, 101, (20, 8, n_outputs)).astype(np.int8)
    group = RowGroup(hashes, counters, one(0.01), "int8", aggregate="sum")
    inputs = Inputs(3, scales=one(40.0), limits=(-500, 500))
    classes = np.array(["no", "yes"]) if n_outputs == 1 else np.array([3, 5, 8])
    model = Model(inputs, None, (group,), np.zeros(n_outputs, F), task="classification", classes=classes)
    return CompiledSketch(model)


X = np.random.default_rng(9).normal(size=(200, 3)).astype(F)


def test_labels_and_probabilities():
    two, three = classifier(1), classifier(3)
    outputs = two.outputs(X)[:, 0].astype(float)
    assert two.predict(X).tolist() == ["yes" if y > 0 else "no" for y in outputs]
    np.testing.assert_allclose(two.predict_proba(X)[:, 1], 1 / (1 + np.exp(-outputs)), rtol=1e-6)
    logits = three.outputs(X).astype(float)
    assert three.predict(X).tolist() == [[3, 5, 8][i] for i in logits.argmax(axis=1)]
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(three.predict_proba(X), shares, rtol=1e-6)
    with pytest.raises(InputError, match="only classifiers have probabilities"):
        CompiledSketch(replace(two.model, task="regression", classes=None)).predict_proba(X)


def test_its_sizes_are_those_of_its_model():
    sketch = classifier(3)
    assert (sketch.n_features, sketch.n_outputs, sketch.n_rows, sketch.nbytes) == (3, 3, 20, sketch.model.nbytes)
    assert sketch.precision == "int"
    assert sketch.buckets(X).tolist() == buckets(sketch.model, X).tolist()
    assert sketch.change is None


@pytest.mark.parametrize("name", ["add", "subtract", "merge", "scale", "calibrate", "refit"])
def test_what_needs_sums_is_refused_with_a_reason(name):
    with pytest.raises(
        MergeError, match="precision 'int' without its sums takes no points and no refit; do that to the"
    ):
        getattr(classifier(1), name)(X, X[:, 0])


def test_quantising_twice_is_quantising_once():
    sketch = classifier(1)
    assert sketch.quantize() is sketch
    assert sketch.quantize(X, counter_type="int4") is sketch


def test_only_the_papers_sketch_can_be_quantised():
    density = Sketch.empty(lsh.L2(1.0), n_rows=9, n_buckets=4, n_features=3).add(X)
    trained = CompiledSketch(density.model)
    assert trained.precision == "float32"
    with pytest.raises(MergeError, match=r"only a sketch made by build_sketch or Sketch.empty can be quantised"):
        trained.quantize(X)


@pytest.mark.parametrize("take", [pickle.dumps, copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"])
def test_copies_predict_the_same(take):
    sketch = classifier(3)
    expected = sketch.outputs(X)  # with its runtime made, which is not copied
    taken = take(sketch)
    again = pickle.loads(taken) if isinstance(taken, bytes) else taken
    assert again.outputs(X).tobytes() == expected.tobytes()
    assert again.predict(X).tolist() == sketch.predict(X).tolist()
    assert again.model.classes.tolist() == [3, 5, 8]


def test_a_pickle_holds_no_runtime():
    sketch = classifier(1)
    before = len(pickle.dumps(sketch))
    sketch.outputs(X)
    assert len(pickle.dumps(sketch)) == before


def test_a_sketch_cannot_be_changed():
    with pytest.raises(AttributeError):
        classifier(1).compiled = None


# -- what a prediction costs --------------------------------------------------------------------


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("fold", ["universal", "direct"])
@pytest.mark.parametrize("more", [False, True], ids=["plain", "shift and linear term"])
def test_the_cost_of_the_papers_model_is_that_of_the_papers_sketch(projected, fold, more):
    rng = np.random.default_rng(0)
    p = 3 if projected else 7
    draw = lambda *shape: rng.normal(size=shape).astype(F)  # noqa: E731
    kernel = KernelModel(
        draw(5, p), draw(5, 2), draw(2), lsh.L2(1.0), n_concat=2, projection=draw(7, 3) if projected else None,
        shift=draw(p) if more else None, linear=draw(p, 2) if more else None,
    )  # fmt: skip
    sketch = build_sketch(kernel, n_rows=10, n_buckets=16, fold=fold, progress=False)
    wanted, found = vars(sketch.cost()), vars(cost_of_model(sketch.model))
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value), name


def test_the_cost_of_a_pool():
    """Codes named by several rows are computed once: of eight, five are named."""
    pool = CodePool("sparse", 8, 4, seed=2, width_bits=0)
    indices = np.array([[0, 1], [1, 2], [2, 7], [7, 3]])
    group = RowGroup(PooledRows(pool, 4, 2, indices), np.ones((4, 4, 1), np.int8), one(), "int8", aggregate="sum")
    inputs = Inputs(4, centers=one(), scales=one(3.0), limits=(-9, 9))
    cost = CompiledSketch(Model(inputs, None, (group,), np.zeros(1, F))).cost()
    n_terms = np.abs(pool.directions[[0, 1, 2, 3, 7]]).sum()
    assert cost.parameters == 16
    assert cost.paper_flops == n_terms + 4
    assert cost.adds == 4 + n_terms + 5 + 4  # centring, terms, biases, rows
    assert cost.multiplies == 4 + 1  # scaling, gain
    assert (cost.lookups, cost.reads) == (4, 4)
    assert cost.others == 3 * 4 + 5 + 4 * 2  # rounding and clamping, comparisons, joining two bits


def test_the_cost_of_interpolation_and_decoding():
    pool = CodePool("sparse", 3, 3, n_axes=3, n_levels=5)
    decode = np.ones((3, 2), F)
    group = RowGroup(
        PooledRows(pool, 3, interpolate=True), np.ones((3, 5, 1), F), one(), aggregate="sum", row_decode=decode
    )
    cost = cost_of_model(Model(Inputs(3), None, (group, group), np.zeros(2, F)))
    assert cost.lookups == 2 * 6  # two levels a row
    assert cost.parameters == 2 * (15 + 6)
    assert cost.adds == 2 * (3 + 3 + 3 * 3 + 6) + 2
    assert cost.multiplies == 2 * (3 + 6 + 2)
    assert cost.reads == 2 * (6 + 6)


def test_the_cost_of_the_largest_sparse_pool_needs_no_table_of_directions():
    pool = CodePool("sparse", 20, 1_048_576)
    group = RowGroup(PooledRows(pool, 20), np.ones((20, 2, 1), F), one())
    assert 20 <= cost_of_model(Model(Inputs(1_048_576), None, (group,), np.zeros(1, F))).paper_flops - 20 <= 60
    assert "directions" not in vars(pool)
