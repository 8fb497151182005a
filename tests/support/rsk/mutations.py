"""Random changes to good files that know the format: what is left is nearly a good file, with checksums that fit."""

import json
import struct
from collections.abc import Callable

import numpy as np

from repsketch import lsh
from repsketch.io import FormatError, model_to_bytes
from repsketch.io.framing import is_known
from repsketch.io.records import Section
from repsketch.io.strings import encode_categories, encode_classes, encode_strings
from support.models import random_model
from support.rsk.build import (
    ENTRY,
    HEADER,
    HEADER_NBYTES,
    METADATA,
    RECORDS,
    float_file,
    integer_file,
    intervals_file,
    kernel_file,
    kernel_sketch,
    patched,
    repaired,
    sections_of,
    short_file,
    with_entry,
    with_fields,
    with_header,
    with_sections,
)
from support.rsk.stages import STAGES

Rng = np.random.Generator

#: Numbers at the edges of fields, caps and types.
EDGES = [
    0,
    1,
    2,
    3,
    4,
    5,
    15,
    16,
    17,
    18,
    19,
    31,
    32,
    33,
    126,
    127,
    128,
    255,
    256,
    1023,
    1024,
    4096,
    4097,
    32_767,
    32_768,
]
EDGES += [65_535, 65_536, 65_537, 1 << 20, (1 << 20) + 1, 1 << 24, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
#: float32 and float64 bit patterns: zeros, subnormal, one, 2**40 and its neighbour, largest, infinities, NaN.
FLOATS = [0, 1 << 31, 1, 0x3F800000, 0x53800000, 0x53800001, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001]
DOUBLES = [
    0.0,
    -0.0,
    5e-324,
    1e-31,
    1e-30,
    1.0,
    -1.0,
    1e30,
    1.1e30,
    1e308,
    np.inf,
    -np.inf,
    np.nan,
    2.0**-1000,
    2.0**62,
]
JSON_TOKENS = ["{", "}", "[", "]", ",", ":", '"', "\\", "1e308", "1e307", "9e-400", "NaN", "-Infinity", "null", "true"]
JSON_TOKENS += [
    "0",
    "-",
    "01",
    "1.",
    ".5",
    "1e",
    "1e+5",
    "1e123456789",
    '"\\u12"',
    '"\\n"',
    '"a"',
    '"é"',
    "\x00",
    "\x7f",
]
JSON_TOKENS += [
    " ",
    "\n",
    "{}",
    "[[[",
    '{"a":1,"a":2}',
    '{"b":{"c":{"d":[]}}}',
    "0" * 40 + "1",
    "1" * 309,
    "0." + "0" * 400 + "1",
]
JSON_TOKENS += ['"' + "x" * 1024 + '"', '"' + "x" * 1025 + '"', json.dumps(dict.fromkeys(map(str, range(70))))]
TEXTS = [
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xe2\x82\xac",
    b"\0",
    b"\xf0\x9f\x98\x80",
    b"\xe2\x82",
]
LARGEST_BASE = 6_000  # bytes; larger files differ in nothing but the time they take


def bases() -> list[bytes]:
    """Good files to start from: all sections and kinds occur."""
    models = [model_to_bytes(random_model(seed)) for seed in range(70)]
    classes = [np.array([True, False]), np.array([0.5, -1.0]), np.array(["no", "yes, é"]), np.array([3, -4])]
    files = [data for data in models if len(data) < LARGEST_BASE]
    files += [integer_file(), short_file(), float_file(), kernel_file()] * 4 + [STAGES] * 6
    for i, family in enumerate([lsh.L1(1.0), lsh.MinHash(), lsh.Angular(), lsh.L2(2.0, directions="gaussian")]):
        data = kernel_sketch(family, seed=i).to_bytes(METADATA)
        labels = {Section.CLASSES: encode_classes(classes[i]), Section.NAMES: encode_strings(["b", "a", "é", ""])}
        files.append(with_sections(data, labels))
    categories = {Section.CATEGORIES: encode_categories([["", "a", "é"]]), Section.METADATA: None}
    files += [with_sections(integer_file(), categories)] * 4
    return files + [intervals_file()] * 4


def mutated(data: bytes, rng: Rng, others: list[bytes]) -> bytes:
    """The file with one, sometimes two, things changed."""
    for _ in range(int(rng.choice([1, 1, 1, 2]))):
        change = _CHANGES[int(rng.choice(len(_CHANGES), p=_PROBABILITIES))]
        data = change(data, rng, others)
        if not _can_be_taken_apart(data):
            break
    return data


def _can_be_taken_apart(data: bytes) -> bool:
    """The frame is good and the records have their lengths."""
    try:
        contents = sections_of(data)
    except FormatError:
        return False
    return Section.MODEL in contents and all(
        len(content) == RECORDS[kind].nbytes for kind, content in contents.items() if kind in RECORDS
    )


def _kind(data: bytes, rng: Rng, kinds: list[int] | None = None) -> int:
    present = [kind for kind in sections_of(data) if kinds is None or kind in kinds]
    return int(rng.choice(present)) if present else Section.MODEL


def _change_field(data: bytes, rng: Rng, others: list[bytes]) -> bytes:
    kind = _kind(data, rng, list(RECORDS))
    record = RECORDS[kind]
    values = vars(record.unpack(memoryview(sections_of(data)[kind])))
    names = [name for name in record.names if not name.startswith("unused")]
    name = str(rng.choice(names))
    if name == "width":
        return with_fields(data, kind, width=float(rng.choice(DOUBLES)))
    others = [values[other] for other in names if other != "width"]
    options = [*EDGES, values[name] + 1, values[name] - 1, values[name] * 2, values[name] // 2, *others, *others]
    if name == "bias_scale":
        options += FLOATS
    for _ in range(50):  # until one fits the field
        try:
            return with_fields(data, kind, **{name: int(rng.choice(options))})
        except struct.error:
            continue
    return data


def _change_unused(data: bytes, rng: Rng, others: list[bytes]) -> bytes:
    """A byte anywhere in a record, the unused ones too."""
    kind = _kind(data, rng, list(RECORDS))
    content = sections_of(data)[kind]
    return with_sections(data, {kind: patched(content, int(rng.integers(len(content))), "B", int(rng.integers(256)))})


def _change_content(data: bytes, rng: Rng, others: list[bytes]) -> bytes:
    """Any number of an array becomes another one."""
    kind = _kind(data, rng)
    content = sections_of(data)[kind]
    code, values = [
        ("B", [0, 1, 7, 8, 0x80, 0x88, 0xFF]),
        ("H", [0, 1, 0x7F80, 0x7FC0, 0x8000, 0xFFFF]),
        ("I", FLOATS),
    ][int(rng.integers(3))]
    if rng.integers(8) == 0:
        code, values = "d", DOUBLES
    size = struct.calcsize(code)
    if len(content) < size:
        return data
    at = int(rng.choice([0, len(content) - size, int(rng.integers(len(content) - size + 1)) // size * size]))
    value = values[int(rng.integers(len(values)))] if rng.integers(3) else None
    if value is None:
        drawn = rng.bytes(size)
        return with_sections(data, {kind: content[:at] + drawn + content[at + size :]})
    return with_sections(data, {kind: patched(content, at, code, value)})


def _change_length(data: bytes, rng: Rng, others: list[bytes]) -> bytes:
    kind = _kind(data, rng)
    content = sections_of(data)[kind]
    n = int(rng.choice([1, 2, 4, 8, len(content) // 2, len(content)]))
    longer = content + bytes(n) if rng.integers(2) else content + content[:n]
    shorter = content[:-n] or content[:1]
    return with_sections(data, {kind: longer if rng.integers(2) else shorter})


def _remove(data: bytes, rng: Rng, others: list[bytes]) -> bytes:
    kind = _kind(data, rng)
    return data if len(sections_of(data)) == 1 else with_sections(data, {kind: None})


def _add(data: bytes, rng: Rng, others: list[bytes]) -> bytes:
    """A section of another file, or an unknown one."""
    if len(sections_of(data)) >= 32:
        return _remove(data, rng, others)
    if rng.integers(4) == 0:
        kind = int(rng.choice([0, 13, 15, 23, 31, 47, 70, 100, 2**31, 2**32 - 1]))
        assert not is_known(kind)
        return with_sections(data, {kind: rng.bytes(int(rng.integers(1, 20)))})
    other = sections_of(others[int(rng.integers(len(others)))])
    kind = int(rng.choice(list(other)))
    return with_sections(data, {kind: other[kind]})


def _change_frame(data: bytes, rng: Rng, others: list[bytes]) -> bytes:
    n_sections = struct.unpack_from("<I", data, 12)[0]
    if rng.integers(4) == 0:
        name = str(rng.choice(list(HEADER)))
        offset, code = HEADER[name]
        value = struct.unpack_from("<" + code, data, offset)[0]
        options = [*EDGES, value + 8, value - 8, value + 24, value - 24]
        options = [option for option in options if 0 <= option < 1 << 8 * struct.calcsize(code)]
        return with_header(data, **{name: int(rng.choice(options))})
    if rng.integers(8) == 0:
        return repaired(patched(data, int(rng.integers(24, HEADER_NBYTES)), "B", int(rng.integers(256))))
    index, name = int(rng.integers(n_sections)), str(rng.choice(list(ENTRY)))
    value = struct.unpack_from("<I", data, HEADER_NBYTES + 24 * index + ENTRY[name][0])[0]
    options = [*EDGES, value + 1, value - 1, value + 8, value - 8, len(data) - value, 2**32 - value]
    return with_entry(data, index, **{name: int(rng.choice(options)) % 2**32})


def _change_metadata(data: bytes, rng: Rng, others: list[bytes]) -> bytes:
    text = sections_of(data).get(Section.METADATA, json.dumps(METADATA, ensure_ascii=False).encode())
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(text) + 1))
        token = (
            str(rng.choice(JSON_TOKENS)).encode() if rng.integers(6) else bytes(TEXTS[int(rng.integers(len(TEXTS)))])
        )
        text = text[:at] + token + text[at + int(rng.choice([0, 0, 1, len(token)])) :]
    return _with_optional(data, Section.METADATA, text)


def _with_optional(data: bytes, kind: int, content: bytes) -> bytes:
    has_room = kind in sections_of(data) or len(sections_of(data)) < 32
    return with_sections(data, {kind: content}) if has_room else data


def _change_values_of_metadata(data: bytes, rng: Rng, others: list[bytes]) -> bytes:
    """JSON put together from tokens where values belong."""

    def value(depth: int) -> str:
        if depth and rng.integers(3) == 0:
            return "[" + ",".join(value(depth - 1) for _ in range(rng.integers(3))) + "]"
        if depth and rng.integers(2):
            items = (f'"{rng.choice(list("abcé"))}":{value(depth - 1)}' for _ in range(rng.integers(3)))
            return "{" + ",".join(items) + "}"
        return str(rng.choice([*JSON_TOKENS, "1", "-0.5e3", '"x"', "null"]))

    return _with_optional(data, Section.METADATA, f'{{"k": {value(int(rng.integers(6)))}}}'.encode())


def _change_table(data: bytes, rng: Rng, others: list[bytes]) -> bytes:
    """A label, name or category, its end or its place in the order."""
    kind = _kind(data, rng, [Section.CLASSES, Section.NAMES, Section.CATEGORIES])
    if kind == Section.MODEL:
        return _change_content(data, rng, others)
    content = sections_of(data)[kind]
    if len(content) < 8 or rng.integers(3) == 0:
        text, at = TEXTS[int(rng.integers(len(TEXTS)))], int(rng.integers(len(content)))
        changed = content[:at] + text + content[at + len(text) :]
        return with_sections(data, {kind: changed[: len(content)]})
    at = 4 * int(rng.integers(len(content) // 4))
    value = struct.unpack_from("<I", content, at)[0]
    options = [
        *EDGES,
        value + 1,
        value - 1,
        struct.unpack_from("<I", content, 4 * int(rng.integers(len(content) // 4)))[0],
    ]
    return with_sections(data, {kind: patched(content, at, "I", int(rng.choice(options)) % 2**32)})


def _change_sums(data: bytes, rng: Rng, others: list[bytes]) -> bytes:
    content = sections_of(data).get(Section.SUMS, b"")
    n = len(content) // 8
    if n < 6:
        return _change_content(data, rng, others)
    at = 8 * int(rng.choice([0, 1, 2, n - 3, n - 2, n - 1, int(rng.integers(n))]))
    if rng.integers(2):
        changed = patched(content, at, "d", float(rng.choice(DOUBLES)))
    else:
        value = struct.unpack_from("<q", content, at)[0]
        options = [0, 1, -1, 2**62 - 1, 2**62, -(2**62), -(2**63), 2**63 - 1]
        near = [min(value + 1, 2**63 - 1), max(value - 1, -(2**63))]
        changed = patched(content, at, "q", [*options, *near][int(rng.integers(len(options) + 2))])
    return with_sections(data, {Section.SUMS: changed})


def _change_intervals(data: bytes, rng: Rng, others: list[bytes]) -> bytes:
    """A count of a table of intervals, or one of its numbers becomes its neighbour or another."""
    content = sections_of(data).get(Section.INTERVALS, b"")
    if len(content) < 16:
        return _change_content(data, rng, others)
    if rng.integers(3) == 0:
        at, code = [(0, "I"), (4, "H"), (6, "H")][int(rng.integers(3))]
        options = [0, 1, 2, 3, 4, 15, 16, 17, 98, 99, 100, 255, 256, 257, 65_535]
        return with_sections(data, {Section.INTERVALS: patched(content, at, code, int(rng.choice(options)))})
    at = 4 * int(rng.integers(2, len(content) // 4))
    near = struct.unpack_from("<I", content, max(8, at - 4))[0]
    value = [*FLOATS, near, near + 1, max(near, 1) - 1][int(rng.integers(len(FLOATS) + 3))]
    return with_sections(data, {Section.INTERVALS: patched(content, at, "I", value)})


_CHANGES: list[Callable[[bytes, Rng, list[bytes]], bytes]] = [
    _change_field,
    _change_unused,
    _change_content,
    _change_length,
    _remove,
    _add,
    _change_frame,
    _change_metadata,
    _change_values_of_metadata,
    _change_table,
    _change_sums,
    _change_intervals,
]
_WEIGHTS = [10, 1, 6, 2, 1, 1, 3, 2, 2, 3, 2, 2]
_PROBABILITIES = [weight / sum(_WEIGHTS) for weight in _WEIGHTS]
