"""What an accepted file may cost: memory and operations, bounded from its records alone. Rules 69 and 70."""

import numpy as np
import pytest

import repsketch
from repsketch import lsh
from repsketch.errors import InputError
from repsketch.io import FormatError, Status, describe, model_to_bytes
from repsketch.io.totals import MEMORY_CAP, WORK_CAP, Totals, totals_of
from repsketch.lsh import RowHashes
from repsketch.model import Model
from repsketch.model.inputs import Inputs
from repsketch.model.rows import RowGroup
from repsketch.sketch import CompiledSketch, from_bytes
from support.models import random_model
from support.rsk.build import _native as native
from support.rsk.build import bare_file, float_model, kernel_sketch, native_status, python_status
from support.rsk.costly import RAISED, costly_drafts

L2 = {"hash": 0, "n_parameters": 1, "width": 1.0, "counter_type": 3}
GROUPS = {"n_rows": 65_536, "n_groups": 65_536, "aggregate": 2, "n_numbers": 32, "counter_type": 3}
#: What a bound may be beyond what is taken: five times, and 1 MiB of fixed arrays.
LOOSE, FIXED = 5, 1 << 20


def wide(n: int) -> dict[str, int]:
    return dict.fromkeys(("n_features", "n_columns", "n_values", "n_components"), n)


COSTLY = {
    "500 MB of directions from 352 bytes": (352, lambda: bare_file(group=L2 | {"n_concat": 4096}, **wide(16_000))),
    "hours": (352, lambda: bare_file(group=L2 | {"n_concat": 4096}, **wide(1 << 20))),
    "scratch of 512 MB": (3 << 20, lambda: bare_file(group=GROUPS, n_outputs=32)),
}


@pytest.mark.parametrize("name", COSTLY)
def test_a_small_file_that_costs_much_is_refused(name):
    largest, make = COSTLY[name]
    data = make()
    assert len(data) <= largest
    assert (python_status(data), native_status(data)) == (Status.MEMORY_CAP, Status.MEMORY_CAP)
    assert (python_status(data, **RAISED), native_status(data, **RAISED)) == (Status.OK, Status.OK)


def records_of(data: bytes) -> Totals:
    """The totals that the Python reader computes of an accepted file."""
    found = []

    def listen(*records):
        found.append(totals_of(*records))
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("repsketch.io.read.totals_of", listen)
        from_bytes(data, use_native=False, **RAISED)
    return found[0]


def check_bounds(data: bytes) -> None:
    """Both readers compute the same totals, and they hold: every instruction set takes the same memory."""
    memory, work, taken = native.file_totals(data)
    assert Totals(memory, work) == records_of(data)
    assert taken <= memory <= LOOSE * taken + FIXED


def test_totals_bound_what_random_models_take():
    for seed in range(280):
        check_bounds(model_to_bytes(random_model(seed)))


@pytest.mark.slow
def test_totals_bound_what_thousands_of_random_models_take():
    for seed in range(280, 4_000):
        check_bounds(model_to_bytes(random_model(seed, largest=[5, 40, 400][seed % 3])))


def check_costly(seed: int, n: int) -> tuple[int, int]:
    """Largest memory and work of n small files that were grown up to the limits."""
    most_memory = most_work = 0
    for draft in costly_drafts(seed, n):
        data = draft.file()
        assert (python_status(data), native_status(data)) == (Status.OK, Status.OK)
        memory, work, taken = native.file_totals(data)
        assert Totals(memory, work) == totals_of(*draft.records())
        assert taken <= memory <= min(MEMORY_CAP, LOOSE * taken + FIXED)
        assert work <= WORK_CAP
        most_memory, most_work = max(most_memory, taken), max(most_work, work)
    return most_memory, most_work


def test_the_most_expensive_small_files_keep_the_limits():
    check_costly(1, 40)


@pytest.mark.slow
def test_a_thousand_of_the_most_expensive_small_files_keep_the_limits():
    most_memory, most_work = check_costly(2, 1_000)
    # The search comes close to the limits, or it would show nothing.
    assert most_memory > 0.9 * MEMORY_CAP
    assert most_work > 0.5 * WORK_CAP


@pytest.mark.parametrize("sketch", [kernel_sketch(), CompiledSketch(float_model())], ids=["kernel", "compiled"])
def test_the_caller_sets_the_limits(sketch, tmp_path):
    path = tmp_path / "model.rsk"
    sketch.save(path)
    memory, work, _ = native.file_totals(sketch.to_bytes())
    assert type(repsketch.load(path, max_memory=memory, max_work=work)) is type(sketch)
    with pytest.raises(FormatError, match=f"memory up to {memory:,}, max_memory={memory - 1:,}: .*raise max_memory"):
        repsketch.load(path, max_memory=memory - 1)
    assert describe(path, max_memory=memory, max_work=work)["n_outputs"] == sketch.n_outputs
    with pytest.raises(FormatError, match="WORK_CAP"):
        describe(path, max_work=work - 1)
    with pytest.raises(FormatError, match=f"work up to {work:,}, max_work={work - 1:,}: .*raise max_work"):
        repsketch.load(path, max_work=work - 1)


@pytest.mark.parametrize("name", ["max_nbytes", "max_memory", "max_work"])
@pytest.mark.parametrize("limit", [-1, 2**64, "64 MB", 1e9])
def test_a_limit_is_an_integer(name, limit):
    with pytest.raises(InputError, match=f"{name}=.*; allowed is an integer from 0 to"):
        from_bytes(kernel_sketch().to_bytes(), use_native=False, **{name: limit})


def test_a_sketch_made_here_is_not_limited(tmp_path):
    """It predicts; its file is read by who raises the limits, and predicts the same."""
    rng = np.random.default_rng(0)
    hashes = RowHashes(lsh.L2(1.0), 150, 4, 16_000, 4)
    counters, one = rng.normal(size=(150, 4, 1)).astype(np.float32), np.ones(1, np.float32)
    sketch = CompiledSketch(Model(Inputs(16_000), None, (RowGroup(hashes, counters, one),), one))
    X = rng.normal(size=(2, 16_000)).astype(np.float32)
    path = tmp_path / "large.rsk"
    sketch.save(path)
    with pytest.raises(FormatError) as caught:
        repsketch.load(path)
    assert caught.value.status == Status.MEMORY_CAP
    again = repsketch.load(path, max_memory=1 << 30)
    np.testing.assert_array_equal(again.outputs(X), sketch.outputs(X))
