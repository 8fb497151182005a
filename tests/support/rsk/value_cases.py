"""Cases 41 to 51: numbers in arrays, labels, names, scalers and digests."""

import struct

import numpy as np

from repsketch.io import Status
from repsketch.io.packing import pack_bits, unpack_bits
from repsketch.io.records import Section
from repsketch.io.strings import encode_classes, encode_strings
from repsketch.model.numbers import index_bits
from support.rsk.build import field_of, sections_of, with_bytes, with_content, with_fields, with_sections
from support.rsk.cases import FLOAT, INTEGER, INTERVALS, KERNEL, SHORT, all_bad, new_cases
from support.rsk.stages import BAD_STAGES

CASES, case = new_cases()

N_CLASSES, N_FEATURES = 3, 12  # of INTEGER
BORDERS, SCALES, QUANTILES = 8, 24, 48  # where they begin in INTERVALS, of two outputs and three bins
NOT_FINITE = {"NaN": float("nan"), "inf": float("inf"), "-inf": -float("inf")}


@case("41 NaN or inf in counters or projection")
def _():
    places = {
        "counters": (FLOAT, Section.COUNTERS),
        "counters of the last group": (FLOAT, Section.COUNTERS + 16),
        "thresholds": (FLOAT, Section.THRESHOLDS),
        "decode matrix": (FLOAT, Section.DECODE + 8),
        "gain": (FLOAT, Section.GAIN + 8),
        "offset": (FLOAT, Section.OFFSET),
        "offset of integers": (INTEGER, Section.OFFSET),
        "shift": (FLOAT, Section.SHIFT),
        "linear term": (FLOAT, Section.LINEAR),
        "projection": (KERNEL, Section.PROJECTION),
    }
    files = {}
    for name, (data, kind) in places.items():
        for value, number in NOT_FINITE.items():
            for where, at in {"first": 0, "last": -4}.items():
                files[f"{name}, {value} {where}"] = with_bytes(data, kind, at, "f", number)
    for value, half in {"NaN": 0x7FC0, "inf": 0x7F80, "-inf": 0xFF80}.items():
        for where, at in {"first": 0, "last": -2}.items():
            files[f"offset of two bytes, {value} {where}"] = with_bytes(SHORT, Section.OFFSET, at, "H", half)
    for name in ("shift", "linear term", "projection"):
        data, kind = places[name]
        files[f"{name} beyond 2**40"] = with_bytes(data, kind, 0, "f", -(2.0**40) * 1.001)
    floats = with_sections(INTEGER, {Section.CLASSES: encode_classes(np.array([0.5, 1.5, 2.5]))})
    for value, number in NOT_FINITE.items():
        files[f"label, {value}"] = with_bytes(floats, Section.CLASSES, -8, "d", number)
        for name, at in {
            "border": BORDERS,
            "last border": SCALES - 4,
            "quantile": QUANTILES,
            "last quantile": -4,
        }.items():
            files[f"{name} of intervals, {value}"] = with_bytes(INTERVALS, Section.INTERVALS, at, "f", number)
    return all_bad(Status.NOT_FINITE, files)


@case("42 counter outside its quantised range")
def _():
    files = {}
    for where, at in {"first": 0, "last": -1}.items():
        files[f"int8 counters, {where}"] = with_bytes(INTEGER, Section.COUNTERS, at, "b", -128)
        files[f"decode matrix, {where}"] = with_bytes(INTEGER, Section.DECODE + 8, at, "b", -128)
        files[f"projection, {where}"] = with_bytes(INTEGER, Section.PROJECTION, at, "b", -128)
        files[f"int16 counters, {where}"] = with_bytes(INTEGER, Section.COUNTERS + 16, 2 * at, "h", -32_768)
        files[f"thresholds, {where}"] = with_bytes(INTEGER, Section.THRESHOLDS + 16, 2 * at, "h", -32_768)
        files[f"linear term, {where}"] = with_bytes(INTEGER, Section.LINEAR, 2 * at, "h", -32_768)
    files |= {
        f"int4 counters, {byte:#x}": with_bytes(INTEGER, Section.COUNTERS + 24, 5, "B", byte) for byte in (0x08, 0x80)
    }
    files |= {
        f"int4 decode matrix, {byte:#x}": with_bytes(SHORT, Section.DECODE + 16, 5, "B", byte) for byte in (0x08, 0x80)
    }
    files |= {
        f"ternary projection, {byte:#x}": with_bytes(FLOAT, Section.PROJECTION, 3, "B", byte) for byte in (2, 0x80)
    }
    return all_bad(Status.COUNTER_RANGE, files | BAD_STAGES[42])


def _with_index(data: bytes, kind: int, n: int, limit: int, place: int, value: int) -> bytes:
    """The file with one packed index changed."""
    bits = index_bits(limit)

    def change(content: bytes) -> bytes:
        numbers = unpack_bits(memoryview(content), n, bits)
        numbers[place] = value
        return pack_bits(numbers, bits)

    return with_content(data, kind, change)


@case("43 index beyond what it counts")
def _():
    files = {}
    for place in (0, 5, -1):
        files[f"columns, {place}"] = _with_index(INTEGER, Section.COLUMNS, 8, N_FEATURES, place, N_FEATURES)
        files[f"indices of codes, {place}"] = _with_index(INTEGER, Section.INDICES + 8, 90, 40, place, 40)
        files[f"columns of codes, {place}"] = _with_index(INTEGER, Section.CODE_COLUMNS + 16, 30, 6, place, 7)
        files[f"indices in float32, {place}"] = _with_index(FLOAT, Section.INDICES, 20, 11, place, 15)
    for n in (N_FEATURES, 2**32 - 1):
        files[f"order of names, {n}"] = with_bytes(INTEGER, Section.NAMES, 0, "I", n)
        files[f"order of labels, {n}"] = with_bytes(INTEGER, Section.CLASSES, 8, "I", n)
        files[f"order of numbers, {n}"] = with_bytes(KERNEL, Section.CLASSES, 12, "I", n)
    return all_bad(Status.INDEX_RANGE, files)


@case("44 indices not increasing")
def _():
    columns = unpack_bits(memoryview(sections_of(INTEGER)[Section.COLUMNS]), 8, 4)
    files = {"a column twice": _with_index(INTEGER, Section.COLUMNS, 8, N_FEATURES, 1, int(columns[0]))}
    files["a column too late"] = _with_index(INTEGER, Section.COLUMNS, 8, N_FEATURES, -1, int(columns[-1]) - 3)
    names = sections_of(INTEGER)[Section.NAMES]
    files["names"] = with_sections(INTEGER, {Section.NAMES: names[4:8] + names[:4] + names[8:]})
    labels = sections_of(INTEGER)[Section.CLASSES]
    files["labels"] = with_sections(INTEGER, {Section.CLASSES: labels[:8] + labels[12:16] + labels[8:12] + labels[16:]})
    numbers = sections_of(KERNEL)[Section.CLASSES]
    swapped = numbers[:8] + numbers[12:16] + numbers[8:12] + numbers[16:]
    files["numbers as labels"] = with_sections(KERNEL, {Section.CLASSES: swapped})
    files["categories"] = _categories([b"a", b"c", b"b"])
    files["categories, the longer first"] = _categories([b"a", b"ab", b""])
    content = sections_of(INTERVALS)[Section.INTERVALS]
    first = struct.unpack_from("<f", content, BORDERS)[0]
    places = {"the same border twice": (BORDERS + 4, first), "a falling border": (SCALES - 4, -1.0)}
    places |= {"a quantile below 0": (QUANTILES + 4 * 16, -1e-30), "a falling quantile": (-4, 0.0)}
    places["a quantile above the next"] = (QUANTILES, 1e30)
    for name, (at, value) in places.items():
        files[f"intervals, {name}"] = with_bytes(INTERVALS, Section.INTERVALS, at, "f", value)
    return all_bad(Status.INDEX_ORDER, files)


@case("45 class count wrong")
def _():
    files = {f"{n} classes": with_fields(INTEGER, Section.MODEL, n_classes=n) for n in (0, 1, 2, 4, 65_536)}
    files["one class of one output"] = with_fields(KERNEL, Section.MODEL, n_classes=1)
    files["classes of a regression"] = with_fields(INTEGER, Section.MODEL, task=2)
    files["no section"] = with_sections(INTEGER, {Section.CLASSES: None})
    short = {f"{n} bytes": content[:n] for content in [sections_of(INTEGER)[Section.CLASSES]] for n in (1, 7, 8, 31)}
    files |= {f"text, {name}": with_sections(INTEGER, {Section.CLASSES: content}) for name, content in short.items()}
    numbers = sections_of(KERNEL)[Section.CLASSES]
    for name, content in {"shorter": numbers[:-1], "longer": numbers + bytes(8), "a head": numbers[:8]}.items():
        files[f"numbers, {name}"] = with_sections(KERNEL, {Section.CLASSES: content})
    return all_bad(Status.CLASS_COUNT, files)


def _text(labels: list[bytes], order: list[int]) -> bytes:
    """A table of text whose strings and order may be wrong."""
    ends = np.cumsum([len(label) for label in labels])
    return np.array([*order, *ends], "<u4").tobytes() + b"".join(labels)


def _labels(labels: list[bytes], order: list[int]) -> bytes:
    return with_sections(INTEGER, {Section.CLASSES: np.array([3, 0], "<u4").tobytes() + _text(labels, order)})


def _categories(labels: list[bytes], data: bytes = INTEGER) -> bytes:
    """A file with these labels of categories, in place of its metadata; INTEGER has a column of three."""
    return with_sections(data, {Section.CATEGORIES: _text(labels, []), Section.METADATA: None})


@case("46 duplicate class")
def _():
    files = {"text": _labels([b"a", b"b", b"a"], [0, 2, 1]), "empty text": _labels([b"", b"x", b""], [0, 2, 1])}
    files["one entry of the order twice"] = with_bytes(INTEGER, Section.CLASSES, 12, "I", 0)
    for name, kind, labels in [
        ("integers", 0, np.array([7, 7], "<i8")),
        ("floats", 1, np.array([0.5, 0.5], "<f8")),
        ("0 and -0", 1, np.array([0.0, -0.0], "<f8")),
        ("booleans", 2, np.array([1, 1], "u1")),
    ]:
        content = np.array([kind, 0, 0, 1], "<u4").tobytes() + labels.tobytes()
        files[name] = with_sections(KERNEL, {Section.CLASSES: content})
    return all_bad(Status.CLASS_DUPLICATE, files)


BAD_TEXTS = {
    "a byte of no character": b"\xff",
    "the middle of a character": b"\x80",
    "half a character": b"\xe2\x82",
    "NUL": b"a\0b",
    "an overlong encoding of NUL": b"\xc0\x80",
    "an overlong encoding of /": b"\xe0\x80\xaf",
    "a surrogate": b"\xed\xa0\x80",
    "beyond U+10FFFF": b"\xf4\x90\x80\x80",
    "Latin-1": "é".encode("latin-1"),
}


@case("47 label not UTF-8 or with NUL")
def _():
    files = {f"label, {name}": _labels([b"a", b"b", text], [0, 1, 2]) for name, text in BAD_TEXTS.items()}
    for name, text in BAD_TEXTS.items():
        names = [b"%02d" % i for i in range(N_FEATURES - 1)]
        content = _text([*names, text], list(range(N_FEATURES)))
        files[f"name, {name}"] = with_sections(INTEGER, {Section.NAMES: content})
        files[f"category, {name}"] = _categories([b"a", text, b"b"])
    files["a character cut in two"] = _labels([b"a\xc3", b"\xa9", b"b"], [0, 2, 1])
    return all_bad(Status.TEXT, files)


@case("48 feature-name count wrong")
def _():
    names = sections_of(INTEGER)[Section.NAMES]
    files = {f"{n} bytes": with_sections(INTEGER, {Section.NAMES: names[:n]}) for n in (1, 95)}
    files["one name"] = with_sections(INTEGER, {Section.NAMES: encode_strings(["only"])})
    files["ends of two categories of three"] = _categories([b"", b""])
    files["categories of no column"] = _categories([b"a", b"b"], FLOAT)
    files["categories where all columns are alike"] = _categories([b"a", b"b"], KERNEL)
    return all_bad(Status.NAME_COUNT, files)


@case("49 duplicate feature name")
def _():
    names = [b"%02d" % i for i in range(N_FEATURES - 1)]
    twice = _text([*names, b"05"], [0, 1, 2, 3, 4, 5, 11, 6, 7, 8, 9, 10])
    files = {"text": with_sections(INTEGER, {Section.NAMES: twice})}
    files["one entry of the order twice"] = with_bytes(INTEGER, Section.NAMES, 4, "I", 0)
    files["a category"] = _categories([b"a", b"b", b"b"])
    files["a category without letters"] = _categories([b"", b"", b"b"])
    return all_bad(Status.NAME_DUPLICATE, files)


@case("50 scaler length wrong or scale not above 0")
def _():
    n = {
        "n_centers": field_of(INTEGER, Section.MODEL, "n_centers"),
        "n_scales": field_of(INTEGER, Section.MODEL, "n_scales"),
    }
    files = {}
    for name, right in n.items():
        for wrong in (2, right - 1, right + 1, 2**32 - 1):
            files[f"{name}={wrong}"] = with_fields(INTEGER, Section.MODEL, **{name: wrong})
    boolean = with_sections(INTEGER, {Section.KINDS: np.array([1, 1, 1, 3, 1, 1, 1, 1], "<u2").tobytes()})
    files["no numeric column"] = boolean
    halves = {"0": 0, "-0": 0x8000, "-1": 0xBF80, "inf": 0x7F80, "NaN": 0x7FC0}
    files |= {
        f"scale {name}, bfloat16": with_bytes(INTEGER, Section.SCALES, -2, "H", bits) for name, bits in halves.items()
    }
    for name in ("inf", "NaN"):
        files[f"center {name}, bfloat16"] = with_bytes(INTEGER, Section.CENTERS, 0, "H", halves[name])
    files |= {
        f"scale {byte:#x}, float8": with_bytes(FLOAT, Section.SCALES, 0, "B", byte) for byte in (0, 0x80, 0x81, 0xFF)
    }
    floats = with_fields(FLOAT, Section.MODEL, stored_as=0, center_bias=0, scale_bias=0)
    floats = with_sections(floats, {kind: np.ones(7, "<f4").tobytes() for kind in (Section.CENTERS, Section.SCALES)})
    for name, value in (NOT_FINITE | {"0": 0.0, "-0": -0.0, "-1": -1.0}).items():
        files[f"scale {name}, float32"] = with_bytes(floats, Section.SCALES, -4, "f", value)
    for name, value in NOT_FINITE.items():
        files[f"center {name}, float32"] = with_bytes(floats, Section.CENTERS, 0, "f", value)
    return all_bad(Status.SCALER, files)


@case("51 digest of the regenerated directions differs")
def _():
    files = {}
    for name, data, n_row_groups in (("int", INTEGER, 4), ("float32", FLOAT, 3), ("paper", KERNEL, 1)):
        for group in range(n_row_groups):
            digest = field_of(data, Section.ROW_GROUP + 8 * group, "digest")
            files[f"{name}, group {group}"] = with_fields(data, Section.ROW_GROUP + 8 * group, digest=digest ^ 1)
    files["another seed"] = with_fields(KERNEL, Section.ROW_GROUP, seed=4)
    files["other directions"] = with_fields(KERNEL, Section.ROW_GROUP, directions=1)
    files["another bias_scale"] = with_fields(INTEGER, Section.ROW_GROUP + 8, bias_scale=21)
    files["other axes"] = with_fields(INTEGER, Section.ROW_GROUP + 24, n_axes=0)
    return all_bad(Status.DIGEST, files)
