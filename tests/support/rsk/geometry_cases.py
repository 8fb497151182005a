"""Cases 29 to 40: sizes, types, shifts and scales, and sums that would overflow."""

import numpy as np

from repsketch import lsh
from repsketch.io import Status, model_to_bytes
from repsketch.io.records import Section
from repsketch.lsh import RowHashes
from repsketch.lsh.pool import CodePool, PooledRows
from repsketch.model.inputs import Inputs
from repsketch.model.model import Model
from repsketch.model.rows import RowGroup
from support.rsk.build import (
    field_of,
    patched,
    sections_of,
    small_model,
    with_bytes,
    with_content,
    with_fields,
    with_sections,
)
from support.rsk.cases import FLOAT, INTEGER, INTERVALS, KERNEL, SHORT, Bad, all_bad, new_cases
from support.rsk.stages import BAD_STAGES, STAGES

CASES, case = new_cases()

MODEL, ROW_GROUP = Section.MODEL, Section.ROW_GROUP
OWN, SPARSE, THRESHOLD, LEVELS = (ROW_GROUP + 8 * i for i in range(4))  # the groups of rows of INTEGER
LARGEST = 2**32 - 1
COUNTS = {"levels": 4, "bins": 6}  # where they lie in INTERVALS
NAN, INF = float("nan"), float("inf")


def with_model(**fields: int) -> bytes:
    return with_fields(INTEGER, MODEL, **fields)


@case("29 a size of 0")
def _():
    sizes = ("n_row_groups", "n_features", "n_columns", "n_values", "n_components", "n_outputs")
    files = {f"model, {name}": with_model(**{name: 0}) for name in sizes}
    sizes = ("n_rows", "n_concat", "n_buckets", "n_codes", "n_numbers", "n_groups", "n_gains")
    files |= {f"group, {name}": with_fields(INTEGER, SPARSE, **{name: 0}) for name in sizes}
    files["one bucket"] = with_fields(INTEGER, OWN, n_buckets=1)
    files |= {f"intervals, {name}": with_bytes(INTERVALS, Section.INTERVALS, at, "H", 0) for name, at in COUNTS.items()}
    return all_bad(Status.SIZE_ZERO, files | BAD_STAGES[29])


@case("30 a size over its cap")
def _():
    caps = {"n_features": 1 << 20, "n_columns": 1 << 20, "n_values": 1 << 20, "n_components": 1 << 20}
    caps |= {"n_outputs": 65_536, "n_classes": 65_536}
    files = {"5 groups": with_model(n_row_groups=5), "255 groups": with_model(n_row_groups=255)}
    files |= {f"model, {name}={n}": with_model(**{name: n}) for name, cap in caps.items() for n in (cap + 1, LARGEST)}
    caps = dict.fromkeys(("n_rows", "n_buckets", "n_codes", "n_numbers", "n_gains"), 65_536)
    caps |= {"n_concat": 4_096, "n_groups": field_of(INTEGER, SPARSE, "n_rows")}
    for name, cap in caps.items():
        files |= {f"group, {name}={n}": with_fields(INTEGER, SPARSE, **{name: n}) for n in (cap + 1, LARGEST)}
    for (name, at), cap in zip(COUNTS.items(), (16, 256), strict=True):
        for n in (cap + 1, 65_535):
            files[f"intervals, {n} {name}"] = with_bytes(INTERVALS, Section.INTERVALS, at, "H", n)
    return all_bad(Status.SIZE_CAP, files | BAD_STAGES[30])


@case("31 a product wraps 32 or 64 bits")
def _():
    own = model_to_bytes(small_model(width_bits=3))
    counters = {"n_outputs": (1321, 32_513, 100), "none": (65_536, 65_536, 1)}  # 2**32 + 4 and 2**32 bytes
    files = {}
    for name, (n_rows, n_buckets, n_outputs) in counters.items():
        data = with_sections(own, {Section.OFFSET: bytes(4 * n_outputs)})
        sizes = {"n_rows": n_rows, "n_codes": n_rows, "n_buckets": n_buckets, "n_numbers": n_outputs}
        files[f"counters, {name}"] = with_fields(with_fields(data, MODEL, n_outputs=n_outputs), ROW_GROUP, **sizes)
    square = dict.fromkeys(("n_features", "n_columns", "n_values", "n_components"), 32_768)
    files["projection of 2**32 bytes"] = with_fields(KERNEL, MODEL, **square)
    largest = dict.fromkeys(("n_features", "n_columns", "n_values", "n_components"), 1 << 20)
    files["projection of 2**42 bytes"] = with_fields(KERNEL, MODEL, **largest)
    files["codes"] = with_fields(KERNEL, ROW_GROUP, n_rows=65_536, n_concat=4_096, n_codes=1 << 28)
    files["codes that are not their product"] = with_fields(
        KERNEL, ROW_GROUP, n_rows=65_536, n_concat=4_096, n_codes=0xFFFFFFFF
    )
    # Sizes whose product would wrap 64 bits are over their caps.
    wide = with_fields(own, ROW_GROUP, n_rows=1 << 31, n_buckets=1 << 31, n_numbers=4)
    return all_bad(Status.SIZE_MISMATCH, files | BAD_STAGES[31]) | {"64 bits": Bad(wide, Status.SIZE_CAP)}


@case("32 a product differs from its section")
def _():
    files = {}
    for name, data in {"int": INTEGER, "float32": FLOAT, "paper": KERNEL, "stages": STAGES}.items():
        for kind, content in sections_of(data).items():
            if kind < Section.CLASSES:
                files[f"{name}, section {kind}, longer"] = with_sections(data, {kind: content + b"\0"})
                files[f"{name}, section {kind}, shorter"] = with_sections(data, {kind: content[:-1]})
    files["sums, longer"] = with_content(KERNEL, Section.SUMS, lambda sums: sums + bytes(8))
    files["sums, shorter"] = with_content(KERNEL, Section.SUMS, lambda sums: sums[:-8])
    files["more columns used than there are"] = with_model(n_columns=13)
    files["fewer columns used without a list"] = with_fields(FLOAT, MODEL, n_columns=6)
    files["values that the kinds do not give"] = with_model(n_values=11)
    files["values that are not the columns"] = with_fields(FLOAT, MODEL, n_values=8)
    files["coordinates without a matrix"] = with_fields(model_to_bytes(small_model()), MODEL, n_components=2)
    files["gains of a linear term"] = with_model(n_linear_gains=2)
    files["gains of no linear term"] = with_fields(FLOAT, MODEL, n_linear_gains=1)
    files["codes of own rows"] = with_fields(INTEGER, OWN, n_codes=41)
    files["codes of a pool without a list"] = with_fields(INTEGER, LEVELS, n_codes=10)
    files["numbers a counter"] = with_fields(INTEGER, OWN, n_numbers=2)
    files["numbers a counter, decoded by row"] = with_fields(INTEGER, THRESHOLD, n_numbers=2)
    files["gains"] = with_fields(INTEGER, OWN, n_gains=2)
    names = sections_of(INTEGER)[Section.NAMES]
    files["ends of the names fall"] = with_bytes(INTEGER, Section.NAMES, 4 * 12, "I", 10**6)
    files["bytes after the last name"] = with_sections(INTEGER, {Section.NAMES: names + b"x"})
    for name, ends in {"fall": [2, 1, 3], "end too late": [1, 2, 4], "end too early": [1, 2, 2]}.items():
        content = np.array(ends, "<u4").tobytes() + b"abc"
        changes = {Section.CATEGORIES: content, Section.METADATA: None}
        files[f"ends of categories {name}"] = with_sections(INTEGER, changes)
    content = sections_of(INTERVALS)[Section.INTERVALS]
    for n in (1, 7, 8, len(content) - 4, len(content) - 1):
        files[f"intervals, {n} bytes"] = with_sections(INTERVALS, {Section.INTERVALS: content[:n]})
    files["intervals, longer"] = with_sections(INTERVALS, {Section.INTERVALS: content + bytes(4)})
    for n in (0, 1, 98):  # 99 % takes 99 rows
        files[f"intervals of {n} rows"] = with_bytes(INTERVALS, Section.INTERVALS, 0, "I", n)
    for name, at in COUNTS.items():
        files[f"intervals, fewer {name}"] = with_bytes(INTERVALS, Section.INTERVALS, at, "H", 2)
    return all_bad(Status.SIZE_MISMATCH, files | BAD_STAGES[32])


@case("33 unknown counter type")
def _():
    files = {f"type {n}": with_fields(INTEGER, OWN, counter_type=n) for n in (4, 255)}
    files["float32 among integers"] = with_fields(INTEGER, OWN, counter_type=0)
    return all_bad(Status.COUNTER_TYPE, files)


@case("34 unknown hash or generator")
def _():
    hashes = {f"hash {n}": with_fields(INTEGER, OWN, hash=n) for n in (4, 15, 19, 255)}
    generators = {f"generator {n}": with_model(generator=n) for n in (0, 2, 255)}
    return all_bad(Status.HASH, hashes) | all_bad(Status.GENERATOR, generators)


@case("35 hash-parameter count wrong")
def _():
    files = {f"L2 with {n}": with_fields(INTEGER, OWN, n_parameters=n) for n in (0, 2, 255)}
    files["pool with 1"] = with_fields(INTEGER, SPARSE, n_parameters=1)
    files["angular with 1"] = with_fields(model_to_bytes(small_model()), ROW_GROUP, n_parameters=1)
    return all_bad(Status.PARAMETER_COUNT, files)


@case("36 width 0, negative, NaN, inf, subnormal")
def _():
    l1 = model_to_bytes(small_model(family=lsh.L1(1.0)))
    widths = (0.0, -0.0, -1.0, NAN, INF, -INF, 5e-324, 2.2e-308, 9.9e-31, 1.1e30)
    return all_bad(Status.WIDTH, {f"{name}, {w}": with_fields(data, ROW_GROUP, width=w) for name, data in
                                  {"L2": KERNEL, "L1": l1}.items() for w in widths})  # fmt: skip


@case("37 buckets not a power of the levels")
def _():
    files = {f"direct L2, {n} buckets": with_fields(INTEGER, OWN, n_buckets=n) for n in (15, 17, 32, 65_536)}
    files |= {f"direct L2, {n} levels": with_fields(INTEGER, OWN, n_levels=n) for n in (0, 1, 3, 5, LARGEST)}
    files |= {f"bits, {n} buckets": with_fields(INTEGER, SPARSE, n_buckets=n) for n in (7, 9, 16)}
    files |= {f"bits, {n} levels": with_fields(INTEGER, SPARSE, n_levels=n) for n in (0, 1, 3)}
    files |= {f"levels, {n} buckets": with_fields(INTEGER, LEVELS, n_buckets=n) for n in (7, 9, 64)}
    files["bits, more codes"] = with_fields(INTEGER, SPARSE, n_concat=4_096)
    angular = model_to_bytes(small_model(fold="direct"))
    files["sign bits of three levels"] = with_fields(angular, ROW_GROUP, n_levels=3, n_buckets=3)
    return all_bad(Status.BUCKETS, files)


@case("38 shift outside 0..31")
def _():
    files = {f"right shift {n}": with_model(right_shift=n) for n in (32, 255)}
    files |= {f"limit {n}": with_model(limit=n) for n in (0, 32_768, 65_535)}
    files |= {f"decode shift {n}": with_fields(INTEGER, SPARSE, decode_shift=n) for n in (32, 255)}
    files |= {f"width bits {n}": with_fields(INTEGER, OWN, width_bits=n) for n in (16, 255)}
    files["no width bits for centred levels"] = with_fields(INTEGER, LEVELS, width_bits=0)
    return all_bad(Status.SHIFT, files | BAD_STAGES[38])


@case("39 scale NaN, inf or 0")
def _():
    files = {}
    for name, value in {"NaN": NAN, "inf": INF, "-inf": -INF, "0": 0.0, "-0": -0.0, "2**41": 2.0**41}.items():
        files[f"projection, {name}"] = with_bytes(FLOAT, Section.PROJECTION_SCALES, 4, "f", value)
        if name != "2**41":
            for at in (8 + 4 * 4, 8 + 4 * 9):  # the first and the last, behind two borders for each of two outputs
                files[f"intervals, {name} at {at}"] = with_bytes(INTERVALS, Section.INTERVALS, at, "f", value)
            files[f"linear gain, {name}"] = with_bytes(INTEGER, Section.LINEAR_GAIN, 0, "f", value)
    for group in range(4):
        files[f"gain 0 of group {group}"] = with_bytes(INTEGER, Section.GAIN + 8 * group, -4, "f", 0.0)
    files |= {f"multiplier {n}": with_bytes(INTEGER, Section.MULTIPLIERS, -2, "h", n) for n in (0, -1, -32_768)}
    files |= {f"bias_scale {n}": with_fields(INTEGER, SPARSE, bias_scale=n) for n in (32_768, LARGEST)}
    bits = {"NaN": 0x7FC00000, "inf": 0x7F800000, "-1": 0xBF800000, "above 2**40": 0x53800001}
    files |= {f"bias_scale {name}": with_fields(FLOAT, ROW_GROUP + 8, bias_scale=n) for name, n in bits.items()}
    return all_bad(Status.SCALE, files | BAD_STAGES[39])


def _many_rows(decode: str | None) -> bytes:
    """600 rows of int16 counters: enough that decoded sums may overflow."""
    hashes = RowHashes(lsh.Angular(directions="ternary"), 600, 2, 3, width_bits=0)
    matrix = np.ones((600 if decode == "rows" else 1, 1), np.int8)
    group = RowGroup(
        hashes,
        np.ones((600, 2, 1), np.int16),
        np.ones(1, np.float32),
        "int16",
        shared_decode=matrix if decode == "shared" else None,
        row_decode=matrix if decode == "rows" else None,
    )
    return model_to_bytes(Model(Inputs(3, limits=(-127, 127)), None, (group,), np.zeros(1, np.float32)))


def _interpolated() -> bytes:
    pool = CodePool("ternary", 9, 3, n_levels=4, bias_scale=0, width_bits=4)
    group = RowGroup(
        PooledRows(pool, 9, interpolate=True), np.ones((9, 4, 1), np.int16), np.ones(1, np.float32), "int16"
    )
    return model_to_bytes(Model(Inputs(3, limits=(-127, 127)), None, (group,), np.zeros(1, np.float32)))


def _all(data: bytes, kind: int, code: str, value: int) -> bytes:
    """Every number of a section the same."""
    size = np.dtype(code).itemsize
    return with_content(data, kind, lambda content: np.full(len(content) // size, value, code).tobytes())


@case("40 a sum overflows the accumulator")
def _():
    wide = {"low": -32_767, "high": 32_767}
    gaussian = model_to_bytes(small_model(200, lsh.L2(1.0, directions="gaussian"), 3))
    ternary = model_to_bytes(small_model(70_000, width_bits=3, family=lsh.Angular(directions="ternary")))
    files = {
        "shift": with_bytes(INTEGER, Section.SHIFT, 0, "i", 2**31 - 1),
        "most negative shift": with_bytes(INTEGER, Section.SHIFT, -4, "i", -(2**31)),
        "multiplier": _all(INTEGER, Section.MULTIPLIERS, "<i2", 32_767),
        "linear term": _all(with_model(limit=32_767), Section.LINEAR, "<i2", 32_767),
        "Gaussian code": with_fields(gaussian, MODEL, **wide),
        "ternary code": with_fields(ternary, MODEL, **wide),
        "counters read between": with_fields(
            _all(_interpolated(), Section.COUNTERS, "<i2", -32_767), ROW_GROUP, width_bits=15
        ),
    }
    for decode in ("shared", "rows"):
        full = _all(_many_rows(decode), Section.COUNTERS, "<i2", 32_767)
        files[f"{decode} decode matrix"] = _all(full, Section.DECODE, "i1", -127)
    return all_bad(Status.OVERFLOW, files | BAD_STAGES[40])


@case("73 a field with a value that is not allowed")
def _():
    """Fields that have no case of their own."""
    files = {f"model, {name}={n}": with_model(**{name: n}) for name, n in
             {"precision": 2, "task": 3, "projection": 6, "linear": 4, "stored_as": 3, "kinds": 3,
              "offset_stored_as": 3}.items()}  # fmt: skip
    files["float32, offset_stored_as=2"] = with_fields(FLOAT, MODEL, offset_stored_as=2)
    for name, n in {
        "right_shift": 1,
        "low": 1,
        "high": 1,
        "limit": 1,
        "flags": 12,
        "linear": 2,
        "offset_stored_as": 1,
    }.items():
        files[f"float32, {name}={n}"] = with_fields(FLOAT, MODEL, **{name: n})
    for fields in (
        {"projection": 1},
        {"projection": 2},
        {"n_stages": 1},
        {"linear": 1},
        {"low": 127},
        {"low": -32_768},
    ):
        files[f"int, {fields}"] = with_model(**fields)
    bare = model_to_bytes(small_model(width_bits=3))
    for fields in ({"limit": 5}, {"right_shift": 1}, {"flags": 8}, {"flags": 4}):
        files[f"no projection, {fields}"] = with_fields(bare, MODEL, **fields)
    files["shift alone without a shift"] = with_fields(KERNEL, MODEL, projection=1, flags=0)
    files |= {f"float8 bias {n}": with_fields(FLOAT, MODEL, center_bias=n) for n in (-128, -127, 101, 127)}
    files["float8 bias of bfloat16"] = with_model(scale_bias=1)
    for name, n in {"source": 2, "directions": 2, "fold": 2, "aggregate": 3, "decode": 3, "flags": 1}.items():
        files[f"own group, {name}={n}"] = with_fields(INTEGER, OWN, **{name: n})
    files["values where there is no projection"] = with_fields(bare, ROW_GROUP, source=0)
    files["int4 decode matrix in float32"] = with_fields(FLOAT, ROW_GROUP + 8, decode_stored_as=1)
    files["a decode matrix stored as 2"] = with_fields(SHORT, THRESHOLD, decode_stored_as=2)
    for name, n in {
        "n_axes": 1,
        "n_nonzeros": 1,
        "threshold_nbytes": 1,
        "bias_scale": 1,
        "decode_shift": 1,
        "decode_stored_as": 1,
    }.items():
        files[f"own group, {name}={n}"] = with_fields(INTEGER, OWN, **{name: n})
    for name, n in {
        "directions": 1,
        "fold": 0,
        "n_axes": 41,
        "n_nonzeros": 4,
        "threshold_nbytes": 1,
        "width": 1.0,
    }.items():
        files[f"sparse pool, {name}={n}"] = with_fields(INTEGER, SPARSE, **{name: n})
    files |= {f"sparse pool of bits, flags {n}": with_fields(INTEGER, SPARSE, flags=n) for n in (7, 11)}
    for name, n in {"n_axes": 1, "n_nonzeros": 1, "threshold_nbytes": 4, "flags": 3, "bias_scale": 1}.items():
        files[f"threshold pool, {name}={n}"] = with_fields(INTEGER, THRESHOLD, **{name: n})
    files["levels with a bias_scale"] = with_fields(INTEGER, LEVELS, bias_scale=1)
    files["read between, of two codes"] = with_fields(INTEGER, LEVELS, n_concat=2, n_buckets=64, n_codes=18)
    files["levels in the universal fold"] = with_fields(KERNEL, ROW_GROUP, n_levels=2)
    files["minus 0 for no width"] = with_fields(bare, ROW_GROUP, width=-0.0)
    files["width bits in float32"] = with_fields(KERNEL, ROW_GROUP, width_bits=1)
    files["groups of a mean"] = with_fields(INTEGER, SPARSE, n_groups=2)
    files["a median that is decoded"] = with_fields(INTEGER, THRESHOLD, aggregate=2)
    files["unequal groups"] = with_fields(INTEGER, OWN, n_groups=3)
    files["direct fold of L1"] = with_fields(
        model_to_bytes(small_model(family=lsh.L1(1.0))), ROW_GROUP, fold=1, n_levels=2
    )
    files["kind of the classes"] = with_bytes(INTEGER, Section.CLASSES, 0, "I", 4)
    files["debias"] = with_bytes(KERNEL, Section.SUMS, 8, "I", 2)
    return all_bad(Status.FIELD, files | BAD_STAGES[73])


@case("74 a section that the model does not use")
def _():
    files = {
        f"section {kind}": with_sections(KERNEL, {kind: bytes(8)})
        for kind in (2, 3, 4, 5, 8, 9, 11, 17, 21, 24, 46, 48, 63)
    }
    content = sections_of(INTERVALS)[Section.INTERVALS]
    files["intervals of a classifier"] = with_sections(KERNEL, {Section.INTERVALS: content})
    files["intervals of a classifier, and too short"] = with_sections(KERNEL, {Section.INTERVALS: content[:3]})
    return all_bad(Status.SECTION_UNEXPECTED, files | BAD_STAGES[74])


@case("75 sums that do not belong to the counters")
def _():
    """The additive state must be the one behind the counters, gains and offsets."""
    sums = sections_of(KERNEL)[Section.SUMS]
    files = {}
    for step in (0.0, 3.0 * 2.0**-33, 2.0**-31, -(2.0**-32), 2.0**-1001, 2.0**1001, NAN, INF):
        files[f"step {step}"] = with_bytes(KERNEL, Section.SUMS, 0, "d", step)
    for n in (1, 2**62, -(2**62), 2**63 - 1):
        files[f"sum {n}"] = with_bytes(KERNEL, Section.SUMS, 16, "q", n)
        files[f"total {n}"] = with_bytes(KERNEL, Section.SUMS, len(sums) - 24, "q", n)
    files["scale"] = with_bytes(KERNEL, Section.SUMS, len(sums) - 16, "d", 1.25)
    files["bias"] = with_bytes(KERNEL, Section.SUMS, len(sums) - 8, "d", 0.3)
    files["debias"] = with_bytes(KERNEL, Section.SUMS, 8, "I", 0)
    files["a counter"] = with_bytes(KERNEL, Section.COUNTERS, 0, "f", 0.125)
    zero = int(np.flatnonzero(np.frombuffer(sections_of(KERNEL)[Section.COUNTERS], "<f4") == 0)[0])
    files["minus 0"] = with_bytes(KERNEL, Section.COUNTERS, 4 * zero, "f", -0.0)
    files["in the int precision"] = with_sections(model_to_bytes(small_model(width_bits=3)), {Section.SUMS: sums})
    files["of several groups"] = with_sections(FLOAT, {Section.SUMS: sums})
    scale = {f"scale {x}": patched(sums, len(sums) - 16, "d", x) for x in (NAN, INF)}
    scale |= {f"bias {x}": patched(sums, len(sums) - 8, "d", x) for x in (NAN, -INF)}
    not_finite = {name: with_sections(KERNEL, {Section.SUMS: content}) for name, content in scale.items()}
    return all_bad(Status.SUMS, files) | all_bad(Status.NOT_FINITE, not_finite)
