"""What no runtime predicts for: NaN, infinities, other shapes. An error that names the place, never a number."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from repsketch import core, lsh
from repsketch.errors import InputError
from repsketch.lsh import RowHashes
from repsketch.model.inputs import Inputs
from repsketch.model.model import Model
from repsketch.model.oracle import query
from repsketch.model.rows import RowGroup
from repsketch.runtime import runtime_for
from repsketch.runtime.reference import ReferenceRuntime
from repsketch.sketch import CompiledSketch
from support.cases import case

F = np.float32
N, D = 200, 70  # more than one block of 64 rows, more columns than one vector holds


def make_model(is_integer: bool, accepts_missing: bool = False, columns=None, n_outputs: int = 1) -> Model:
    p = D if columns is None else len(columns)
    hashes = RowHashes(lsh.L2(4.0), 20, 8, p, seed=4, width_bits=5 if is_integer else None)
    counters = np.random.default_rng(0).integers(-127, 128, (20, 8, n_outputs)).astype(np.int8)
    group = RowGroup(hashes, counters, np.full(1, 0.1, F), "int8")
    limits = (-127, 127) if is_integer else None
    inputs = Inputs(D, columns, scales=np.full(1, 8.0, F), limits=limits, accepts_missing=accepts_missing)
    return Model(inputs, None, (group,), np.zeros(n_outputs, F))


@pytest.fixture(params=["core", "oracle"])
def runtime_of(request, monkeypatch):
    """Both runtimes, by how they are called."""
    if request.param == "oracle":
        monkeypatch.setattr(core, "native", None)
    return runtime_for


@pytest.fixture(params=[False, True], ids=["float32", "int"])
def is_integer(request) -> bool:
    return request.param


def table(value=None, row=130, column=66) -> np.ndarray:
    X = np.random.default_rng(1).normal(size=(N, D)).astype(F)
    if value is not None:
        X[row, column] = value
    return X


MAKE = {
    "float32": lambda X: X,
    "float64": lambda X: X.astype(np.float64),
    "Fortran order": np.asfortranarray,
    "float64 in Fortran order": lambda X: np.asfortranarray(X.astype(np.float64)),
    "rows apart": lambda X: np.hstack([X, X])[:, :D],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "big-endian": lambda X: X.astype(">f4"),
    "CSR": sp.csr_matrix,
    "CSR of float64": lambda X: sp.csr_matrix(X.astype(np.float64)),
    "CSC": sp.csc_matrix,
    "frame": pd.DataFrame,
    "list": lambda X: X.tolist(),
}
VALUES = {"NaN": (np.nan, "NaN"), "inf": (np.inf, "infinity"), "-inf": (-np.inf, "infinity")}
every_value = pytest.mark.parametrize(("value", "word"), VALUES.values(), ids=VALUES)


@every_value
def test_the_place_is_named(runtime_of, is_integer, value, word):
    runtime = runtime_of(make_model(is_integer))
    for kind, make in MAKE.items():
        for n_threads in (1, 3):
            words = f"X holds {word}.* at row 130, column 66; fill or drop it"
            with case(kind, n_threads), pytest.raises(InputError, match=words):
                runtime.outputs(make(table(value)), n_threads)


@every_value
def test_any_place(runtime_of, is_integer, value, word):
    runtime = runtime_of(make_model(is_integer))
    for row, column in [(0, 0), (0, D - 1), (63, 1), (64, 64), (N - 1, D - 1)]:
        for kind in ("float32", "CSR"):
            words = f"X holds {word}.* at row {row}, column {column};"
            with case(kind, row, column), pytest.raises(InputError, match=words):
                runtime.outputs(MAKE[kind](table(value, row, column)))


def test_the_first_of_several_is_named(runtime_of, is_integer):
    X = table(np.inf)
    X[[70, 150], [5, 2]] = np.nan
    X[70, 3] = -np.inf
    for n_threads in (1, 2, 3):
        with pytest.raises(InputError, match=r"infinity .*at row 70, column 3"):
            runtime_of(make_model(is_integer)).outputs(X, n_threads)


@every_value
def test_columns_that_are_not_used_are_checked_too(runtime_of, is_integer, value, word):
    runtime = runtime_of(make_model(is_integer, columns=np.array([3, 5])))
    for make in (MAKE["float32"], MAKE["float64"], MAKE["CSR"]):
        with pytest.raises(InputError, match=f"{word}.* at row 130, column 66"):
            runtime.outputs(make(table(value)))
    with pytest.raises(InputError, match=f"{word}.* at row 0, column 66"):
        runtime.output_of(table(value)[130])


@every_value
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_single_row(runtime_of, is_integer, value, word, n_outputs):
    model = make_model(is_integer, n_outputs=n_outputs)
    runtime, row = runtime_of(model), table(value)[130]
    for kind in (np.asarray, lambda r: r.astype(np.float64), list, pd.Series, lambda r: np.repeat(r, 2)[::2]):
        with pytest.raises(InputError, match=f"X holds {word}.* at row 0, column 66"):
            runtime.output_of(kind(row))
    with pytest.raises(InputError, match=f"X holds {word}.* at row 0, column 66"):
        CompiledSketch(model).predict_one(row)
    with pytest.raises(InputError, match=f"X holds {word}.* at row 0, column 66"):
        runtime.outputs(row[None])


@pytest.mark.parametrize("value", [1e39, -1e300])
def test_numbers_beyond_float32_are_infinite(runtime_of, is_integer, value):
    X = table().astype(np.float64)
    X[130, 66] = value
    runtime = runtime_of(make_model(is_integer, accepts_missing=True))
    for kind in ("float64", "CSR of float64", "list"):
        words = r"X holds infinity .*at row 130, column 66; .*within float32"
        with case(kind), pytest.raises(InputError, match=words):
            runtime.outputs(MAKE[kind](X))
    with pytest.raises(InputError, match=r"X holds infinity .*at row 0, column 66"):
        runtime.output_of(X[130])


# -- missing values -----------------------------------------------------------------------------


def test_nan_is_taken_where_it_is_accepted(runtime_of, is_integer):
    model = make_model(is_integer, accepts_missing=True)
    X = table(np.nan)
    X[3] = np.nan
    expected = query(model, X)
    assert np.isfinite(expected).all()
    for kind, make in MAKE.items():
        assert runtime_of(model).outputs(make(X)).tobytes() == expected.tobytes(), kind


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinities_are_never_accepted(runtime_of, is_integer, value):
    X = table(value)
    X[5, 5] = np.nan
    for kind, make in MAKE.items():
        with case(kind), pytest.raises(InputError, match=r"X holds infinity .*at row 130, column 66"):
            runtime_of(make_model(is_integer, accepts_missing=True)).outputs(make(X))


def test_a_row_with_missing_values(runtime_of, is_integer):
    model = make_model(is_integer, accepts_missing=True)
    X = table(np.nan)
    for kind in (np.asarray, lambda r: r.astype(np.float64), list):
        assert runtime_of(model).output_of(kind(X[130])) == query(model, X)[130, 0]


def test_objects_with_none_are_missing_values(runtime_of, is_integer):
    X = table().astype(object)
    X[130, 66] = None
    with pytest.raises(InputError, match="X holds NaN at row 130, column 66"):
        runtime_of(make_model(is_integer)).outputs(X)
    model = make_model(is_integer, accepts_missing=True)
    assert runtime_of(model).outputs(X).tobytes() == query(model, table(np.nan)).tobytes()


# -- shapes and types ---------------------------------------------------------------------------

SHAPES = {
    "too narrow": (lambda: table()[:, 1:], "X has 69 features, but this model takes 70"),
    "too wide": (lambda: np.ones((N, D + 1)), "X has 71 features, but this model takes 70"),
    "CSR too wide": (lambda: sp.csr_matrix(np.ones((N, D + 1))), "X has 71 features, but this model takes 70"),
    "uint8 too narrow": (lambda: np.ones((N, 3), np.uint8), "X has 3 features, but this model takes 70"),
    "no rows": (lambda: np.ones((0, D), F), r"X has shape \(0, 70\): at least one row is required"),
    "no rows, CSR": (lambda: sp.csr_matrix((0, D)), r"X has shape \(0, 70\): at least one row is required"),
    "no columns": (lambda: np.ones((N, 0), F), "X has .*(0 features.*takes 70|at least one feature)"),
    "1-D": (lambda: table()[0], r"X has shape \(70,\); a table needs 2 dimensions. Reshape your data"),
    "3-D": (lambda: table()[None], r"X has shape \(1, 200, 70\); a table needs 2 dimensions"),
    "a number": (lambda: 3.0, r"X has shape \(\); a table needs 2 dimensions"),
    "text": (lambda: np.full((N, D), "a"), "X holds .* values that are not numbers.*encode"),
    "objects": (lambda: np.full((N, D), object()), "X holds object values that are not numbers.*encode"),
    "complex": (lambda: np.ones((N, D), complex), "Complex data not supported: X has dtype complex128; pass real"),
    "CSR complex": (lambda: sp.csr_matrix(np.ones((N, D), complex)), "Complex data not supported"),
    "a frame with text": (lambda: pd.DataFrame(np.full((N, D), "a")), "X holds .* values that are not numbers"),
    "ragged": (lambda: [[1.0, 2.0], [1.0]], "X is no table of numbers"),
}


def test_other_tables(runtime_of, is_integer):
    for name, (make, words) in SHAPES.items():
        with case(name), pytest.raises(InputError, match=words):
            runtime_of(make_model(is_integer)).outputs(make())


ROWS = {
    "too short": (lambda: table()[0, 1:], "X has 69 features, but this model takes 70"),
    "too long": (lambda: np.ones(D + 1), "X has 71 features, but this model takes 70"),
    "a table": (lambda: table()[:1], r"the row has shape \(1, 70\); allowed is \(70,\)"),
    "a sparse row": (lambda: sp.csr_matrix(table()[:1]), "the row is a sparse matrix; allowed is an array or a list"),
    "ragged": (lambda: [[1.0, 2.0]] + [1.0] * (D - 1), "the row is no table of numbers"),
    "nothing at all": (lambda: None, r"the row has shape \(\); allowed is \(70,\)"),
    "a number": (lambda: 3.0, r"the row has shape \(\); allowed is \(70,\)"),
    "text": (lambda: np.full(D, "a"), "X holds .* values that are not numbers"),
    "complex": (lambda: np.ones(D, complex), "Complex data not supported"),
    "nothing": (lambda: np.ones(0, F), "X has 0 features"),
}


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_other_rows(runtime_of, is_integer, n_outputs):
    for name, (make, words) in ROWS.items():
        with case(name), pytest.raises(InputError, match=words):
            runtime_of(make_model(is_integer, n_outputs=n_outputs)).output_of(make())


def test_a_refused_call_spoils_nothing(is_integer):
    model, X = make_model(is_integer), table()
    runtime = runtime_for(model)
    with pytest.raises(InputError):
        runtime.outputs(table(np.nan))
    assert runtime.outputs(X).tobytes() == ReferenceRuntime(model).outputs(X).tobytes()
