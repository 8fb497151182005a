"""Cases 69 to 71: what predicting would cost, and magnitudes that outputs could not hold."""

import numpy as np

from repsketch.io import Status
from repsketch.io.packing import pack_bits
from repsketch.io.records import ROW_GROUP_STRIDE, Section
from support.rsk.build import bare_file, with_bytes
from support.rsk.cases import FLOAT, INTEGER, Bad, all_bad, new_cases
from support.rsk.stages import BAD_STAGES, stage_sections, staged_file

CASES, case = new_cases()

MILLION, MANY, CODES = 1 << 20, 65_536, 4_096  # the caps
INT4 = 3
L2 = {"hash": 0, "n_parameters": 1, "width": 1.0, "counter_type": INT4}
GAUSSIAN = L2 | {"directions": 1}
MINHASH = {"hash": 2, "counter_type": INT4}
L1 = L2 | {"hash": 3}
POOL = {"fold": 1, "n_levels": 2, "counter_type": INT4}
TERNARY, SPARSE = POOL | {"hash": 16}, POOL | {"hash": 17, "n_nonzeros": 3}
INDICES, SEEDED, LEVELS, INTERPOLATED = 1, 2, 16, 8
INTEGERS = {"precision": 1, "low": -1, "high": 1}
LARGEST = 3.4028235e38


def wide(n: int) -> dict[str, int]:
    """Fields of a model with n columns, values and coordinates."""
    return dict.fromkeys(("n_features", "n_columns", "n_values", "n_components"), n)


@case("69 more memory than the caller accepts")
def _():
    files = {
        "directions": bare_file(group=L2 | {"n_concat": CODES}, **wide(16_000)),
        "Gaussian directions": bare_file(group=GAUSSIAN | {"n_concat": CODES}, **wide(5_000)),
        "words of MinHash": bare_file(group=MINHASH | {"n_concat": CODES}, **wide(5_000)),
        "cells of L1": bare_file(group=L1 | {"n_concat": CODES}, **wide(2_000)),
        "cells of L1 in int": bare_file(group=L1 | {"n_concat": CODES}, **wide(2_000), **INTEGERS),
        "directions of many rows": bare_file(group=L2 | {"n_rows": MANY}, **wide(200)),
        "sums of many groups": bare_file(
            group={"n_rows": MANY, "n_groups": MANY, "aggregate": 2, "n_numbers": 8, "counter_type": INT4}, n_outputs=8
        ),
        "codes that are not named": bare_file(group=L2 | {"n_rows": MANY, "n_concat": CODES}),
    }
    ternary = TERNARY | {"flags": INDICES, "n_rows": 2_000, "n_codes": 2_000}
    files["ternary pool"] = bare_file({Section.INDICES: pack_bits(np.arange(2_000), 11)}, ternary, **wide(10_000))
    files["zeros of a sparse matrix"] = staged_file(stage_sections(9_000, 9_000, is_sparse=True), 9_000, 9_000)
    one_row = bare_file()
    limits = {"max_memory": 1 << 20}
    return all_bad(Status.MEMORY_CAP, files) | {
        "less than the smallest file takes": Bad(one_row, Status.MEMORY_CAP, limits=limits),
        "both limits": Bad(one_row, Status.MEMORY_CAP, limits={"max_memory": 1, "max_work": 1}),
    }


@case("70 more operations than the caller accepts")
def _():
    mixed = {Section.KINDS: np.array([0, 1] * 15_000, "<u2").tobytes()}
    seeded = SPARSE | {"flags": SEEDED, "n_rows": 4_000}
    medians = {"n_rows": MANY, "n_groups": 8_192, "aggregate": 2, "n_numbers": 4, "counter_type": INT4}
    unlimited = {"max_memory": 2**63}
    files = {
        "hours, where memory does not matter": bare_file(group=L2 | {"n_concat": CODES}, **wide(MILLION)),
        "words of MinHash": bare_file(group=MINHASH | {"n_concat": CODES}, **wide(30_000)),
    }
    bad = {name: Bad(data, Status.WORK_CAP, limits=unlimited) for name, data in files.items()}
    bad["biases over mixed kinds"] = Bad(bare_file(mixed, seeded, kinds=2, **wide(30_000)), Status.WORK_CAP)
    ternary = {Section.PROJECTION: bytes(250_000), Section.PROJECTION_SCALES: np.ones(1_000, "<f4").tobytes()}
    decoded = {"n_rows": 1_000, "decode": 2, "counter_type": INT4}
    for name, data in {
        "medians of many groups": bare_file(group=medians, n_outputs=4),
        "a projection": bare_file(ternary, projection=4, **wide(1_000)),
        "a linear term": bare_file({Section.LINEAR: bytes(4_000_000)}, linear=1, **wide(1_000_000)),
        "a decode of many rows": bare_file({Section.DECODE: bytes(4_000_000)}, decoded, n_outputs=1_000),
    }.items():
        bad[name] = Bad(data, Status.WORK_CAP, limits={"max_work": 999_999, "max_memory": 2**63})
    sparse = staged_file(stage_sections(1_000, 1_000, is_sparse=True), 1_000, 1_000)
    bad["a stage"] = Bad(sparse, Status.WORK_CAP, limits={"max_work": 999_999})
    bad["one operation"] = Bad(bare_file(), Status.WORK_CAP, limits={"max_work": 1})
    return bad


@case("71 magnitudes from which an output could be infinite")
def _():
    group = [Section.COUNTERS + ROW_GROUP_STRIDE * i for i in range(3)]
    files = {f"a counter of group {i}": with_bytes(FLOAT, kind, 0, "f", -LARGEST) for i, kind in enumerate(group)}
    files |= {f"a gain of group {i}": with_bytes(FLOAT, Section.GAIN + 8 * i, 0, "f", LARGEST) for i in range(3)}
    files["a decode matrix of rows"] = with_bytes(FLOAT, Section.DECODE + 8, -4, "f", LARGEST)
    files["a shared decode matrix"] = with_bytes(FLOAT, Section.DECODE + 16, 0, "f", -LARGEST)
    files["an offset"] = with_bytes(FLOAT, Section.OFFSET, -4, "f", LARGEST)
    files["an offset just above"] = bare_file({Section.OFFSET: np.float32(2.0**126 * 1.0000002).tobytes()})
    files["an offset in int"] = with_bytes(INTEGER, Section.OFFSET, 0, "f", -LARGEST)
    files |= {f"a gain of group {i} in int": with_bytes(INTEGER, Section.GAIN + 8 * i, 0, "f", 1e36) for i in range(4)}
    files["a gain of the linear term in int"] = with_bytes(INTEGER, Section.LINEAR_GAIN, 0, "f", 1e36)
    # Rows that add up, and a difference of two levels.
    counters = {Section.COUNTERS: np.full(2, 2.0**125, "<f4").tobytes()}
    files["a sum of rows"] = bare_file({Section.COUNTERS: np.full(6, 2.0**125, "<f4").tobytes()}, {"n_rows": 3})
    between = POOL | {"hash": 16, "flags": LEVELS | INTERPOLATED, "counter_type": 0}
    files["the difference of two levels"] = bare_file(counters, between)
    several = {Section.LINEAR: np.full(MANY, 2.0**40, "<f4").tobytes(), Section.OFFSET: np.float32(2.0**126).tobytes()}
    files["offset and linear term together"] = bare_file(several, {"hash": 2}, linear=1, **wide(MANY))
    return all_bad(Status.MAGNITUDE, files | BAD_STAGES[71])
