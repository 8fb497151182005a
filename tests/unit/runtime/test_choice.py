"""What evaluates a sketch: the C core, or the oracle in its place; whatever the inputs look like, the same bits."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from repsketch import Sketch, core, lsh
from repsketch.lsh import RowHashes
from repsketch.lsh.pool import CodePool, PooledRows
from repsketch.model.inputs import Inputs
from repsketch.model.model import Model
from repsketch.model.oracle import query
from repsketch.model.rows import RowGroup
from repsketch.runtime import runtime_for
from repsketch.runtime.native import NativeRuntime
from repsketch.runtime.reference import ReferenceRuntime
from repsketch.sketch import CompiledSketch
from support.models import THEMES, random_inputs, random_model

F = np.float32
N, D = 300, 5

needs_core = pytest.mark.skipif(not NativeRuntime.is_available(), reason="the C core is not installed")


def make_model(is_integer: bool, n_outputs: int = 2, accepts_missing: bool = False, d: int = D) -> Model:
    rng = np.random.default_rng(n_outputs)
    hashes = RowHashes(lsh.L2(1.0), 30, 16, d, 2, seed=4, width_bits=5 if is_integer else None)
    counters = rng.integers(-127, 128, (30, 16, n_outputs)).astype(np.int8)
    group = RowGroup(hashes, counters, np.full(1, 0.1, F), "int8")
    scales = np.full(1, 32.0 if is_integer else 1.7, F)
    inputs = Inputs(d, scales=scales, limits=(-127, 127) if is_integer else None, accepts_missing=accepts_missing)
    return Model(inputs, None, (group,), rng.normal(size=n_outputs).astype(F))


@pytest.fixture(params=[False, True], ids=["float32", "int"])
def model(request) -> Model:
    return make_model(request.param)


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(N, D)).astype(F)


def same_bits(found: np.ndarray, wanted: np.ndarray) -> bool:
    return found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == wanted.tobytes()


# -- which runtime ------------------------------------------------------------------------------


@needs_core
def test_a_sketch_gets_the_c_core(model):
    assert isinstance(runtime_for(model), NativeRuntime)


def test_without_the_c_core_the_oracle_serves(model, X, monkeypatch):
    expected = CompiledSketch(model).outputs(X)
    blank = Sketch.empty(lsh.L2(1.0), n_rows=20, n_buckets=8, n_features=D)
    values = blank.add(X).predict(X)
    monkeypatch.setattr(core, "native", None)
    assert not NativeRuntime.is_available()
    assert isinstance(runtime_for(model), ReferenceRuntime)
    sketch = CompiledSketch(model)
    assert same_bits(sketch.outputs(X), expected)
    assert same_bits(sketch.outputs(X, n_threads=3), expected)
    assert sketch.predict_one(X[0]).tolist() == expected[0].tolist()
    assert same_bits(blank.add(X).predict(X), values)


@needs_core
@pytest.mark.parametrize("seed", range(len(THEMES)))
def test_both_runtimes_give_the_same_bits(seed):
    model = random_model(seed)
    X = random_inputs(model, N, seed)
    reference = ReferenceRuntime(model).outputs(X)
    assert same_bits(runtime_for(model).outputs(X), reference)
    for compact in (False, True):
        assert same_bits(NativeRuntime(model, compact=compact).outputs(X), reference)
    assert same_bits(CompiledSketch(model).outputs(X), reference)


def test_outputs_are_those_of_the_oracle_in_many_blocks(monkeypatch, model, X):
    """Tables are taken in blocks; where they begin must not matter."""
    wide = np.asfortranarray(X)  # copied block by block
    monkeypatch.setattr("repsketch.data.arrays._BLOCK_VALUES", 7 * D)
    assert same_bits(runtime_for(model).outputs(wide), query(model, X))
    assert same_bits(ReferenceRuntime(model).outputs(X), query(model, X))


# -- what X may be ------------------------------------------------------------------------------

TABLES = {
    "float32": lambda X: X,
    "float64": lambda X: X.astype(np.float64),
    "Fortran order": np.asfortranarray,
    "float64 in Fortran order": lambda X: np.asfortranarray(X.astype(np.float64)),
    "big-endian": lambda X: X.astype(">f4"),
    "big-endian float64": lambda X: X.astype(">f8"),
    "columns of a wider table": lambda X: np.hstack([X, X + 1])[:, :D],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "columns backwards": lambda X: X[:, ::-1].copy()[:, ::-1],
    "not aligned": lambda X: np.frombuffer(b"x" + X.tobytes(), np.uint8)[1:].view(F).reshape(X.shape),
    "list": lambda X: X.tolist(),
    "list of rows": list,
    "tuple": lambda X: tuple(map(tuple, X.tolist())),
    "frame": pd.DataFrame,
    "frame of columns": lambda X: pd.DataFrame({f"c{i}": column for i, column in enumerate(X.T)}),
    "CSR matrix": sp.csr_matrix,
    "CSR array": sp.csr_array,
    "CSC": sp.csc_matrix,
    "COO": sp.coo_matrix,
    "CSR of float64": lambda X: sp.csr_matrix(X.astype(np.float64)),
    "objects": lambda X: X.astype(object),
    "matrix": lambda X: X.view(np.matrix),
    "masked": lambda X: np.ma.array(X),
    "memory map": lambda X: X.view(np.memmap),
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_every_kind_of_table(model, X, make):
    assert same_bits(runtime_for(model).outputs(make(X)), query(model, X))


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_a_table_of_one_row(model, X, make):
    assert same_bits(runtime_for(model).outputs(make(X[:1])), query(model, X[:1]))


NUMBERS = {
    "float16": np.float16, "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint64": np.uint64, "bool": np.bool_, "big-endian int32": ">i4",
    "long double": np.longdouble,
}  # fmt: skip


NOT_SPARSE = {"float16", "big-endian int32"}  # scipy's sparse matrices do not take them


@pytest.mark.parametrize("dtype", NUMBERS.values(), ids=NUMBERS)
def test_every_kind_of_number(model, X, dtype):
    table = np.abs(X * 3).astype(dtype)
    assert same_bits(runtime_for(model).outputs(table), query(model, table.astype(F)))


@pytest.mark.parametrize("name", [name for name in NUMBERS if name not in NOT_SPARSE])
def test_every_kind_of_number_in_sparse_rows(model, X, name):
    table = np.abs(X * 3).astype(NUMBERS[name])
    assert same_bits(runtime_for(model).outputs(sp.csr_matrix(table)), query(model, table.astype(F)))


def test_read_only_arrays(model, X):
    frozen = X.copy()
    frozen.flags.writeable = False
    assert same_bits(runtime_for(model).outputs(frozen), query(model, X))
    table = sp.csr_matrix(X)
    for array in (table.data, table.indices, table.indptr):
        array.flags.writeable = False
    assert same_bits(runtime_for(model).outputs(table), query(model, X))
    assert runtime_for(model).output_of(frozen[3]).tolist() == query(model, X)[3].tolist()


def test_the_inputs_are_left_alone(model, X):
    for make in (TABLES["float32"], TABLES["CSR matrix"], TABLES["Fortran order"], TABLES["frame"]):
        given, before = make(X), make(X)
        runtime_for(model).outputs(given)
        difference = abs(given - before)
        assert (difference.toarray() if sp.issparse(difference) else np.asarray(difference)).max() == 0


def test_sparse_rows_in_any_format(model, X):
    X[np.random.default_rng(1).random(X.shape) < 0.7] = 0.0
    expected = query(model, X)
    table = sp.csr_matrix(X)
    shuffled = table.copy()
    for row in range(N):  # columns of a row in falling order
        place = slice(shuffled.indptr[row], shuffled.indptr[row + 1])
        shuffled.indices[place] = shuffled.indices[place][::-1].copy()
        shuffled.data[place] = shuffled.data[place][::-1].copy()
    shuffled.has_sorted_indices = shuffled.has_canonical_format = False
    assert same_bits(runtime_for(model).outputs(shuffled), expected)
    twice = sp.csr_matrix((np.repeat(table.data / 2, 2), np.repeat(table.indices, 2), table.indptr * 2), X.shape)
    assert same_bits(runtime_for(model).outputs(twice), expected)  # duplicates add up
    assert twice.nnz == 2 * table.nnz
    long = sp.csr_matrix((table.data, table.indices.astype(np.int64), table.indptr.astype(np.int64)), X.shape)
    assert same_bits(runtime_for(model).outputs(long), expected)
    assert same_bits(runtime_for(model).outputs(table[::-1])[::-1], expected)
    empty = sp.csr_matrix((4, D), dtype=F)
    assert same_bits(runtime_for(model).outputs(empty), query(model, np.zeros((4, D), F)))


# -- one row ------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_integer", [False, True], ids=["float32", "int"])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_one_row(is_integer, n_outputs, X):
    model = make_model(is_integer, n_outputs)
    expected = query(model, X)
    runtimes = [runtime_for(model), ReferenceRuntime(model)]
    kinds = [np.asarray, list, lambda row: row.astype(np.float64), lambda row: row.astype(">f4"), pd.Series, tuple]
    kinds += [lambda row: np.repeat(row, 2)[::2]]
    for runtime in runtimes:
        for row, wanted in zip(X[:20], expected, strict=False):
            for kind in kinds:
                found = runtime.output_of(kind(row))
                if n_outputs == 1:
                    assert isinstance(found, float)
                    assert found == wanted[0]
                else:
                    assert same_bits(found, wanted)


def test_the_outputs_of_rows_are_new_arrays(X):
    runtime = runtime_for(make_model(True, 3))
    first, second = runtime.output_of(X[0]), runtime.output_of(X[1])
    assert first.tolist() != second.tolist()


# -- threads ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [1, 64, 65, 257, 4_000])
def test_the_number_of_threads_does_not_matter(model, n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, D)).astype(F)
    expected = query(model, X)
    runtime = runtime_for(model)
    for n_threads in (1, 2, 3, 4, 50, 10**30, np.int64(2)):
        assert same_bits(runtime.outputs(X, n_threads), expected)
        assert same_bits(runtime.outputs(X.astype(np.float64), n_threads), expected)
        assert same_bits(runtime.outputs(sp.csr_matrix(X), n_threads), expected)


def test_many_python_threads_share_one_sketch(X):
    """Models of several sizes at once, so that a thread's working memory is used for one and then for another."""
    sketches = [CompiledSketch(make_model(is_integer, n)) for is_integer in (False, True) for n in (1, 5)]
    rng = np.random.default_rng(3)
    pool = CodePool("sparse", 400, D, is_seeded=True, bias_scale=0.01)
    rows = PooledRows(pool, 300, 3, rng.integers(0, 400, (300, 3)))
    group = RowGroup(rows, rng.normal(size=(300, 8, 1)).astype(F), np.ones(1, F))
    sketches.append(CompiledSketch(Model(Inputs(D), None, (group,), np.zeros(1, F))))
    expected = [query(sketch.model, X) for sketch in sketches]
    start = threading.Barrier(6)

    def work(number: int) -> bool:
        start.wait()
        right = True
        for i in range(15):
            which = (number + i) % len(sketches)
            right &= same_bits(sketches[which].outputs(X, n_threads=1 + i % 3), expected[which])
            right &= bool(np.all(sketches[which].predict_one(X[i]) == expected[which][i]))
        return right

    with ThreadPoolExecutor(6) as threads:
        assert all(threads.map(work, range(6)))


def test_many_threads_may_be_the_first_to_ask(X):
    sketch = CompiledSketch(make_model(True))
    expected = query(sketch.model, X)
    with ThreadPoolExecutor(6) as threads:
        assert all(threads.map(lambda _: same_bits(sketch.outputs(X), expected), range(12)))
