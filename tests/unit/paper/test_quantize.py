"""From float32 to integers: what changes, how much, and that the report of it is true."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch import KernelModel, Sketch, build_sketch, lsh
from repsketch.errors import InputError
from repsketch.model.numbers import DTYPES, LARGEST
from repsketch.model.oracle import coordinates, query
from repsketch.paper.quantize import measure_change, quantize
from repsketch.sketch import CompiledSketch, KernelSketch

F = np.float32
D, P, N = 6, 3, 400
FAMILIES = {
    "l2": lsh.L2(2.0),
    "l2 gaussian": lsh.L2(2.0, "gaussian"),
    "angular": lsh.Angular(),
    "angular ternary": lsh.Angular("ternary"),
    "l1": lsh.L1(2.0),
    "minhash": lsh.MinHash(),
}
CASES = [
    (name, projected, fold)
    for name, family in FAMILIES.items()
    for projected in (False, True)
    for fold in ("universal", "direct")
    if (fold == "universal" or family.has_ordered_codes) and not (projected and name == "minhash")
]
every_case = pytest.mark.parametrize(("name", "projected", "fold"), CASES)


def table(name="l2", n=N, seed=1) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(n, D)).astype(F)
    return (X > 0).astype(F) if name == "minhash" else X


def kernel(name="l2", projected=True, n_outputs=1, seed=0, **changes) -> KernelModel:
    rng = np.random.default_rng(seed)
    p = P if projected else D
    points = (rng.normal(size=(30, p)) > 0).astype(F) if name == "minhash" else rng.normal(size=(30, p)).astype(F)
    weights, bias = rng.normal(size=(30, n_outputs)).astype(F), rng.normal(size=n_outputs).astype(F)
    projection = (rng.normal(size=(D, P)) / np.sqrt(D)).astype(F) if projected else None
    return replace(KernelModel(points, weights, bias, FAMILIES[name], projection=projection), **changes)


def sketch_of(name="l2", projected=True, fold="universal", model=None, **options) -> KernelSketch:
    n_buckets = 2 if FAMILIES[name].is_binary and fold == "direct" else 16
    model = kernel(name, projected) if model is None else model
    return build_sketch(model, **{"n_rows": 120, "n_buckets": n_buckets, "fold": fold, "progress": False, **options})


# -- every family -------------------------------------------------------------------------------


@every_case
def test_the_hash_functions_stay_and_the_outputs_nearly(name, projected, fold):
    sketch, X = sketch_of(name, projected, fold), table(name)
    small = sketch.quantize(X)
    assert isinstance(small, CompiledSketch)
    assert (small.precision, sketch.precision) == ("int", "float32")
    hashes = small.model.row_groups[0].hashes
    assert replace(hashes, width_bits=None) == sketch.hashes
    assert hashes.width_bits is not None
    assert small.nbytes < sketch.nbytes / 2.5
    assert small.change.relative < 0.2
    assert (small.task, small.n_features, small.n_outputs) == (sketch.task, D, 1)


@every_case
def test_the_report_of_the_change_is_true(name, projected, fold):
    sketch, X = sketch_of(name, projected, fold), table(name)
    small = sketch.quantize(X, counter_type="int4")
    gap = np.abs(small.outputs(X).astype(float) - sketch.outputs(X).astype(float))
    change = small.change
    assert change.n_rows == N
    assert change.agreement == 1.0  # not a classifier
    assert change.mean == pytest.approx(gap.mean())
    assert change.largest == pytest.approx(gap.max())
    assert change.relative == pytest.approx(np.sqrt((gap**2).mean()) / sketch.outputs(X).std(), rel=1e-5)


@every_case
@pytest.mark.parametrize("counter_type", ["int16", "int8", "int4"])
def test_every_counter_type(name, projected, fold, counter_type):
    small = sketch_of(name, projected, fold).quantize(table(name), counter_type=counter_type)
    group = small.model.row_groups[0]
    assert group.counter_type == counter_type
    assert group.counters.dtype == DTYPES[counter_type]
    assert np.abs(group.counters.astype(int)).max() == LARGEST[counter_type]  # all of the range is used


@pytest.mark.parametrize(("name", "fold"), [(name, fold) for name, projected, fold in CASES if projected])
def test_a_ternary_projection(name, fold):
    # A matrix whose entries have one size loses nothing by having signs only.
    signs = np.sign(np.random.default_rng(3).normal(size=(D, P))).astype(F)
    signs[0, :] = 0
    X = table()
    X[:2] = np.array([[-4.0], [4.0]], F)  # equal ranges, so that the steps of the columns are equal, too
    sketch = sketch_of(name, fold=fold, model=kernel(name, projection=signs * F(0.7)))
    small = sketch.quantize(X, projection_type="ternary")
    assert small.model.projection.kind == "ternary"
    np.testing.assert_array_equal(np.abs(small.model.projection.matrix).max(axis=0), 1)
    assert small.change.relative < 0.2
    assert small.nbytes < sketch.quantize(X).nbytes


def test_ternary_keeps_the_larger_entries():
    model = kernel(projection=np.array([[3, 0.1, -2.5]] + [[0.1, -0.1, 0.1]] * (D - 1), F))
    X = np.tile(np.array([[-1.0], [1.0]], F), (50, D))
    matrix = sketch_of(model=model).quantize(X, projection_type="ternary").model.projection.matrix
    assert matrix[0].tolist() == [1, 1, -1]
    assert not matrix[1:, [0, 2]].any()
    assert (matrix[1:, 1] == -1).all()


@pytest.mark.parametrize("projected", [False, True])
def test_fewer_bits_are_coarser(projected):
    X = table()
    sketch = sketch_of(projected=projected, n_rows=300)
    sizes = {kind: sketch.quantize(X, counter_type=kind) for kind in ("int16", "int8", "int4")}
    assert sizes["int4"].nbytes < sizes["int8"].nbytes < sizes["int16"].nbytes < sketch.nbytes
    # What the counters alone do: against the finest of the three, whose buckets are the same ones.
    gaps = {kind: np.abs(small.outputs(X) - sizes["int16"].outputs(X)).mean() for kind, small in sizes.items()}
    assert 5 * gaps["int8"] < gaps["int4"]


@pytest.mark.parametrize("projected", [False, True])
def test_integer_coordinates_are_rounded_not_cut(projected):
    """Steps of z lie on both sides of the true ones: their mean is off by less than half of what cutting would do."""
    sketch, X = sketch_of(projected=projected), table(n=4_000)
    small = sketch.quantize(X)
    steps = 2.0 ** small.model.row_groups[0].hashes.width_bits
    gap = coordinates(small.model, X).projected - steps * coordinates(sketch.model, X).projected.astype(float)
    assert np.abs(gap.mean(axis=1)).max() < 0.25


# -- the sample ---------------------------------------------------------------------------------


def test_points_that_were_added_are_remembered():
    X = table()
    sketch = Sketch.empty(lsh.L2(1.0), n_rows=50, n_buckets=16, n_features=D).add(X)
    assert sketch.quantize().change == sketch.quantize(sketch.sample).change
    assert len(sketch.sample) <= N


def test_a_sample_that_the_sketch_holds_serves():
    X = table()
    sketch = replace(sketch_of(), sample=X)
    assert sketch.quantize().change == sketch_of().quantize(X).change


@pytest.mark.parametrize("sketch", [Sketch.empty(lsh.L2(1.0), 9, 4, D), sketch_of()], ids=["empty", "projected"])
def test_without_a_sample_one_is_required(sketch):
    with pytest.raises(InputError, match=r"quantize\(\) without X: .*pass sample rows: quantize\(X\)"):
        sketch.quantize()


def test_a_long_table_is_sampled():
    assert sketch_of(n_rows=10).quantize(table(n=10_000)).change.n_rows == 4_096


def test_quantising_is_a_function_of_its_inputs():
    sketch, X = sketch_of(), table()
    first, second = sketch.quantize(X), CompiledSketch(*quantize(sketch, X))
    assert first.model.row_groups[0].counters.tobytes() == second.model.row_groups[0].counters.tobytes()
    assert first.change == second.change
    assert sketch.precision == "float32"


# -- columns ------------------------------------------------------------------------------------


def test_booleans_alone_stay_booleans():
    X = (table() > 0).astype(F)
    inputs = sketch_of().quantize(X).model.inputs
    assert inputs.kinds.tolist() == [1] * D
    assert inputs.nbytes == 0


@pytest.mark.parametrize("n_booleans", [1, 3, 5])
def test_booleans_among_numbers_do_not_cost_precision(n_booleans):
    X = table()
    X[:, :n_booleans] = X[:, :n_booleans] > 0
    numbers = sketch_of(n_rows=300).quantize(table()).change.relative
    assert sketch_of(n_rows=300).quantize(X).change.relative < 2.5 * numbers


@pytest.mark.parametrize("constant", [0.0, 1.0, -3.0, 7.0, 100.0])
def test_a_constant_column_costs_nothing(constant):
    X = table()
    X[:, 0] = constant
    model = kernel()
    # Centred by the shift, so that the sketch sees what it would see without the column.
    model = replace(model, shift=(-constant * model.projection[0]).astype(F))
    change = sketch_of(model=model, n_rows=300).quantize(X).change
    assert change.relative < 0.1


def test_a_boolean_that_the_sample_never_shows_still_counts():
    X = table()
    X[:, 0] = 0.0
    sketch = sketch_of(n_rows=300)
    small = sketch.quantize(X)
    X[:, 0] = 1.0
    gap = np.abs(small.outputs(X) - sketch.outputs(X))
    assert gap.mean() < 0.1 * sketch.outputs(X).std()


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("size", [1e-38, 1e-20, 1e-3])
def test_tiny_columns(projected, size):
    X = table()
    X[:, 1] *= F(size)
    assert sketch_of(projected=projected).quantize(X).change.relative < 0.25


@pytest.mark.parametrize("name", ["l2", "l1", "angular"])
def test_a_component_that_reads_nothing(name):
    model = kernel(name, shift=np.ones(P, F))
    model.projection[:, 1] = 0.0
    small = sketch_of(name, model=model).quantize(table())
    assert small.change.relative < 0.2
    for kind in ("int8", "ternary"):
        matrix = sketch_of(name, model=model).quantize(table(), projection_type=kind).model.projection.matrix
        assert not matrix[:, 1].any()


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("name", ["l2", "l2 gaussian", "l1", "angular"])
@pytest.mark.parametrize("size", [1e4, 1e20, 3e37])
def test_huge_columns_are_refused_or_reported(name, projected, size):
    """A column of thousands of bucket widths has no place in 16 bits: an error that says so, or a true report."""
    X = table()
    X[:, 0] *= F(size)
    sketch = sketch_of(name, projected)
    try:
        small = sketch.quantize(X)
    except InputError as error:
        assert "int precision" in str(error)  # noqa: PT017
        return
    gap = np.abs(small.outputs(X).astype(float) - sketch.outputs(X).astype(float))
    assert small.change.largest == pytest.approx(gap.max())


def test_columns_far_from_0_are_refused_with_what_to_do():
    X = table()
    X[:, 0] += F(1e6)
    with pytest.raises(
        InputError, match="the columns lie too far from 0 for the int precision; centre the data before"
    ):
        sketch_of().quantize(X)
    X = table() * F(1e12)
    with pytest.raises(InputError, match=r"cover too many bucket widths .*larger bandwidth, or scale the data"):
        sketch_of().quantize(X)


@pytest.mark.parametrize("projected", [False, True])
def test_a_sketch_far_from_0_whose_shift_brings_it_back(projected):
    X = table() + F(200.0)
    model = kernel(projected=projected)
    middle = X.mean(axis=0) if not projected else X.mean(axis=0) @ model.projection
    small = sketch_of(model=replace(model, shift=-middle.astype(F)), projected=projected).quantize(X)
    assert small.change.relative < 0.15
    if not projected:
        np.testing.assert_allclose(small.model.inputs.centers, X.mean(axis=0), rtol=1e-5)


# -- outputs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_linear_term(projected, n_outputs):
    p = P if projected else D
    linear = np.random.default_rng(5).normal(size=(p, n_outputs)).astype(F)
    linear[:, 0] *= 1000  # one output whose slopes dwarf the others'
    sketch = sketch_of(model=kernel(projected=projected, n_outputs=n_outputs, linear=linear))
    small = sketch.quantize(table())
    assert small.model.linear.dtype == np.int16
    gap = np.abs(small.outputs(table()) - sketch.outputs(table())).mean(axis=0)
    assert (gap < 0.15 * sketch.outputs(table()).std(axis=0)).all()


def test_a_linear_term_that_cannot_fit_is_refused():
    d = 70_000
    blank = Sketch.empty(lsh.L2(1.0), n_rows=1, n_buckets=2, n_features=d)
    X = np.zeros((2, d), F)
    X[0, 0] = 1e9  # coordinates up to 32767: 70,000 of them leave nothing of 31 bits
    sketch = replace(blank, linear=np.ones((d, 1), F))
    with pytest.raises(InputError, match="a linear term over 70000 coordinates does not fit 32 bits; project the data"):
        sketch.quantize(X)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_agreement_of_a_classifier(n_outputs):
    classes = np.array(["no", "yes"]) if n_outputs == 1 else np.array(["a", "b", "c"])
    model = kernel(n_outputs=n_outputs, task="classification", classes=classes, bias=np.zeros(n_outputs, F))
    X = table()
    sketch = sketch_of(model=model)
    small = sketch.quantize(X, counter_type="int4", projection_type="ternary")
    assert small.task == "classification"
    assert small.classes.tolist() == classes.tolist()
    share = (small.predict(X) == sketch.predict(X)).mean()
    assert small.change.agreement == pytest.approx(share)
    assert 0.3 < share < 1.0  # signs in place of a matrix move some


def test_an_output_that_never_changes():
    model = kernel(n_outputs=2)
    model.weights[:, 1] = 0.0
    small = sketch_of(model=model).quantize(table())
    np.testing.assert_allclose(small.outputs(table())[:, 1], model.bias[1], rtol=1e-6)


def test_an_empty_sketch():
    sketch = Sketch.empty(lsh.L2(1.0), n_rows=9, n_buckets=4, n_features=D)
    small = sketch.quantize(table())
    assert not small.outputs(table()).any()
    assert small.change.largest == 0.0
    assert small.change.relative == 0.0


def test_constant_outputs_that_move_are_reported():
    before = sketch_of().model
    same = np.repeat(table()[:1], 30, axis=0)
    assert measure_change(before, before, same).relative == 0.0
    assert measure_change(before, replace(before, offset=before.offset + 1), same).relative == np.inf


# -- medians ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_groups", [1, 2, 5, 8, 120])
def test_medians_of_equal_groups(n_groups):
    sketch = sketch_of(aggregate="median_of_means", n_groups=n_groups)
    assert sketch.quantize(table()).change.relative < 0.2


def test_medians_of_unequal_groups_are_refused():
    sketch = sketch_of(aggregate="median_of_means", n_groups=7)
    with pytest.raises(InputError, match="n_groups=7 does not divide 120 rows; the int precision takes equal groups"):
        sketch.quantize(table())


# -- refused ------------------------------------------------------------------------------------

BAD = {
    "counter type": ({"counter_type": "float32"}, "counter_type='float32'; allowed are 'int16', 'int8', 'int4'"),
    "projection type": ({"projection_type": "float32"}, "projection_type='float32'; allowed are 'int8', 'ternary'"),
    "too narrow": ({"X": np.ones((3, D - 1))}, "X has 5 features, but this model takes 6"),
    "no rows": ({"X": np.ones((0, D))}, "at least one row"),
    "NaN": ({"X": np.full((3, D), np.nan)}, "X holds NaN at row 0, column 0"),
}


@pytest.mark.parametrize(("options", "words"), BAD.values(), ids=BAD)
def test_refused(options, words):
    with pytest.raises(InputError, match=words):
        sketch_of().quantize(**{"X": table(), **options})


def test_the_oracle_and_the_sketch_agree():
    X = table()
    for name, projected, fold in CASES:
        small = sketch_of(name, projected, fold, n_rows=20).quantize(table(name))
        np.testing.assert_array_equal(small.outputs(X), query(small.model, X))
