"""A small file costs little, whatever sizes it declares: memory below its own size and 1 MiB, and 10 ms of CPU time.

The one test of this project that looks at a clock: that a hostile file cannot stall a service belongs to the format's
contract. It counts CPU time, takes the best of a few runs, and most files need a tenth of what is allowed.
"""

import itertools
import time
import tracemalloc
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from repsketch.io import Status
from repsketch.io.packing import pack_bits
from repsketch.io.records import Section
from repsketch.io.strings import encode_classes, encode_strings
from repsketch.model.numbers import packed_nbytes
from support.rsk import build
from support.rsk.build import bare_file
from support.rsk.costly import RAISED
from support.rsk.stages import stage_sections, staged_file

MOST_NBYTES = 1 << 20
MOST_SECONDS = 0.010
RUNS = 5
MILLION, MANY, CODES = 1 << 20, 65_536, 4_096  # the caps
WIDE = dict.fromkeys(("n_features", "n_columns", "n_values", "n_components"), MILLION)
INTEGER = {"precision": 1, "low": -1, "high": 1}
INT4 = 3
#: Groups of rows with own codes: hash, directions, hash parameters.
FAMILIES = {
    "L2": {"hash": 0, "n_parameters": 1, "width": 1.0},
    "Gaussian L2": {"hash": 0, "directions": 1, "n_parameters": 1, "width": 1.0},
    "angular": {"hash": 1, "directions": 1},
    "MinHash": {"hash": 2},
    "L1": {"hash": 3, "n_parameters": 1, "width": 1.0},
}
#: Pools: hash, non-zeros, bytes of a threshold. Flags: 1 indices, 2 seeded, 16 levels.
POOLS = {"ternary": {"hash": 16}, "sparse": {"hash": 17, "n_nonzeros": 3}}
POOLS = {name: fields | {"fold": 1, "n_levels": 2, "counter_type": INT4} for name, fields in POOLS.items()}


def own_groups() -> dict[str, bytes]:
    """A million columns, and as many codes as there may be, in 320 bytes; as many rows as there may be in 64 KiB."""
    files = {}
    for name, fields in FAMILIES.items():
        for n_rows, n_concat, precision in itertools.product((1, MANY), (1, CODES), (0, 1)):
            group = fields | {"n_rows": n_rows, "n_concat": n_concat, "counter_type": INT4}
            title = f"{name}, {n_rows} rows of {n_concat} codes, {'int' if precision else 'float32'}"
            files[title] = bare_file(group=group, **WIDE, **(INTEGER if precision else {}))
    return files


def pools() -> dict[str, bytes]:
    """Pools over a million values: numbers, booleans, or 17 columns of up to 65,535 categories."""
    files = {}
    categories = np.array([65_535] * 16 + [16], "<u2").tobytes()
    kinds = {"numbers": (WIDE, {}), "booleans": (WIDE | {"kinds": 1}, {})}
    kinds["categories"] = (WIDE | {"kinds": 2, "n_features": 17, "n_columns": 17}, {Section.KINDS: categories})
    for (kind, (model, sections)), (name, fields) in itertools.product(kinds.items(), POOLS.items()):
        for flags, n_codes in itertools.product((0, 2, 16, 18), (1, MANY)):
            has_list = n_codes > 1
            group = fields | {"flags": flags | has_list, "n_codes": n_codes}
            lists = {Section.INDICES: bytes(2)} if has_list else {}
            files[f"{name} pool of {n_codes} over {kind}, flags {flags}"] = bare_file(sections | lists, group, **model)
        group = {"hash": 18, "threshold_nbytes": 4, "fold": 1, "n_levels": 2, "n_codes": 1}
        sections = sections | {Section.CODE_COLUMNS: bytes(3), Section.THRESHOLDS: bytes(4)}
        files[f"threshold pool over {kind}"] = bare_file(sections, group, **model)
    return files


def projections() -> dict[str, bytes]:
    """Matrices of 64 KiB and less."""
    files = {}
    group = POOLS["sparse"]
    for n_values, p in ((1 << 18, 1), (1, 1 << 18), (512, 512)):
        sizes = {
            "n_features": n_values,
            "n_columns": n_values,
            "n_values": n_values,
            "n_components": p,
            "projection": 4,
        }
        matrix = {Section.PROJECTION: np.full(n_values * p // 4, 0x11, "u1").tobytes()}
        files[f"ternary {n_values} x {p}, int"] = bare_file(matrix, group, **sizes, **INTEGER, limit=1)
        if p < MANY:
            matrix[Section.PROJECTION_SCALES] = np.ones(p, "<f4").tobytes()
            files[f"ternary {n_values} x {p}, float32"] = bare_file(matrix, group, **sizes)
    sizes = {"n_features": MANY, "n_columns": MANY, "n_values": MANY}
    files["int8"] = bare_file({Section.PROJECTION: bytes(MANY)}, group, **sizes, **INTEGER, projection=3, limit=1)
    linear = {Section.LINEAR: bytes(60_000), Section.LINEAR_GAIN: np.ones(1, "<f4").tobytes()}
    n = dict.fromkeys(WIDE, 60_000)
    files["linear term"] = bare_file(linear, {"hash": 2}, **n, **INTEGER, linear=3, n_linear_gains=1)
    return files


def stages() -> dict[str, bytes]:
    """Stages of 64 KiB and less: sparse ones of half a million entries, full ones, and two behind each other."""
    files = {}
    for n, p in ((1, 30_000), (30_000, 1), (16, 8_192), (600, 600)):
        zeros = stage_sections(n, p, is_sparse=True)
        files[f"sparse {n} x {p}"] = staged_file(zeros, n, p)
        for bits, byte in ((8, 0x11), (4, 0x11)):
            n_ones = min(n * p, 40_000)
            bitmap = np.packbits(np.arange(n * p) < n_ones, bitorder="little").tobytes()
            full = stage_sections(n, p, is_sparse=True, bits=bits, n_nonzeros=n_ones)
            full[Section.STAGE_MATRIX] = bitmap + bytes([byte]) * (n_ones * bits // 8)
            files[f"sparse {n} x {p}, {n_ones} entries of {bits} bits"] = staged_file(full, n, p)
        if n * p < MANY:
            tables = stage_sections(n, p, bits=4, activation=1, n_levels=4 if p > 5_000 else 16, width_bits=8)
            files[f"dense {n} x {p}"] = staged_file(tables, n, p)
    two = stage_sections(700, 600, is_sparse=True, activation=2) | stage_sections(600, 9, bits=4, index=1)
    files["two stages"] = staged_file(two, 700, 9, n_stages=2)
    linear = stage_sections(1, 60, activation=2, n_gains=1)
    linear[Section.STAGE_LINEAR] = np.ones(1, "<f4").tobytes() + bytes(60 * 1_000)
    numbers = {"hash": 2, "n_numbers": 1_000}
    files["linear term of a stage"] = staged_file(linear, 1, 60, group=numbers, n_outputs=1_000)
    for n, p in itertools.product((1, MILLION), (1, MANY)):
        declared = {kind: content[:64] for kind, content in stage_sections(1, p, is_sparse=True).items()}
        files[f"declared {n} x {p}"] = staged_file(declared, n, p)
    return files


def columns() -> dict[str, bytes]:
    """Lists of columns, kinds and scalers of 64 KiB and less."""
    n, k, half = 24_000, 30_000, 16_000
    used = {"flags": 1, "n_features": MILLION, "n_columns": n, "n_values": n, "n_components": n}
    mixed = {Section.KINDS: np.array([0, 1] * (k // 2), "<u2").tobytes()}
    sizes = dict.fromkeys(WIDE, k)
    float8 = {Section.CENTERS: bytes(k), Section.SCALES: bytes([9]) * k}
    bfloat16 = {Section.CENTERS: bytes(2 * half), Section.SCALES: np.full(half, 0x3F80, "<u2").tobytes()}
    return {
        "columns used": bare_file({Section.COLUMNS: pack_bits(np.arange(n), 20)}, **used),
        "mixed kinds": bare_file(mixed, kinds=2, **sizes),
        "pool over mixed kinds": bare_file(mixed, POOLS["sparse"] | {"flags": 2}, kinds=2, **sizes),
        "float8 scalers": bare_file(float8, **sizes, stored_as=2, n_centers=k, n_scales=k),
        "bfloat16 scalers": bare_file(
            bfloat16, **dict.fromkeys(WIDE, half), stored_as=1, n_centers=half, n_scales=half
        ),
    }


def counters() -> dict[str, bytes]:
    """Counters of 64 KiB in every shape, with each kind of decode matrix."""
    files = {}
    for n_rows, n_buckets, q in ((MANY, 2, 1), (2, MANY, 1), (16, 2, CODES), (1, 2, 12_000)):
        shape = {"n_rows": n_rows, "n_buckets": n_buckets, "n_numbers": q, "counter_type": INT4}
        title = f"{n_rows} x {n_buckets} x {q}"
        for precision, model in {"int": INTEGER, "float32": {}}.items():
            files[f"counters, {title}, {precision}"] = bare_file(group=shape, **model, n_outputs=q)
            decode = {Section.DECODE: bytes(q * (1 if model else 4))}
            files[f"shared decode, {title}, {precision}"] = bare_file(decode, shape | {"decode": 1}, **model)
    rows = {"n_rows": MANY, "decode": 2, "counter_type": INT4}
    files["decode of rows"] = bare_file({Section.DECODE: bytes(MANY)}, rows, **INTEGER)
    pairs = POOLS["ternary"] | {"flags": 1, "n_rows": MANY, "n_concat": 2, "n_codes": 2, "n_buckets": 4}
    files["indices"] = bare_file({Section.INDICES: bytes(packed_nbytes(2 * MANY, 1))}, pairs)
    return files


def texts() -> dict[str, bytes]:
    """Names, labels and metadata, many and odd ones."""
    n = 3_000
    short = [f"{i:x}" for i in range(n)]
    model = {"n_outputs": n, "n_classes": n, "task": 1}
    group = {"n_numbers": n, "counter_type": INT4}
    labels = {"integers": np.arange(n), "floats": np.arange(n) / 2, "texts": np.array(short)}
    labels["one long text"] = np.array([*short[:-1], "x" * 1024])
    files = {f"labels, {name}": bare_file({Section.CLASSES: encode_classes(array)}, group, **model)
             for name, array in labels.items()}  # fmt: skip
    files["names"] = bare_file({Section.NAMES: encode_strings(short)}, **dict.fromkeys(WIDE, n))
    units = [
        "0,",
        "[],",
        "{},",
        '{"":0},',
        "1e1,",
        "1e307,",
        "[[0]],",
        '"",',
        '"\\n",',
        '[["\\n"]],',
        "[[1e307]],",
        " ",
    ]
    for unit in units:
        repeated = unit * (32_700 // len(unit))
        for name, end in {"good": "0]}", "bad": "x"}.items():
            files[f"metadata, {unit} {name}"] = bare_file({Section.METADATA: ('{"a":[' + repeated + end).encode()})
    long = {"string": '{"a":"' + "x" * 32_000, "escapes": '{"a":"' + "\\n" * 16_000, "digits": '{"a":0.' + "0" * 32_000}
    long |= {"brackets": '{"a":' + "[" * 32_000, "objects": '{"a":' * 6_000, "spaces": " " * 32_768}
    return files | {f"metadata, {name}": bare_file({Section.METADATA: text.encode()}) for name, text in long.items()}


def intervals() -> dict[str, bytes]:
    """Tables of many outputs, and of many bins; the last number of some of them is wrong."""
    files = {}
    for n, n_bins in ((2_000, 1), (300, 64), (1, 256)):
        head = np.array([99, 16 | n_bins << 16], "<u4").tobytes()
        borders = np.tile(np.arange(n_bins - 1, dtype="<f4"), n).tobytes()
        widths = np.tile(np.arange(16, dtype="<f4"), n).tobytes()
        table = head + borders + np.ones(n * n_bins, "<f4").tobytes() + widths
        for name, content in {"good": table, "bad": table[:-4] + bytes(4)}.items():
            title = f"intervals of {n} outputs, {n_bins} bins, {name}"
            files[title] = bare_file({Section.INTERVALS: content}, {"n_numbers": n, "counter_type": INT4}, n_outputs=n)
    return files


def declared() -> dict[str, bytes]:
    """All sizes at their caps, in all combinations, and hardly any bytes: most are refused for a section's length."""
    files = {}
    sizes = ("n_rows", "n_concat", "n_buckets", "n_codes", "n_numbers", "n_gains", "n_outputs")
    caps = (MANY, CODES, MANY, MANY, MANY, MANY, MANY)
    small = {Section.OFFSET: bytes(4), Section.COUNTERS: bytes(4), Section.GAIN: bytes(4)}
    kinds = FAMILIES | POOLS
    for choice in itertools.product((False, True), repeat=len(sizes)):
        chosen = {name: cap for name, cap, is_large in zip(sizes, caps, choice, strict=True) if is_large}
        model = {"n_outputs": chosen.pop("n_outputs")} if "n_outputs" in chosen else {}
        name, fields = list(kinds.items())[sum(choice) % len(kinds)]
        for precision in (INTEGER, {}):
            data = bare_file(small, fields | chosen, **model, **precision, **WIDE)
            files[f"{name}, {chosen | model}, {'int' if precision else 'float32'}"] = data
    return files


def python_status(data: bytes) -> Status:
    """What the Python reader says if predicting may cost anything: sizes at their caps are read to the end."""
    return build.python_status(data, **RAISED)


def native_status(data: bytes) -> Status:
    """The same of the C reader."""
    return build.native_status(data, **RAISED)


def peak_nbytes(data: bytes) -> int:
    """Most memory that the Python reader holds at one time, above what was there before."""
    python_status(data)  # what is made once, such as compiled patterns, is not the file's fault
    tracemalloc.start()
    try:
        python_status(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def best_seconds(read: Callable[[bytes], Status], data: bytes) -> float:
    """CPU time of one reading, the best of a few: other programs make it longer, nothing makes it shorter."""
    best = float("inf")
    for _ in range(RUNS):
        start = time.process_time()
        read(data)
        best = min(best, time.process_time() - start)
        if best < MOST_SECONDS:
            break
    return best


MAKERS = (own_groups, pools, projections, stages, columns, counters, texts, intervals, declared)


@cache
def costs(make: Callable[[], dict[str, bytes]]) -> list[tuple[str, Status, bool, float]]:
    """Of each file its name, status, whether it takes too much memory, and the seconds of the slower reader."""
    found = []
    for name, data in make().items():
        assert len(data) < 4 * MANY
        status = python_status(data)
        assert status == native_status(data), name
        allowed = len(data) + MOST_NBYTES
        if "over categories" in name:
            allowed += MILLION  # seeded bits need to know of each value whether it is boolean
        seconds = max(best_seconds(python_status, data), best_seconds(native_status, data))
        found.append((name, status, peak_nbytes(data) > allowed, seconds))
    return found


@pytest.mark.parametrize("make", MAKERS)
def test_refusing_a_small_file_takes_little_memory(make):
    assert not [name for name, status, is_large, _ in costs(make) if is_large and status != Status.OK]


@pytest.mark.parametrize("make", MAKERS)
def test_reading_a_small_file_takes_little_memory(make):
    assert not [name for name, status, is_large, _ in costs(make) if is_large and status == Status.OK]


@pytest.mark.parametrize("make", MAKERS)
def test_a_small_file_takes_little_time(make):
    assert not {name: seconds for name, _, _, seconds in costs(make) if seconds > MOST_SECONDS}


def test_the_measure_of_memory_sees_an_array():
    """A reader that unpacked what a file only declares would be caught."""
    tracemalloc.start()
    np.zeros(MILLION)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak > 8 * MILLION
