"""The C reader as compiled here from ``native/``: bad files, bounds at ±1, totals, rows on the edges of buckets."""

import ctypes

import numpy as np
import pytest

from repsketch import lsh
from repsketch.io import Status, model_to_bytes
from repsketch.io.framing import FILE_CAP
from repsketch.io.records import ACCEPTS_MISSING, Section
from repsketch.io.totals import totals_of
from repsketch.lsh import RowHashes
from repsketch.model import Model
from repsketch.model.inputs import Inputs
from repsketch.model.oracle import query
from repsketch.model.projection import Projection
from repsketch.model.rows import LARGEST_INT, RowGroup
from repsketch.sketch import from_bytes
from support.cases import case
from support.compiled import COMPILER, build
from support.models import random_model
from support.rsk import framing_cases, geometry_cases, integrity_cases, total_cases, value_cases
from support.rsk.build import field_of, python_status, small_model, with_content, with_fields
from support.rsk.stage_bounds import stage_bounds

CASES = framing_cases.CASES | geometry_cases.CASES | value_cases.CASES | integrity_cases.CASES | total_cases.CASES

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no gcc on this machine")


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    loaded = ctypes.CDLL(str(build(tmp_path_factory.mktemp("reader"), "-O0")))
    sizes = [ctypes.c_char_p, ctypes.c_size_t]
    loaded.shim_status.argtypes = [*sizes, *[ctypes.c_uint64] * 3]
    loaded.shim_totals.argtypes = [*sizes, np.ctypeslib.ndpointer(np.uint64, shape=(3,))]
    floats = np.ctypeslib.ndpointer(np.float32, flags="C_CONTIGUOUS")
    loaded.shim_predict.argtypes = [*sizes, *[ctypes.c_int] * 3, floats, ctypes.c_size_t, floats]
    return loaded


def status_of(library, data: bytes, max_nbytes: int = FILE_CAP, max_memory: int = 0, max_work: int = 0) -> Status:
    return Status(library.shim_status(data, len(data), max_nbytes, max_memory, max_work))


def test_bad_files(library):
    for title, make in CASES.items():
        for name, bad in make().items():
            assert status_of(library, bad.data, **bad.limits) == bad.status, f"{title}: {name}"


def check_both(library, data: bytes, status: Status) -> None:
    assert (status_of(library, data, max_memory=2**63), python_status(data, max_memory=2**63)) == (status, status)


def test_the_value_of_nan_is_one_below_the_smallest(library):
    """Sums of 65,537 values of at most 32,767 fit 32 bits; those of values one larger do not."""
    assert 65_537 * 32_767 < LARGEST_INT < 65_537 * 32_768
    plain = model_to_bytes(small_model(65_537, width_bits=0, family=lsh.Angular(directions="ternary")))
    plain = with_fields(plain, Section.MODEL, low=-32_767, high=32_767)
    flags = field_of(plain, Section.MODEL, "flags")
    check_both(library, plain, Status.OK)
    check_both(library, with_fields(plain, Section.MODEL, flags=flags | ACCEPTS_MISSING), Status.OVERFLOW)


@pytest.mark.parametrize(("largest", "status"), [(28_301, Status.OK), (28_302, Status.OVERFLOW)])
def test_a_shifted_sum_may_be_one_larger_before_the_decode(library, largest, status):
    assert (599 * 28_182 + 28_302) * 127 <= LARGEST_INT < (599 * 28_182 + 28_302 + 1) * 127
    hashes = RowHashes(lsh.Angular(directions="ternary"), 600, 2, 3, width_bits=0)
    ones, gain = np.ones((600, 2, 1), np.int16), np.ones(1, np.float32)
    group = RowGroup(hashes, ones, gain, "int16", shared_decode=np.full((1, 1), 127, np.int8))
    data = model_to_bytes(Model(Inputs(3, limits=(-127, 127)), None, (group,), np.zeros(1, np.float32)))
    counters = np.full((600, 2), 28_182, "<i2")
    counters[599] = largest
    check_both(library, with_content(data, Section.COUNTERS, lambda _: counters.tobytes()), status)


@pytest.mark.parametrize("component", [0, 63, 64, 69])
@pytest.mark.parametrize(("more", "status"), [(0, Status.OK), (1, Status.OVERFLOW)])
def test_every_component_is_bounded(library, component, more, status):
    matrix, shift = np.zeros((2, 70), np.int8), np.zeros(70, np.int32)
    matrix[:, component] = 127, -127
    hashes = RowHashes(lsh.Angular(directions="ternary"), 1, 2, 70, width_bits=0)
    group = RowGroup(hashes, np.ones((1, 2, 1), np.int8), np.ones(1, np.float32), "int8")
    projection = Projection("int8", 70, matrix, shift=shift, limit=100)
    data = model_to_bytes(Model(Inputs(2, limits=(-127, 127)), projection, (group,), np.zeros(1, np.float32)))
    shift[component] = LARGEST_INT - 2 * 127 * 127 + more
    check_both(library, with_content(data, Section.SHIFT, lambda _: shift.tobytes()), status)


def test_every_sum_of_stages_is_bounded(library):
    for name, (good, bad) in stage_bounds().items():
        with case(name):
            check_both(library, good, Status.OK)
            check_both(library, bad, Status.OVERFLOW)


def test_totals_are_pythons_and_hold(library, monkeypatch):
    found = []

    def listen(*records):
        found.append(totals_of(*records))
        return found[-1]

    monkeypatch.setattr("repsketch.io.read.totals_of", listen)
    for seed in range(60):
        data, totals = model_to_bytes(random_model(seed)), np.zeros(3, np.uint64)
        library.shim_totals(data, len(data), totals)
        from_bytes(data, use_native=False, max_memory=2**63, max_work=2**63)
        memory, work, taken = totals.tolist()
        assert (memory, work) == (found[-1].memory, found[-1].work)
        assert taken <= memory


def test_small_coordinates_of_a_single_row_count(library):
    """A row on the edge of a bucket, and a coordinate of 1e-7 that moves it below."""
    hashes = RowHashes(lsh.L2(1.0), 64, 16, 2, seed=3)
    counters = np.random.default_rng(0).normal(size=(64, 16, 1)).astype(np.float32)
    model = Model(Inputs(2), None, (RowGroup(hashes, counters, np.ones(1, np.float32)),), np.zeros(1, np.float32))
    drawn = hashes.functions.parameters
    directions, offsets = drawn["directions"][:, 0], drawn["offsets"][:, 0]
    rows = np.flatnonzero((directions != 0).all(axis=1))
    assert len(rows) > 3
    edges = np.stack([-offsets[rows] * directions[rows, 0], np.zeros(len(rows))], axis=1).astype(np.float32)
    below = edges + np.stack([np.zeros(len(rows)), -1e-7 * directions[rows, 1]], axis=1).astype(np.float32)
    X = np.concatenate([edges, below])
    wanted = query(model, X)
    assert (wanted[: len(rows)] != wanted[len(rows) :]).any()
    data = model_to_bytes(model)
    for isa in range(4):
        if library.shim_isa_exists(isa):
            outputs = np.zeros_like(wanted)
            assert library.shim_predict(data, len(data), isa, 0, 1, X, len(X), outputs) == 0
            np.testing.assert_array_equal(outputs.view(np.int32), wanted.view(np.int32), f"isa {isa}")
