"""Tables and rows of every odd kind: the outputs of a plain copy, or an error of this package; nothing else."""

import datetime
import decimal
import fractions

import numpy as np
import pandas as pd
import pytest
import torch

from repsketch import core, lsh
from repsketch.errors import InputError
from repsketch.lsh import RowHashes
from repsketch.model.inputs import Inputs
from repsketch.model.model import Model
from repsketch.model.oracle import query
from repsketch.model.rows import RowGroup
from repsketch.runtime import runtime_for
from repsketch.sketch import CompiledSketch
from support.cases import case

F = np.float32
N, D = 70, 5  # more rows than a block


def make_model(n_outputs: int) -> Model:
    hashes = RowHashes(lsh.L2(1.0), 40, 16, D, 2, seed=4, width_bits=5)
    counters = np.random.default_rng(0).integers(-127, 128, (40, 16, n_outputs)).astype(np.int8)
    group = RowGroup(hashes, counters, np.full(1, 0.1, F), "int8")
    inputs = Inputs(D, scales=np.full(1, 32.0, F), limits=(-127, 127))
    return Model(inputs, None, (group,), np.zeros(n_outputs, F))


@pytest.fixture(params=[1, 3], ids=["one output", "three outputs"])
def model(request) -> Model:
    return make_model(request.param)


@pytest.fixture(params=["core", "oracle"])
def runtime(request, model, monkeypatch):
    if request.param == "oracle":
        monkeypatch.setattr(core, "native", None)
    return runtime_for(model)


def table() -> np.ndarray:
    """Halves: every number type here but the integers holds them exactly."""
    return np.random.default_rng(0).integers(-6, 7, (N, D)).astype(F) / 2


def in_a_record(X, first, dtype=F):
    record = np.zeros(len(X), [("first", first), ("X", dtype, X.shape[1:])])
    record["X"] = X
    return record["X"]


def with_strides(X, *strides):
    return np.lib.stride_tricks.as_strided(X, X.shape, strides, writeable=False)


class Refusing:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no")


class Columns:
    """Something that calls itself a frame."""

    def to_numpy(self):
        raise KeyError("no")


#: Tables that hold numbers, and their plain copies.
GOOD = {
    "rows repeated": lambda X: np.broadcast_to(X[3], X.shape),
    "columns repeated": lambda X: np.broadcast_to(X[:, :1], X.shape),
    "one number": lambda X: np.broadcast_to(F(1.5), X.shape),
    "backwards": lambda X: X[::-1],
    "columns backwards": lambda X: X[:, ::-1],
    "both backwards": lambda X: X[::-1, ::-1],
    "every third row": lambda X: X[::3],
    "transposed": lambda X: np.ascontiguousarray(X.T).T,
    "Fortran order": np.asfortranarray,
    "overlapping rows": lambda X: with_strides(X, 4, 4),
    "in a record of bytes": lambda X: in_a_record(X, "u1"),
    "in a record of halves": lambda X: in_a_record(X, "u2"),
    "in a record of floats": lambda X: in_a_record(X, "f4"),
    "float64 in a record of bytes": lambda X: in_a_record(X, "u1", np.float64),
    "uint8 in a record": lambda X: in_a_record(np.abs(X), "f4", np.uint8),
    "a field of records": lambda X: X.copy().view([("a", F, D)])["a"].reshape(X.shape),
    "not aligned": lambda X: np.frombuffer(b"x" + X.tobytes(), np.uint8)[1:].view(F).reshape(X.shape),
    "float64 not aligned": lambda X: (
        np.frombuffer(b"x" + X.astype("f8").tobytes(), np.uint8)[1:].view("f8").reshape(X.shape)
    ),
    "uint8 backwards": lambda X: np.abs(X).astype(np.uint8)[::-1],
    "uint8 repeated": lambda X: np.broadcast_to(np.abs(X[0]).astype(np.uint8), X.shape),
    "big-endian": lambda X: X.astype(">f4"),
    "big-endian float64": lambda X: X.astype(">f8"),
    "big-endian int16": lambda X: X.astype(">i2"),
    "float16": lambda X: X.astype(np.float16),
    "long double": lambda X: X.astype(np.longdouble),
    "truth values": lambda X: X > 0,
    "truth values and numbers": lambda X: [[True, 1.5, False, 2, np.float16(3)]] * 3,
    "integers of 64 bits": lambda X: np.full((3, D), 2**63 - 1),
    "large integers": lambda X: [[10**30, -(10**30), 0, 1, 2]],
    "large integers and floats": lambda X: [[10**30, 0.5, 0, 1, 2]],
    "decimals": lambda X: [[decimal.Decimal("1.5")] * D],
    "fractions": lambda X: [[fractions.Fraction(3, 2)] * D],
    "objects": lambda X: X.astype(object),
    "matrix": lambda X: X.view(np.matrix),
    "memory map": lambda X: X.view(np.memmap),
    "record array": lambda X: X.view(np.recarray),
    "memory": lambda X: memoryview(np.ascontiguousarray(X)),
    "list of arrays": list,
    "range": lambda X: [range(D)] * 3,
    "a tensor": lambda X: torch.from_numpy(X.copy()),
    "a tensor of columns": lambda X: torch.from_numpy(np.ascontiguousarray(X.T)).T,
    "frame of nullable floats": lambda X: pd.DataFrame(X).astype("Float32"),
    "no mask": lambda X: np.ma.array(X),
    "a mask of nothing": lambda X: np.ma.array(X, mask=np.zeros(X.shape, bool)),
    "one row": lambda X: X[:1],
    "one row apart": lambda X: in_a_record(X, "u1")[:1],
}


def plain(given) -> np.ndarray:
    return np.ascontiguousarray(np.asarray(given).astype(F))


def test_tables_of_numbers(runtime, model):
    for name, make in GOOD.items():
        with case(name):
            given = make(table())
            expected = query(model, plain(given))
            for n_threads in (1, 2):
                assert runtime.outputs(given, n_threads).tobytes() == expected.tobytes()
            assert CompiledSketch(model).outputs(given).tobytes() == expected.tobytes()


def test_rows_of_numbers(runtime, model):
    for name in [name for name in GOOD if name not in ("matrix", "memory")]:  # their rows are tables
        with case(name):
            given = GOOD[name](table())[:3]
            rows = [given.iloc[i] for i in range(3)] if isinstance(given, pd.DataFrame) else given
            for row, wanted in zip(rows, query(model, plain(given)), strict=True):
                found = runtime.output_of(row)
                assert isinstance(found, float if model.n_outputs == 1 else np.ndarray)
                np.testing.assert_array_equal(found, wanted[0] if model.n_outputs == 1 else wanted)


#: What is no table of numbers, or holds numbers that float32 does not.
BAD = {
    "far beyond float64": lambda: [[10**400, 1, 2, 3, 4]],
    "far beyond float64 among floats": lambda: [[1.5, 10**400, 2, 3, 4]],
    "far beyond float64 in objects": lambda: np.array([[10**400, 1, 2, 3, 4]], object),
    "beyond float32": lambda: [[1e39, 1, 2, 3, 4]],
    "beyond float64": lambda: np.full((2, D), np.longdouble("1e4000")),
    "integer beyond float32": lambda: [[10**39, 1, 2, 3, 4]],
    "None among numbers": lambda: [[None, 1, 2, 3, 4]],
    "None among objects": lambda: [[None, True, 2, 3, 10**30]],
    "not available": lambda: pd.DataFrame([[pd.NA, 1, 2, 3, 4]]),
    "0-d": lambda: np.array(1.5, F),
    "None": lambda: None,
    "1-d": lambda: np.ones(D, F),
    "3-d": lambda: np.ones((2, 3, D), F),
    "3-d of one row": lambda: np.ones((1, 1, D), F),
    "ragged": lambda: [[1.0] * D, [1.0]],
    "ragged deeper": lambda: [[[1.0], 1.0, 1.0, 1.0, 1.0]],
    "empty": lambda: [],
    "empty rows": lambda: [[], []],
    "text": lambda: [["a"] * D],
    "a text": lambda: "abc",
    "bytes": lambda: [[b"a"] * D],
    "text and numbers": lambda: [["a", 1, 2, 3, 4]],
    "a mapping": lambda: {"a": 1},
    "a set": lambda: {1, 2},
    "a generator": lambda: ([1.0] * D for _ in range(2)),
    "a function": lambda: table,
    "ellipsis": lambda: ...,
    "dates": lambda: [[datetime.datetime(2020, 1, 1)] * D],
    "NumPy's dates": lambda: np.zeros((2, D), "M8[D]"),
    "time spans": lambda: np.zeros((2, D), "m8[s]"),
    "complex": lambda: [[1j] * D],
    "complex objects": lambda: np.full((2, D), 1j, object),
    "records": lambda: np.zeros(3, [("a", F), ("b", F)]),
    "a table of records": lambda: np.zeros((3, D), [("a", F), ("b", "u1")]),
    "void": lambda: np.zeros((3, D), "V4"),
    "a tensor with its gradient": lambda: torch.ones((2, D), requires_grad=True),
    "a tensor of bfloat16": lambda: torch.ones((2, D), dtype=torch.bfloat16),
    "an object that refuses": Refusing,
    "a frame that refuses": Columns,
    "too narrow, backwards": lambda: table()[::-1, 1:],
    "too wide, in a record": lambda: in_a_record(np.ones((3, D + 1), F), "u1"),
}


def test_what_is_no_table(runtime, model):
    for name, make in BAD.items():
        for call in (runtime.outputs, CompiledSketch(model).outputs, CompiledSketch(model).predict):
            with case(name, call), pytest.raises(InputError, match=r"X|Complex"):
                call(make())


def test_what_is_no_row(runtime, model):
    for name in [name for name in BAD if name != "1-d"]:  # that one is a row
        with case(name), pytest.raises(InputError, match=r"row|X|Complex"):
            runtime.output_of(BAD[name]())


#: Tables above whose first row is as bad as they are.
BAD_ROWS = [
    "far beyond float64", "far beyond float64 among floats", "far beyond float64 in objects", "beyond float32",
    "beyond float64", "integer beyond float32", "None among numbers", "None among objects", "3-d", "ragged deeper",
    "text", "bytes", "text and numbers",
    "dates", "NumPy's dates", "time spans", "complex", "complex objects", "records",
    "a table of records", "void", "a tensor with its gradient", "a tensor of bfloat16", "too narrow, backwards",
    "too wide, in a record",
]  # fmt: skip


def test_a_row_of_what_is_no_table(runtime):
    for name in BAD_ROWS:
        with case(name), pytest.raises(InputError, match=r"row|X|Complex"):
            runtime.output_of(BAD[name]()[0])


# -- masks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [F, np.float64, np.int32, np.uint8, bool, object], ids=str)
def test_masked_entries_are_missing(runtime, model, dtype):
    numbers = np.abs(table()).astype(dtype)
    masked = np.ma.array(numbers, mask=np.zeros(numbers.shape, bool))
    masked[66, 3] = np.ma.masked
    masked[2, 1] = np.ma.masked
    with pytest.raises(InputError, match="X holds NaN at row 2, column 1; fill or drop it"):
        runtime.outputs(masked)
    with pytest.raises(InputError, match="X holds NaN at row 2, column 1; fill or drop it"):
        runtime.outputs(list(masked))
    with pytest.raises(InputError, match="X holds NaN at row 0, column 3; fill or drop it"):
        runtime.output_of(masked[66])
    assert masked.data.tobytes() == numbers.tobytes() or dtype is object  # the numbers below are left alone


def test_masked_entries_where_missing_values_are_accepted(monkeypatch):
    model = make_model(1)
    hashes = model.row_groups[0]
    model = Model(
        Inputs(D, scales=np.full(1, 32.0, F), limits=(-127, 127), accepts_missing=True), None, (hashes,), model.offset
    )
    X = table()
    masked = np.ma.array(X, mask=X > 1.0)
    expected = query(model, np.where(X > 1.0, F(np.nan), X))
    assert expected.tobytes() != query(model, X).tobytes()
    for native in (core.native, None):
        monkeypatch.setattr(core, "native", native)
        runtime = runtime_for(model)
        assert runtime.outputs(masked).tobytes() == expected.tobytes()
        assert [runtime.output_of(row) for row in masked] == expected[:, 0].tolist()


def test_masked_text_is_named(runtime):
    with pytest.raises(InputError, match="X holds a masked entry at row 0"):
        runtime.outputs(np.ma.array([["a"] * D], mask=[[True] * D]))


def test_other_numbers_of_threads(runtime):
    words = r"n_threads=.*; allowed is an integer of at least 1"
    for n_threads in (0, -1, 1.0, 2.5, True, "2", None, np.float64(2), [2]):
        for X in (table(), table().astype(np.float64)):
            with case(repr(n_threads)), pytest.raises(InputError, match=words):
                runtime.outputs(X, n_threads)
