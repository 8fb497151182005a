"""Everything that can be given wrongly, call by call: the error's type, what it names and what it allows."""

import tempfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from repsketch import KernelModel, Sketch, build_sketch, distill, lsh
from repsketch.errors import InputError, MergeError, RepSketchError, TeacherError
from repsketch.teacher import TeacherOutputs

N, D = 6, 3
QUICK = {"n_points": 4, "n_components": 2, "n_epochs": 1, "progress": False}


def good_table() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(N, D))


def good_targets() -> np.ndarray:
    return np.arange(N, dtype=float)


def teacher(X):
    return np.asarray(X.todense() if sp.issparse(X) else X)[:, 0]


def kernel_model(**changes) -> KernelModel:
    rng = np.random.default_rng(1)
    draw = lambda *shape: rng.normal(size=shape).astype(np.float32)  # noqa: E731
    parts = {"points": draw(4, 2), "weights": draw(4, 1), "bias": draw(1), "projection": draw(D, 2)}
    return KernelModel(**{**parts, "family": lsh.L2(bandwidth=1.0), **changes})


def built(**options) -> Sketch:
    return build_sketch(kernel_model(), **{"n_rows": 5, "n_buckets": 4, "progress": False, **options})


def empty(**options) -> Sketch:
    defaults = {"family": lsh.L2(bandwidth=1.0), "n_rows": 5, "n_buckets": 4, "n_features": D}
    return Sketch.empty(**{**defaults, **options})


def check(call, error, words):
    """``call`` raises this child of the root, with a message that has these words and is one readable line."""
    assert issubclass(error, RepSketchError)
    with pytest.raises(RepSketchError, match=words) as caught:
        call()
    assert type(caught.value) is error
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400


# -- tables -------------------------------------------------------------------------------------


def targets_for(X) -> np.ndarray:
    """As many targets as X has rows, if it has any."""
    return good_targets()[: X.shape[0]] if len(getattr(X, "shape", ())) == 2 else good_targets()


TABLE_CALLS = {
    "distill": ("X", lambda X: distill(teacher, X, **QUICK)),
    "Sketch.add": ("points", lambda X: empty().add(X)),
    "Sketch.subtract": ("points", lambda X: empty().subtract(X)),
    "Sketch.outputs": ("X", lambda X: built().outputs(X)),
    "Sketch.predict": ("X", lambda X: built().predict(X)),
    "Sketch.buckets": ("X", lambda X: built().buckets(X)),
    "KernelModel.outputs": ("X", lambda X: kernel_model().outputs(X)),
    "KernelModel.predict": ("X", lambda X: kernel_model().predict(X)),
    "KernelModel.transform": ("X", lambda X: kernel_model().transform(X)),
    "refit": ("X", lambda X: built().refit(X, targets_for(X))),
    "calibrate": ("X", lambda X: built().calibrate(X, targets_for(X))),
    "Family.hash": ("points", lambda X: lsh.L2(1.0).hash(X, lsh.L2(1.0).sample(D))),
}


def with_value(value, kind=np.asarray):
    def make():
        table = good_table()
        table[2, 1] = value
        return kind(table)

    return make


BAD_TABLES = {
    "NaN": (with_value(np.nan), "{name} holds NaN at row 2, column 1;.* must be finite"),
    "+inf": (with_value(np.inf), "{name} holds infinity .*at row 2, column 1;.* must be finite"),
    "-inf": (with_value(-np.inf), "{name} holds infinity .*at row 2, column 1;.* must be finite"),
    "beyond float32": (with_value(1e39), "{name} holds infinity .*at row 2, column 1;.* within float32"),
    "CSR with NaN": (with_value(np.nan, sp.csr_matrix), "{name} holds NaN at row 2, column 1"),
    "CSR beyond float32": (
        with_value(1e39, sp.csr_matrix),
        "{name} holds infinity .*row 2, column 1;.* within float32",
    ),
    "frame with NaN": (with_value(np.nan, pd.DataFrame), "{name} holds NaN at row 2, column 1"),
    "too narrow": (lambda: good_table()[:, :2], "{name} has 2 features, but this model takes 3"),
    "too wide": (lambda: np.ones((N, 4)), "{name} has 4 features, but this model takes 3"),
    "1-D": (lambda: np.ones(D), r"{name} has shape \(3,\); a table needs 2 dimensions.*reshape"),
    "3-D": (lambda: np.ones((N, D, 2)), r"{name} has shape \(6, 3, 2\); a table needs 2 dimensions"),
    "a number": (lambda: 3.0, r"{name} has shape \(\); a table needs 2 dimensions"),
    "nothing": (lambda: None, r"{name} has shape \(\); a table needs 2 dimensions"),
    "0 rows": (lambda: np.empty((0, D)), r"{name} has shape \(0, 3\): at least one row"),
    "0 columns": (lambda: np.empty((N, 0)), "{name} has .*(0 features.*takes 3|at least one feature)"),
    "text": (lambda: np.array([["a", "b", "c"]] * N), "{name} holds .* values that are not numbers.*encode"),
    "bytes": (lambda: np.array([[b"a", b"b", b"c"]] * N), "{name} holds .* values that are not numbers.*encode"),
    "complex": (lambda: np.ones((N, D), complex), "Complex data not supported: {name} has dtype complex128; .*real"),
    "dates": (lambda: np.zeros((N, D), "datetime64[D]"), "{name} holds dates or times .datetime64.D..; pass numbers"),
    "times": (lambda: np.zeros((N, D), "timedelta64[s]"), "{name} holds dates or times"),
    "CSR complex": (lambda: sp.csr_matrix(np.ones((N, D), complex)), "Complex data not supported: {name} .*real"),
    "objects": (lambda: np.full((N, D), object()), "{name} holds object values that are not numbers.*encode"),
    "objects with None": (lambda: np.full((N, D), None), "{name} holds NaN at row 0, column 0"),
    "a frame with text": (
        lambda: pd.DataFrame({"a": [1.0] * N, "b": [2.0] * N, "c": list("uvwxyz")}),
        "{name} holds object values that are not numbers.*encode",
    ),
    "ragged": (lambda: [[1.0, 2.0, 3.0], [1.0]], "{name} is no table of numbers"),
}
# Adding no points is adding nothing: a partition may be empty. Any width may be distilled.
NOT_BAD = {
    ("Sketch.add", "0 rows"),
    ("Sketch.subtract", "0 rows"),
    ("Sketch.buckets", "0 rows"),
    ("Family.hash", "0 rows"),
    ("distill", "too narrow"),
    ("distill", "too wide"),
}
TABLES = [(call, bad) for call in TABLE_CALLS for bad in BAD_TABLES if (call, bad) not in NOT_BAD]


@pytest.mark.parametrize(("call", "bad"), TABLES, ids=[f"{call}: {bad}" for call, bad in TABLES])
def test_table(call, bad):
    name, function = TABLE_CALLS[call]
    make, words = BAD_TABLES[bad]
    check(lambda: function(make()), InputError, words.format(name=name))


@pytest.mark.parametrize("call", TABLE_CALLS)
def test_the_good_table_passes(call):
    TABLE_CALLS[call][1](good_table())


@pytest.mark.parametrize("scale", [1e30, 3e38])
@pytest.mark.parametrize("sign", [1, -1])
def test_large_inputs_within_float32_are_still_hashed(scale, sign):
    """The largest codes: a sum that leaves float32 must saturate, not warn and turn into any bucket."""
    X = np.full((2, D), sign * scale)
    X[1, 1] *= -1  # inf - inf
    for sketch in (empty().add(good_table()), empty(family=lsh.L1(1.0)).add(good_table()), built()):
        outputs = sketch.outputs(X)
        assert np.isfinite(outputs).all()
        np.testing.assert_array_equal(outputs, np.concatenate([sketch.outputs(X[:1]), sketch.outputs(X[1:])]))
    assert np.isfinite(empty().add(X).outputs(X)).all()


@pytest.mark.parametrize("family", [lsh.L2(1.0), lsh.L1(1.0), lsh.Angular()], ids=lambda family: family.name)
def test_a_kernel_model_of_large_inputs(family):
    """Either is fine, numbers or a message; a warning and NaN are not."""
    outputs = np.zeros(1)
    with suppress(InputError):
        outputs = kernel_model(family=family).outputs(np.full((2, D), 3e38))
    assert np.isfinite(outputs).all()


# -- targets and weights ------------------------------------------------------------------------

VALUE_CALLS = {
    "Sketch.add": ("weights", lambda values: empty().add(good_table(), values)),
    "Sketch.subtract": ("weights", lambda values: empty().subtract(good_table(), values)),
    "refit": ("targets", lambda values: built().refit(good_table(), values)),
    "calibrate": ("targets", lambda values: built().calibrate(good_table(), values)),
}


def with_target(value):
    def make():
        values = good_targets()
        values[3] = value
        return values

    return make


BAD_VALUES = {
    "NaN": (with_target(np.nan), "{name} holds NaN at row 3, column 0;.*finite"),
    "+inf": (with_target(np.inf), "{name} holds infinity .*row 3, column 0;.*finite"),
    "opposite infinities": (lambda: np.array([np.inf, -np.inf] * 3), "{name} holds infinity .*row 0, column 0;"),
    "too few": (lambda: np.ones(N - 1), r"{name} has shape \(5,\); allowed is \(6,\) or \(6, C\)"),
    "too many": (lambda: np.ones(N + 1), r"{name} has shape \(7,\); allowed is \(6,\) or \(6, C\)"),
    "a number": (lambda: 1.0, r"{name} has shape \(\); allowed is \(6,\) or \(6, C\)"),
    "3-D": (lambda: np.ones((N, 1, 1)), r"{name} has shape \(6, 1, 1\); allowed is"),
    "0 columns": (lambda: np.ones((N, 0)), r"{name} has shape \(6, 0\); allowed is"),
    "2 columns": (lambda: np.ones((N, 2)), "{name} have 2 columns; this sketch has 1 outputs"),
    "text": (lambda: ["a"] * N, "{name} holds .* values that are not numbers"),
    "complex": (lambda: np.ones(N, complex), "Complex data not supported: {name}"),
    "objects": (lambda: np.full(N, object()), "{name} holds object values that are not numbers"),
    "ragged": (lambda: [[1.0, 2.0]] * (N - 1) + [[1.0]], "{name} "),
}
VALUES = [(call, bad) for call in VALUE_CALLS for bad in BAD_VALUES]


@pytest.mark.parametrize(("call", "bad"), VALUES, ids=[f"{call}: {bad}" for call, bad in VALUES])
def test_values(call, bad):
    name, function = VALUE_CALLS[call]
    make, words = BAD_VALUES[bad]
    check(lambda: function(make()), InputError, words.format(name=name))


@pytest.mark.parametrize("value", [1e39, 1e300, -1e307])
@pytest.mark.parametrize("call", ["refit", "calibrate"])
def test_targets_beyond_float32(call, value):
    """Counters, gain and offset are float32: such targets would end as infinities."""
    check(lambda: VALUE_CALLS[call][1](good_targets() * value), InputError, "targets .*float32")


@pytest.mark.parametrize("value", [3e6, 1e39, 1e300, -1e308])
@pytest.mark.parametrize("call", ["Sketch.add", "Sketch.subtract"])
def test_weights_too_large_for_the_fixed_point(call, value):
    words = r"weight.* allowed is less than 2\.1e\+06.* larger weight_step"
    check(lambda: VALUE_CALLS[call][1](np.full(N, value)), InputError, words)


def test_sums_too_large_for_the_fixed_point():
    points = np.zeros((600, D))
    words = r"sum of .*weights would pass 1\.07e\+09.* larger weight_step"
    check(lambda: empty().add(points, np.full(600, 2e6)), MergeError, words)


# -- settings -----------------------------------------------------------------------------------


def distil(**options):
    return lambda: distill(teacher, good_table(), **{**QUICK, **options})


def start(**options):
    return lambda: empty(**options)


def build(**options):
    return lambda: built(**options)


def refitted(**options):
    return lambda: built().refit(good_table(), good_targets(), **options)


def whole(name, value, allowed):
    return rf"^{name}={value}; allowed is a whole number from {allowed}"


MILLION = "1 to 1048576"
SETTINGS = {
    # counts
    "distill n_points=0": (distil(n_points=0), whole("n_points", 0, MILLION)),
    "distill n_points=-1": (distil(n_points=-1), whole("n_points", -1, MILLION)),
    "distill n_points=2.0": (distil(n_points=2.0), whole("n_points", 2.0, "1")),
    "distill n_points=True": (distil(n_points=True), whole("n_points", True, "1")),
    "distill n_points=None": (distil(n_points=None), whole("n_points", None, "1")),
    "distill n_components=0": (distil(n_components=0), whole("n_components", 0, MILLION)),
    "distill n_components='2'": (distil(n_components="2"), whole("n_components", "'2'", "1")),
    "distill n_concat=0": (distil(n_concat=0), whole("n_concat", 0, "1 to 4096")),
    "distill n_concat=4097": (distil(n_concat=4097), whole("n_concat", 4097, "1 to 4096")),
    "distill n_epochs=0": (distil(n_epochs=0), whole("n_epochs", 0, "1 to 1000000")),
    "distill n_directions=0": (distil(n_directions=0), whole("n_directions", 0, "1 to 65536")),
    "distill batch_size=0": (distil(batch_size=0), whole("batch_size", 0, MILLION)),
    "empty n_rows=0": (start(n_rows=0), whole("n_rows", 0, "1 to 65536")),
    "empty n_rows=65537": (start(n_rows=65_537), whole("n_rows", 65537, "1 to 65536")),
    "empty n_buckets=0": (start(n_buckets=0), whole("n_buckets", 0, "2 to 65536")),
    "empty n_buckets=1": (start(n_buckets=1), whole("n_buckets", 1, "2 to 65536")),
    "empty n_buckets=65537": (start(n_buckets=65_537), whole("n_buckets", 65537, "2 to 65536")),
    "empty n_buckets=2.5": (start(n_buckets=2.5), whole("n_buckets", 2.5, "2")),
    "empty n_features=0": (start(n_features=0), whole("n_features", 0, MILLION)),
    "empty n_concat=0": (start(n_concat=0), whole("n_concat", 0, "1 to 4096")),
    "empty n_outputs=0": (start(n_outputs=0), whole("n_outputs", 0, "1 to 65536")),
    "empty n_groups > n_rows": (start(aggregate="median_of_means", n_groups=6), whole("n_groups", 6, "1 to 5")),
    "empty n_groups=0": (start(aggregate="median_of_means", n_groups=0), whole("n_groups", 0, "1 to 5")),
    "empty n_groups of a mean": (
        start(n_groups=2),
        "n_groups=2 with aggregate='mean'; use aggregate='median_of_means'",
    ),
    "build n_rows=0": (build(n_rows=0), whole("n_rows", 0, "1 to 65536")),
    "build n_buckets=1": (build(n_buckets=1), whole("n_buckets", 1, "2 to 65536")),
    "build n_buckets=0": (build(n_buckets=0), whole("n_buckets", 0, "2 to 65536")),
    "build n_buckets=65537": (build(n_buckets=65_537), whole("n_buckets", 65537, "2 to 65536")),
    "build n_groups > n_rows": (build(aggregate="median_of_means", n_groups=6), whole("n_groups", 6, "1 to 5")),
    "sample n_rows=0": (lambda: lsh.L2(1.0).sample(3, n_rows=0), whole("n_rows", 0, "1 to 65536")),
    "collision_probability n_concat=0": (
        lambda: lsh.L2(1.0).collision_probability([0.0], [1.0], n_concat=0),
        whole("n_concat", 0, "1 to 4096"),
    ),
    # bandwidths
    **{
        f"{family.__name__} bandwidth={value!r}": (
            lambda family=family, value=value: family(bandwidth=value),
            rf"^bandwidth={value!r}; allowed is a number from 1e-30 to 1e\+30",
        )
        for family in (lsh.L2, lsh.L1)
        for value in (0, 0.0, -1.0, float("nan"), float("inf"), "x", None)
    },
    # a bandwidth whose reciprocal is no float32 makes every coordinate infinite
    "L2 bandwidth=1e-300": (
        lambda: empty(family=lsh.L2(bandwidth=1e-300)).add(good_table()),
        "bandwidth=1e-300; allowed is",
    ),
    "L1 bandwidth=1e-40": (
        lambda: empty(family=lsh.L1(bandwidth=1e-40)).add(good_table()),
        "bandwidth=1e-40; allowed is",
    ),
    # names
    "distill family='x'": (distil(family="x"), "family='x'; allowed are 'l2', 'angular', 'minhash', 'l1'"),
    "distill family=5": (distil(family=5), "family=5; allowed is a family such as"),
    "distill family=None": (distil(family=None), "family=None; allowed is a family such as"),
    "distill family=L2, the class": (distil(family=lsh.L2), "family=.*L2.*; allowed is a family"),
    "empty family='l2'": (start(family="l2"), r"family='l2'; allowed .*lsh\.L2"),
    "empty family=5": (start(family=5), "family=5; allowed"),
    "empty family=L2, the class": (start(family=lsh.L2), "family=.*L2.*; allowed"),
    "L2 directions='x'": (lambda: lsh.L2(1.0, "x"), "directions='x'; allowed are 'ternary', 'gaussian'"),
    "Angular directions='x'": (lambda: lsh.Angular("x"), "directions='x'; allowed are 'ternary', 'gaussian'"),
    "empty fold='x'": (start(fold="x"), "fold='x'; allowed are 'universal', 'direct'"),
    "build fold='x'": (build(fold="x"), "fold='x'; allowed are 'universal', 'direct'"),
    "empty aggregate='x'": (start(aggregate="x"), "aggregate='x'; allowed are 'mean', 'median_of_means'"),
    "build aggregate='x'": (build(aggregate="x"), "aggregate='x'; allowed are 'mean', 'median_of_means'"),
    "distill kernel='x'": (distil(kernel="x"), "kernel='x'; allowed are 'auto', 'as_hashed', 'closed_form'"),
    "distill as_hashed of l1": (
        distil(kernel="as_hashed", family="l1"),
        "kernel='as_hashed' with family 'l1'.*offered for 'l2'.*closed_form",
    ),
    "distill as_hashed of 17 codes": (distil(kernel="as_hashed", n_concat=17), "n_concat=17.* at most 16 codes"),
    "KernelModel kernel='x'": (lambda: kernel_model(kernel="x"), "kernel='x'; allowed are"),
    "direct fold of 5 buckets": (
        start(fold="direct", n_buckets=5, n_concat=2),
        "n_buckets=5 with n_concat=2.*for example 4",
    ),
    "direct fold of sets": (
        start(fold="direct", family=lsh.MinHash()),
        "fold='direct' with family 'minhash'.*universal",
    ),
    # seeds
    **{
        f"{name} random_state={value!r}": (
            call(random_state=value),
            rf"random_state={value!r}; allowed are None, an integer",
        )
        for name, call in (("distill", distil), ("empty", start), ("build", build), ("refit", refitted))
        for value in (-1, "a", 2**32, 1.5)
    },
    # fractions and rates
    **{
        f"distill validation_fraction={value!r}": (
            distil(validation_fraction=value),
            f"validation_fraction={value!r}; allowed is a number between 0 and 1",
        )
        for value in (0.0, 1.0, -0.5, float("nan"), "x")
    },
    **{
        f"refit validation_fraction={value!r}": (
            refitted(validation_fraction=value),
            f"validation_fraction={value!r}; allowed is a number between 0 and 1",
        )
        for value in (0.0, 1.0, float("nan"), "x")
    },
    **{
        f"distill learning_rate={value!r}": (distil(learning_rate=value), f"learning_rate={value!r}.* above 0")
        for value in (0.0, -1.0, float("nan"), float("inf"), "x")
    },
    **{
        f"distill norm_penalty={value!r}": (distil(norm_penalty=value), f"norm_penalty={value!r};.* at least 0")
        for value in (-1.0, float("nan"), float("inf"), "x")
    },
    **{
        f"refit strengths={value!r}": (
            refitted(strengths=value),
            "strengths=.*; allowed is .*finite number",
        )
        for value in ([], [0.0], [-1.0], [float("nan")], [1.0, float("inf")], 1.0, "ab", None)
    },
    **{
        f"empty weight_step={value!r}": (
            start(weight_step=value),
            f"weight_step={value!r}; allowed is a (power of two|number)",
        )
        for value in (0.0, -1.0, 0.3, float("nan"), float("inf"), "x")
    },
    "a weight_step too small to divide by": (
        lambda: empty(weight_step=2.0**-1074).add(good_table()),
        "weight.* larger weight_step|weight_step=.*; allowed",
    ),
    **{
        f"scale by {value!r}": (
            lambda value=value: empty().add(good_table()).scale(value),
            f"factor={value!r}; allowed is a finite number",
        )
        for value in (float("nan"), float("inf"), "x")
    },
    # other things
    "build_sketch of a number": (lambda: build_sketch(5), "takes a KernelModel, not int; call distill first"),
    "build_sketch of a sketch": (
        lambda: build_sketch(built()),
        "takes a KernelModel, not KernelSketch; call distill first",
    ),
    "build_sketch of a function": (lambda: build_sketch(teacher), "takes a KernelModel, not function"),
    "predict_proba of a density": (
        lambda: empty().predict_proba(good_table()),
        "predict_proba on a model with task=None; only classifiers",
    ),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_setting(setting):
    call, words = SETTINGS[setting]
    check(call, InputError, words)


def test_scaling_beyond_64_bits():
    words = "would pass .*what 64 bits hold.* larger weight_step"
    check(lambda: empty().add(good_table()).scale(1e300), MergeError, words)


# -- teachers -----------------------------------------------------------------------------------


def raising(X):
    raise RuntimeError("the model server is down")


def late(X):
    return np.where(np.arange(len(X)) == 4, np.nan, 0.0)


TEACHERS = {
    "raises": (raising, "raising raised RuntimeError on rows of shape .*: the model server is down"),
    "NaN": (late, "late answered nan for row 4 of X in column 0; allowed are finite outputs"),
    "infinite": (lambda X: np.full(len(X), np.inf), "answered inf for row 0 .*; allowed are finite"),
    "beyond float32": (lambda X: X[:, 0] * 1e300, "answered .*; allowed are .*float32"),
    "too few rows": (lambda X: X[:-1, 0], r"answered with shape \(5,\) on 6 rows; allowed is \(n,\) or \(n, C\)"),
    "one answer": (lambda X: 1.0, r"answered with shape \(\) on 6 rows; allowed is"),
    "3-D": (lambda X: X[:, :, None], r"answered with shape \(6, 3, 1\) on 6 rows; allowed is"),
    "text": (lambda X: ["yes"] * len(X), "answered with a list of dtype <U3; allowed is one array of real numbers"),
    "nothing": (lambda X: None, "answered with a NoneType .*; allowed is one array of real numbers"),
    "no model": (5, "model is 5 of type int; allowed is a torch module"),
    "a class": (KernelModel, "model is .*KernelModel.*; allowed is"),
    "no such file": ("no_such_model.onnx", "there is no file 'no_such_model.onnx'"),
    "another file": ("model.pkl", "'model.pkl' does not end in .onnx"),
}


@pytest.mark.parametrize("stream", [False, True], ids=["table", "stream"])
@pytest.mark.parametrize(("model", "words"), TEACHERS.values(), ids=TEACHERS)
def test_teacher(model, words, stream, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    checkpoint = tmp_path / "run.npz"
    X = iter([good_table()]) if stream else good_table()
    check(lambda: distill(model, X, **QUICK, checkpoint=checkpoint), TeacherError, words)
    assert not checkpoint.exists()
    assert list(tmp_path.glob("*repsketch*")) == []
    assert list(tmp_path.glob(".run*")) == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.full((N, 1), np.nan), "teacher outputs .*(NaN|finite)"),
        (np.full((N, 1), 1e300), "teacher outputs .*float32"),
        (np.ones((N - 1, 1)), r"teacher outputs has shape \(5, 1\); allowed is \(6,\) or \(6, C\)"),
    ],
    ids=["NaN", "beyond float32", "too few"],
)
def test_teacher_outputs(values, words):
    check(lambda: distill(TeacherOutputs(values, "regression", None), good_table(), **QUICK), InputError, words)


# -- merging ------------------------------------------------------------------------------------


def full(**options) -> Sketch:
    return empty(**options).add(good_table(), np.ones((N, options.get("n_outputs", 1))))


OTHERS = {
    "seed": (lambda: full(random_state=1), "other hash functions"),
    "rows": (lambda: full(n_rows=6), "other hash functions"),
    "buckets": (lambda: full(n_buckets=8), "other hash functions"),
    "codes": (lambda: full(n_concat=2), "other hash functions"),
    "bandwidth": (lambda: full(family=lsh.L2(bandwidth=2.0)), "other hash functions"),
    "directions": (lambda: full(family=lsh.L2(1.0, "gaussian")), "other hash functions"),
    "family": (lambda: full(family=lsh.L1(1.0)), "other hash functions"),
    "fold": (lambda: full(fold="direct"), "other hash functions"),
    "step": (lambda: full(weight_step=2.0**-20), "other weight_step"),
    "outputs": (lambda: full(n_outputs=2), "other .*number of outputs"),
    "calibrated": (lambda: full().calibrate(good_table(), good_targets()), "other .*output.scale"),
    "refitted": (lambda: full().refit(good_table(), good_targets()), "refitted sketch cannot be merged"),
    # A reader's choice, but of the two sketches only one can have it.
    "debias": (lambda: full(debias=False), "other .*debias"),
    "groups": (lambda: full(aggregate="median_of_means", n_groups=3), "other .*(aggregate|n_groups)"),
}


@pytest.mark.parametrize(("other", "words"), OTHERS.values(), ids=OTHERS)
def test_merge_of_another(other, words):
    check(lambda: full().merge(other()), MergeError, words)
    check(lambda: other().merge(full()), MergeError, words)


@pytest.mark.parametrize("other", [5, None, "sketch"])
def test_merge_of_something_else(other):
    check(lambda: full().merge(other), MergeError, f"{type(other).__name__}.*Sketch")


def test_merge_of_models_with_other_projections():
    others = {
        "projection": kernel_model(projection=np.ones((D, 2), np.float32)),
        "task": kernel_model(task="regression"),
    }
    for name, other in others.items():
        sketch = build_sketch(other, n_rows=5, n_buckets=4)
        check(lambda sketch=sketch: built().merge(sketch), MergeError, f"other .*{name}.*; only sketches of one model")


@pytest.mark.parametrize(
    ("change", "verb"),
    [
        (lambda sketch: sketch.add(np.ones((1, 2))), "added to"),
        (lambda sketch: sketch.subtract(np.ones((1, 2))), "added to|subtracted from"),
        (lambda sketch: sketch.merge(built()), "merged"),
        (lambda sketch: sketch.scale(0.5), "scaled"),
    ],
    ids=["add", "subtract", "merge", "scale"],
)
def test_a_refitted_sketch_is_no_sum(change, verb):
    refitted = built().refit(good_table(), good_targets())
    check(lambda: change(refitted), MergeError, f"refitted sketch cannot be ({verb}).*no longer sums")
