"""Good files, and files with one thing wrong in them.

A file is taken apart into its sections, one of them is changed, and all is put together again with checksums that fit,
so that the check under test is reached. ``raw`` changes bytes and repairs nothing.
"""

import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from repsketch import Sketch, lsh
from repsketch.io import FormatError, Status
from repsketch.io.framing import pack, unpack
from repsketch.io.records import MODEL, ROW_GROUP, STAGE, Record, Section
from repsketch.io.row_group_reader import RowGroupReader
from repsketch.io.write import SOFTWARE
from repsketch.lsh import RowHashes
from repsketch.lsh.pool import CodePool, PooledRows
from repsketch.model import Model
from repsketch.model.inputs import Inputs
from repsketch.model.intervals import CONFIDENCES, Intervals
from repsketch.model.numbers import packed_nbytes, round_floats
from repsketch.model.projection import Projection
from repsketch.model.rows import RowGroup
from repsketch.sketch import CompiledSketch, KernelSketch, from_bytes

_native = pytest.importorskip("repsketch._native", reason="the package was installed without its C core")

HEADER_NBYTES, ENTRY_NBYTES = 32, 24
#: Offset and type of the header's fields and of a table entry's.
HEADER = {"version": (4, "H"), "flags": (6, "H"), "length": (8, "I"), "n_sections": (12, "I"), "file_length": (16, "I")}
ENTRY = {name: (4 * i, "I") for i, name in enumerate(["type", "flags", "offset", "length", "crc", "zero"])}
RECORDS: dict[int, Record] = {Section.MODEL: MODEL} | {Section.ROW_GROUP + 8 * i: ROW_GROUP for i in range(4)}
RECORDS |= {Section.STAGE + 4 * i: STAGE for i in range(4)}


def python_status(data: bytes, **options: Any) -> Status:
    """What the Python reader says."""
    try:
        from_bytes(data, use_native=False, **options)
    except FormatError as error:
        return error.status
    return Status.OK


def native_status(data: bytes, **limits: int) -> Status:
    """What the C reader says."""
    return Status(_native.File(data, **limits).status)


# ---- bytes ----


def patched(content: bytes, offset: int, code: str, value: Any) -> bytes:
    """Bytes with one little-endian number, given as its ``struct`` code, written over them; offsets may be negative."""
    new = bytearray(content)
    struct.pack_into("<" + code, new, offset, value)
    return bytes(new)


raw = patched  # the same for a complete file: its checksums stay as they were


def sections_of(data: bytes) -> dict[int, bytes]:
    """The contents of a good file by type."""
    return {kind: bytes(content) for kind, content in unpack(memoryview(data)).items()}


def repaired(data: bytes) -> bytes:
    """The file with the header's checksum as it should be."""
    length = HEADER_NBYTES + ENTRY_NBYTES * struct.unpack_from("<I", data, 12)[0]
    return patched(data, 20, "I", zlib.crc32(patched(data[:length], 20, "I", 0)))


# ---- complete files ----


def with_sections(data: bytes, changes: Mapping[int, bytes | None]) -> bytes:
    """The file with other contents in some sections; None takes a section out."""
    merged = sections_of(data) | changes
    return pack({kind: content for kind, content in merged.items() if content is not None}, SOFTWARE)


def with_bytes(data: bytes, kind: int, offset: int, code: str, value: Any) -> bytes:
    """The file with one number in one section changed."""
    return with_sections(data, {kind: patched(sections_of(data)[kind], offset, code, value)})


def with_content(data: bytes, kind: int, change: Callable[[bytes], bytes]) -> bytes:
    """The file with one section passed through ``change``."""
    return with_sections(data, {kind: change(sections_of(data)[kind])})


def with_fields(data: bytes, kind: int, **fields: Any) -> bytes:
    """The file with other values in fields of a record, MODEL or a ROW_GROUP."""
    content = sections_of(data)[kind]
    values = vars(RECORDS[kind].unpack(memoryview(content)))
    assert fields.keys() <= values.keys()
    return with_sections(data, {kind: RECORDS[kind].pack(**(values | fields))})


def field_of(data: bytes, kind: int, name: str) -> Any:
    """A field of a record."""
    return getattr(RECORDS[kind].unpack(memoryview(sections_of(data)[kind])), name)


def with_header(data: bytes, **fields: int) -> bytes:
    """The file with other values in its header, and a checksum that fits."""
    for name, value in fields.items():
        data = patched(data, *HEADER[name], value)
    # A header that says it is longer than the file has no checksum to repair.
    n_sections = struct.unpack_from("<I", data, 12)[0]
    return repaired(data) if HEADER_NBYTES + ENTRY_NBYTES * n_sections <= len(data) else data


def with_entry(data: bytes, index: int, **fields: int) -> bytes:
    """The file with other values in entry ``index`` of the table (-1: the last), and a checksum that fits."""
    index %= struct.unpack_from("<I", data, 12)[0]
    for name, value in fields.items():
        offset, code = ENTRY[name]
        data = patched(data, HEADER_NBYTES + ENTRY_NBYTES * index + offset, code, value)
    return repaired(data)


def entry_of(data: bytes, index: int, name: str) -> int:
    """A field of entry ``index`` (from 0) of the table of sections."""
    offset, code = ENTRY[name]
    return struct.unpack_from("<" + code, data, HEADER_NBYTES + ENTRY_NBYTES * index + offset)[0]


# ---- good files ----


def integer_model() -> Model:
    """The int precision with nearly every kind of section: three groups, pools of all kinds, both decode matrices."""
    rng = np.random.default_rng(1)
    d, columns, kinds = 12, np.array([0, 1, 3, 4, 6, 7, 9, 11]), np.array([0, 1, 0, 3, 0, 0, 1, 0])
    inputs = Inputs(
        d,
        columns,
        kinds,
        round_floats(rng.normal(size=5), "bfloat16"),
        round_floats(np.exp(rng.normal(3, 0.5, 5)), "bfloat16"),
        "bfloat16",
        (-127, 127),
        accepts_missing=True,
    )
    p, n_outputs = 6, 3
    projection = Projection(
        "int8",
        p,
        rng.integers(-127, 128, (inputs.n_values, p)).astype(np.int8),
        shift=rng.integers(-5000, 5000, p).astype(np.int32),
        multipliers=rng.integers(1, 300, p).astype(np.int16),
        right_shift=10,
        limit=2000,
    )

    def draw(largest: int, shape: tuple[int, ...], kind: type = np.int8) -> np.ndarray:
        return rng.integers(-largest, largest + 1, shape).astype(kind)

    def gain(n: int) -> np.ndarray:
        return rng.normal(size=n).astype(np.float32)

    own = RowHashes(lsh.L2(1.0), 20, 16, p, 2, seed=7, fold="direct", width_bits=5)
    sparse = CodePool(
        "sparse", 40, inputs.n_values, 9, is_seeded=True, bias_scale=20, width_bits=0, booleans=inputs.booleans
    )
    threshold = CodePool(
        "threshold",
        30,
        p,
        bias_scale=0,
        width_bits=0,
        columns=rng.integers(0, p, 30),
        thresholds=draw(900, (30,), np.int32),
    )
    levels = CodePool("ternary", 9, p, 3, n_levels=8, n_axes=4, bias_scale=0, is_normalised=True, width_bits=6)
    groups = (
        RowGroup(own, draw(127, (20, 16, n_outputs)), gain(3), "int8", aggregate="median_of_means", n_groups=5),
        RowGroup(
            PooledRows(sparse, 30, 3, rng.integers(0, 40, (30, 3))),
            draw(7, (30, 8, 2)),
            gain(1),
            "int4",
            "values",
            shared_decode=draw(127, (2, n_outputs)),
            decode_shift=2,
        ),
        RowGroup(
            PooledRows(threshold, 25, 4, rng.integers(0, 30, (25, 4))),
            draw(900, (25, 16, 1), np.int16),
            gain(1),
            "int16",
            aggregate="sum",
            row_decode=draw(127, (25, n_outputs)),
        ),
        RowGroup(PooledRows(levels, 9, interpolate=True), draw(7, (9, 8, n_outputs)), gain(3), "int4"),
    )
    return Model(
        inputs,
        projection,
        groups,
        gain(n_outputs),
        draw(900, (p, n_outputs), np.int16),
        gain(1),
        "classification",
        np.array(["ash", "birch", "wych elm é"]),
        tuple(f"column {i:02d}" for i in range(d)),
    )


METADATA = {"made by": "tests", "numbers": [1, 2.5, -3e4], "nested": {"deep": {"er": True}}, "text": 'für "é"'}


def integer_file() -> bytes:
    """``integer_model`` with metadata."""
    return CompiledSketch(integer_model()).to_bytes(METADATA)


def short_model() -> Model:
    """``integer_model`` with the short kinds of two arrays: offsets of two bytes, an int4 decode matrix of odd size."""
    model = integer_model()
    decoded = model.row_groups[2]
    assert decoded.row_decode is not None
    groups = (
        *model.row_groups[:2],
        replace(decoded, row_decode=decoded.row_decode // 19, decode_bits=4),
        model.row_groups[3],
    )
    return replace(
        model,
        row_groups=groups,
        offset=round_floats(model.offset, "bfloat16"),
        offset_stored_as="bfloat16",
        classes=None,
    )


def short_file() -> bytes:
    """``short_model`` and nothing beside it."""
    return CompiledSketch(short_model()).to_bytes()


def float_model() -> Model:
    """The float32 precision with what ``integer_model`` lacks: float8, scales of the projection, float thresholds."""
    rng = np.random.default_rng(2)
    d, p, n_outputs = 7, 5, 2
    inputs = Inputs(
        d,
        None,
        None,
        round_floats(rng.normal(size=d), "float8"),
        round_floats(np.exp(rng.normal(0, 0.5, d)), "float8"),
        "float8",
    )
    scales, shift = (rng.normal(size=p).astype(np.float32) for _ in range(2))
    projection = Projection("ternary", p, rng.integers(-1, 2, (d, p)).astype(np.int8), scales, shift)

    def draw(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    threshold = CodePool("threshold", 11, p, columns=rng.integers(0, p, 11), thresholds=draw(11))
    sparse = CodePool("sparse", 12, d, 5, n_axes=3, is_seeded=True, bias_scale=0.01, booleans=inputs.booleans)
    own = RowHashes(lsh.L2(0.5), 6, 8, p, 1, seed=11)
    groups = (
        RowGroup(PooledRows(threshold, 10, 2, rng.integers(0, 11, (10, 2))), draw(10, 4, n_outputs), draw(1)),
        RowGroup(PooledRows(sparse, 4, 3), draw(4, 8, 1), draw(2), source="values", row_decode=draw(4, n_outputs)),
        RowGroup(own, draw(6, 8, 3), draw(1), shared_decode=draw(3, n_outputs)),
    )
    return Model(inputs, projection, groups, draw(n_outputs), draw(p, n_outputs), task="regression")


def intervals_model() -> Model:
    """``float_model`` with intervals: two outputs, three bins, all levels."""
    rng = np.random.default_rng(3)
    borders, quantiles = (np.sort(rng.exponential(size=(2, n))).astype(np.float32) for n in (2, len(CONFIDENCES)))
    scales = np.exp(rng.normal(size=(2, 3))).astype(np.float32)
    return replace(float_model(), intervals=Intervals(120, borders, scales, quantiles))


def intervals_file() -> bytes:
    """``intervals_model`` and nothing beside it."""
    return CompiledSketch(intervals_model()).to_bytes()


def float_file() -> bytes:
    """``float_model`` and nothing beside it."""
    return CompiledSketch(float_model()).to_bytes()


def kernel_sketch(family: Any = None, seed: int = 3, **options: Any) -> KernelSketch:
    """The paper's sketch with sums, a projection, a shift, a linear term and two classes."""
    rng = np.random.default_rng(5)
    family = family or lsh.L2(bandwidth=1.0)
    blank = Sketch.empty(family, 5, 8, 3, 2, n_outputs=1, random_state=seed, **options)
    filled = blank.add(rng.normal(size=(40, 3)) ** 2, rng.normal(size=40), progress=False)
    return replace(
        filled,
        projection=rng.normal(size=(4, 3)).astype(np.float32),
        shift=rng.normal(size=3).astype(np.float32),
        linear=rng.normal(size=(3, 1)).astype(np.float32),
        output_scale=np.array([1.5]),
        output_bias=np.array([0.25]),
        task="classification",
        classes=np.array([10, -3]),
    )


def kernel_file() -> bytes:
    """``kernel_sketch`` with its sums."""
    return kernel_sketch().to_bytes()


def small_model(n_features: int = 3, family: Any = None, width_bits: int | None = None, **options: Any) -> Model:
    """One group of two rows with own codes with two buckets; a file of a few hundred bytes."""
    inputs = Inputs(n_features, limits=None if width_bits is None else (-127, 127))
    hashes = RowHashes(family or lsh.Angular(), 2, 2, n_features, width_bits=width_bits, **options)
    counters = np.array([[[1], [2]], [[3], [-4]]])
    kind = "float32" if width_bits is None else "int8"
    group = RowGroup(hashes, counters.astype(kind), np.ones(1, np.float32), kind)
    return Model(inputs, None, (group,), np.zeros(1, np.float32))


def bare_file(
    sections: Mapping[int, bytes] | None = None, group: Mapping[str, Any] | None = None, **model: Any
) -> bytes:
    """One group of rows written field by field, so that sizes may be anything, with arrays of zeros and gains of 1.

    The smallest there is: one column, one row of two sign bits. ``sections`` are added or replace what is there; the
    digest is that of the fields.
    """
    sizes = ("n_features", "n_columns", "n_values", "n_components", "n_outputs")
    m = dict.fromkeys(MODEL.names, 0) | dict.fromkeys((*sizes, "n_row_groups", "generator"), 1) | model
    sizes = ("n_rows", "n_concat", "n_numbers", "n_groups", "n_gains")
    p = dict.fromkeys(ROW_GROUP.names, 0) | dict.fromkeys((*sizes, "source", "hash", "aggregate"), 1)
    p |= {"counter_type": 2 * m["precision"], "n_buckets": 2, "width": 0.0} | dict(group or {})
    p["n_codes"] = p["n_codes"] or p["n_rows"] * p["n_concat"]
    contents = {Section.MODEL: MODEL.pack(**m), Section.ROW_GROUP: ROW_GROUP.pack(**p), **(sections or {})}
    n_counters = p["n_rows"] * p["n_buckets"] * p["n_numbers"]
    arrays = {
        Section.OFFSET: lambda: bytes(4 * m["n_outputs"]),
        Section.COUNTERS: lambda: bytes(packed_nbytes(n_counters, 32 >> p["counter_type"])),
        Section.GAIN: lambda: np.ones(p["n_gains"], "<f4").tobytes(),
    }
    contents |= {kind: make() for kind, make in arrays.items() if kind not in contents}
    return with_digest(pack(contents, SOFTWARE))


def with_digest(data: bytes) -> bytes:
    """The file with the digest in its first group of rows that the Python reader computes, if it comes that far."""
    found: list[int] = []
    real = RowGroupReader._digest
    with patch.object(RowGroupReader, "_digest", lambda group: found.append(real(group)) or found[-1]):
        status = python_status(data)
    return with_fields(data, Section.ROW_GROUP, digest=found[0]) if status == Status.DIGEST else data
