"""Tables that cannot be taken, given to every call that takes one."""

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from repsketch import distill, lsh
from repsketch.errors import InputError
from support.cases import case
from support.spoiled import QUICK, D, N, built, check, empty, good_table, good_targets, kernel_model, teacher


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


def with_mask(numbers):
    table = np.ma.array(numbers)
    table[2, 1] = np.ma.masked
    return table


def with_index(column):
    """The second column of row 2 is another, behind the flag that says that columns rise."""
    table = sp.csr_matrix(good_table())
    table.indptr, table.indices = table.indptr.astype(np.int64), table.indices.astype(np.int64)
    assert table.has_canonical_format
    table.indices[2 * D + 1] = column
    return table


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
    "far beyond float64": (lambda: [[1.5, 10**400, 2.0]] * N, "{name} holds a number that is too large"),
    "integer far beyond float64": (lambda: [[1, 10**400, 2]] * N, "{name} holds a number that is too large"),
    "masked": (lambda: with_mask(good_table()), "{name} holds NaN at row 2, column 1;.* must be finite"),
    "masked integers": (lambda: with_mask(np.ones((N, D), int)), "{name} holds NaN at row 2, column 1;"),
    "CSR, column too large": (lambda: with_index(D), "{name} holds column index 3 in row 2; allowed is 0 to 2"),
    "CSR, column negative": (lambda: with_index(-1), "{name} holds column index -1 in row 2; allowed is 0 to 2"),
    "CSR, 33 bits": (lambda: with_index(2**32), "{name} holds column index 4294967296 in row 2; allowed is 0 to 2"),
    "CSR, twice": (lambda: with_index(0), "{name} says has_canonical_format, .*row 2 .*sum_duplicates"),
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


@pytest.mark.parametrize("call", TABLE_CALLS)
def test_table(call):
    name, function = TABLE_CALLS[call]
    for bad, (make, words) in BAD_TABLES.items():
        if (call, bad) not in NOT_BAD:
            with case(bad):
                check(lambda make=make: function(make()), InputError, words.format(name=name))


@pytest.mark.parametrize("call", TABLE_CALLS)
def test_the_good_table_passes(call):
    """What comes out is a table with a row for each of X, or a model that gives one."""
    found = TABLE_CALLS[call][1](good_table())
    if not isinstance(found, np.ndarray):
        found = found.outputs(good_table())
    assert N in found.shape
    assert np.isfinite(found).all()


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
