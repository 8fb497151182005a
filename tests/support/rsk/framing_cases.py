"""Cases 1 to 28: header and table of sections."""

import struct

import numpy as np

from repsketch.io import Status
from repsketch.io.framing import FILE_CAP, HEADER_CAP
from repsketch.io.records import Section
from repsketch.io.strings import encode_classes
from support.rsk.build import (
    ENTRY_NBYTES,
    HEADER_NBYTES,
    entry_of,
    patched,
    raw,
    repaired,
    sections_of,
    with_bytes,
    with_entry,
    with_fields,
    with_header,
    with_sections,
)
from support.rsk.cases import FLOAT, INTEGER, KERNEL, SHORT, Bad, all_bad, new_cases
from support.rsk.stages import BAD_STAGES, STAGES

CASES, case = new_cases()


@case("1 empty")
def _():
    return {"no bytes": Bad(b"", Status.EMPTY)}


@case("2 shorter than the header")
def _():
    return all_bad(Status.TOO_SHORT, {f"{n} bytes": INTEGER[:n] for n in (1, 4, 31)})


@case("3 bad magic")
def _():
    magics = {"text": b"# re", "lower case": b"\x89rsk", "zeros": bytes(4), "without the high bit": b"\x09RSK"}
    return all_bad(Status.MAGIC, {name: magic + INTEGER[4:] for name, magic in magics.items()})


@case("4 byte-swapped magic")
def _():
    return {"reversed": Bad(INTEGER[3::-1] + INTEGER[4:], Status.SWAPPED)}


@case("5 version 0")
def _():
    return {"version": Bad(with_header(INTEGER, version=0), Status.VERSION_ZERO)}


@case("6 future version")
def _():
    return all_bad(Status.VERSION_FUTURE, {f"version {n}": with_header(INTEGER, version=n) for n in (2, 256, 65_535)})


@case("7 unknown flag bit")
def _():
    files = {f"header, bit {bit}": with_header(INTEGER, flags=1 << bit) for bit in range(16)}
    files |= {f"section, bit {bit}": with_entry(INTEGER, 2, flags=1 | 1 << bit) for bit in (1, 31)}
    files |= {f"model, bit {bit}": with_fields(INTEGER, Section.MODEL, flags=1 << bit) for bit in (4, 15)}
    files |= {f"group, bit {bit}": with_fields(INTEGER, Section.ROW_GROUP + 8, flags=1 << bit) for bit in (5, 7)}
    files["last field of a section"] = with_entry(INTEGER, 2, zero=1)
    files["a required section that says it is optional"] = with_entry(INTEGER, 0, flags=0)
    return all_bad(Status.FLAGS, files)


@case("8 header length 0")
def _():
    files = {f"length {n}": with_header(INTEGER, length=n) for n in (0, 31, 32, len(sections_of(INTEGER)) * 24 + 31)}
    return all_bad(Status.HEADER_LENGTH, files)


@case("9 header longer than the file")
def _():
    short = KERNEL[:100]
    return {
        "32 sections in 100 bytes": Bad(
            with_header(short, n_sections=32, length=800, file_length=100), Status.TRUNCATED
        )
    }


@case("10 over the cap")
def _():
    files = {f"header of {n} bytes": with_header(INTEGER, length=n) for n in (HEADER_CAP + 1, 2**31, 2**32 - 1)}
    return all_bad(Status.HEADER_CAP, files) | {
        "file over 64 MiB": Bad(bytes(FILE_CAP + 1), Status.FILE_CAP),
        "file over what the caller allows": Bad(INTEGER, Status.FILE_CAP, {"max_nbytes": len(INTEGER) - 1}),
    }


@case("11 header length + offset wraps")
def _():
    # 24 * 178,956,971 is 2**32 + 8: in 32 bits the header would be 40 bytes long.
    wrapped = with_header(INTEGER, n_sections=178_956_971, length=40)
    return {
        "length": Bad(with_header(INTEGER, length=2**32 - 8), Status.HEADER_CAP),
        "number of sections": Bad(wrapped, Status.SECTION_CAP),
    }


@case("12 trailing bytes")
def _():
    longer = INTEGER + bytes(8)
    return all_bad(
        Status.TRAILING,
        {
            "one": INTEGER + b"\0",
            "eight": longer,
            "eight that the header knows of": with_header(longer, file_length=len(longer)),
            "a second file": INTEGER + INTEGER,
        },
    )


@case("13 truncated")
def _():
    files = {f"{n} bytes less": INTEGER[:-n] for n in (1, 8, len(INTEGER) // 2, len(INTEGER) - HEADER_NBYTES)}
    files["the header says more"] = with_header(INTEGER, file_length=len(INTEGER) + 8)
    return all_bad(Status.TRUNCATED, files)


@case("14 non-zero padding")
def _():
    files = {f"header, byte {at}": repaired(patched(INTEGER, at, "B", 1)) for at in (27, 28, 31)}
    names = Section.NAMES  # 204 bytes: four more up to the next section
    end = entry_of(INTEGER, list(sections_of(INTEGER)).index(names), "offset") + len(sections_of(INTEGER)[names])
    files |= {f"{at} bytes after a section": raw(INTEGER, end + at, "B", 0x80) for at in (0, 3)}
    files |= {f"model, byte {at}": with_bytes(INTEGER, Section.MODEL, at, "B", 1) for at in (58, 63)}
    files |= {f"group, byte {at}": with_bytes(INTEGER, Section.ROW_GROUP + 16, at, "B", 1) for at in (14, 15, 72, 79)}
    left_over = {"indices": (INTEGER, Section.INDICES + 8), "columns of codes": (INTEGER, Section.CODE_COLUMNS + 16)}
    left_over |= {"ternary projection": (FLOAT, Section.PROJECTION), "decode matrix": (SHORT, Section.DECODE + 16)}
    for name, (data, kind) in left_over.items():
        last = sections_of(data)[kind][-1]
        files[f"bits left over of {name}"] = with_bytes(data, kind, -1, "B", last | 0x80)
    files["second word of the classes"] = with_bytes(INTEGER, Section.CLASSES, 4, "I", 1)
    three = with_sections(INTEGER, {Section.CLASSES: encode_classes(np.array([3, 1, 2]))})
    files["after the order of the classes"] = with_bytes(three, Section.CLASSES, 8 + 12, "I", 1)
    files["fourth word of the sums"] = with_bytes(KERNEL, Section.SUMS, 12, "I", 1)
    return all_bad(Status.PADDING, files | BAD_STAGES[14])


@case("15 no section")
def _():
    empty = with_header(INTEGER[:HEADER_NBYTES], n_sections=0, length=HEADER_NBYTES, file_length=HEADER_NBYTES)
    return all_bad(
        Status.NO_SECTIONS, {"header alone": empty, "with the rest": with_header(INTEGER, n_sections=0, length=32)}
    )


@case("16 sections over the cap")
def _():
    files = {f"{n} sections": with_header(INTEGER, n_sections=n, length=32 + 24 * n) for n in (33, 2_000)}
    files["4 billion sections"] = with_header(INTEGER, n_sections=2**32 - 1)
    return all_bad(Status.SECTION_CAP, files)


@case("17 duplicate section")
def _():
    files = {f"section {i}": with_entry(KERNEL, i, type=entry_of(KERNEL, i - 1, "type")) for i in (1, 5, 9)}
    return all_bad(Status.SECTION_DUPLICATE, files)


@case("18 required section missing")
def _():
    files = {}
    for name, data in {"int": INTEGER, "float32": FLOAT, "paper": KERNEL, "stages": STAGES}.items():
        for kind in sections_of(data):
            if kind < Section.CLASSES:
                files[f"{name}, section {kind}"] = with_sections(data, {kind: None})
    return all_bad(Status.SECTION_MISSING, files)


@case("19 unknown required section")
def _():
    files = {f"type {kind}": with_sections(KERNEL, {kind: b"?"}) for kind in (0, 13, 15, 23, 31, 39, 47)}
    for kind in (70, 1_000, 2**32 - 1):
        files[f"type {kind}"] = with_entry(with_sections(KERNEL, {kind: b"?"}), -1, flags=1)
    return all_bad(Status.SECTION_UNKNOWN, files)


@case("20 offset inside the header")
def _():
    header_end = entry_of(KERNEL, 0, "offset")
    files = {f"offset {at}": with_entry(KERNEL, 0, offset=at) for at in (0, 32, header_end - 8)}
    return all_bad(Status.SECTION_IN_HEADER, files)


@case("21 past the end")
def _():
    cut = KERNEL[:-8]
    return all_bad(
        Status.SECTION_BEYOND,
        {
            "length": with_entry(KERNEL, -1, length=entry_of(KERNEL, 9, "length") + 1),
            "offset": with_entry(KERNEL, 3, offset=len(KERNEL)),
            "a shorter file that knows it": with_header(cut, file_length=len(cut)),
        },
    )


@case("22 offset + length wraps")
def _():
    return all_bad(
        Status.SECTION_BEYOND,
        {
            "length": with_entry(KERNEL, 4, length=2**32 - 1),
            "to a place inside": with_entry(KERNEL, 4, length=2**32 - 8),
            "offset": with_entry(KERNEL, 4, offset=2**32 - 8, length=512),
        },
    )


@case("23 overlap")
def _():
    return all_bad(
        Status.SECTION_OVERLAP,
        {
            "two at one place": with_entry(KERNEL, 1, offset=entry_of(KERNEL, 0, "offset")),
            "by one byte": with_entry(KERNEL, 0, length=entry_of(KERNEL, 0, "length") + 1),
            "the first covers all": with_entry(KERNEL, 0, length=len(KERNEL) - entry_of(KERNEL, 0, "offset")),
        },
    )


@case("24 hole")
def _():
    return all_bad(
        Status.SECTION_HOLE,
        {
            "after the header": with_entry(KERNEL, 0, offset=entry_of(KERNEL, 0, "offset") + 8),
            "between two": with_entry(KERNEL, 1, length=entry_of(KERNEL, 1, "length") - 8),
            "a late start": with_entry(KERNEL, 4, offset=entry_of(KERNEL, 4, "offset") + 8),
        },
    )


@case("25 misaligned")
def _():
    start = entry_of(KERNEL, 2, "offset")
    return all_bad(Status.SECTION_ALIGNMENT, {f"by {n}": with_entry(KERNEL, 2, offset=start + n) for n in (1, 4, 7)})


@case("26 unsorted")
def _():
    first, second = (HEADER_NBYTES + ENTRY_NBYTES * i for i in (0, 1))
    table = KERNEL[second : second + ENTRY_NBYTES] + KERNEL[first:second]
    swapped = repaired(KERNEL[:first] + table + KERNEL[second + ENTRY_NBYTES :])
    return {
        "types": Bad(with_entry(KERNEL, 0, type=7), Status.SECTION_ORDER),
        "the last one": Bad(with_entry(KERNEL, -1, type=2), Status.SECTION_ORDER),
        # The second section is met first, and does not begin where the header ends.
        "two entries exchanged": Bad(swapped, Status.SECTION_HOLE),
    }


@case("27 zero-length required section")
def _():
    return all_bad(Status.SECTION_EMPTY, {f"section {i}": with_entry(KERNEL, i, length=0) for i in (0, 3, 8)})


@case("28 zero-length section sharing an offset")
def _():
    # A further entry, of no bytes, that begins where the file ends; all others move on by its length.
    n, table_end = len(sections_of(KERNEL)), HEADER_NBYTES + ENTRY_NBYTES * len(sections_of(KERNEL))
    moved = KERNEL
    for i in range(n):
        moved = with_entry(moved, i, offset=entry_of(KERNEL, i, "offset") + ENTRY_NBYTES)
    nothing = struct.pack("<6I", Section.METADATA, 0, len(KERNEL) + ENTRY_NBYTES, 0, 0, 0)
    longer = moved[:table_end] + nothing + moved[table_end:]
    longer = with_header(longer, n_sections=n + 1, length=table_end + ENTRY_NBYTES, file_length=len(longer))
    shared = with_entry(KERNEL, 1, length=0, offset=entry_of(KERNEL, 2, "offset"))
    return all_bad(Status.SECTION_EMPTY, {"required": shared, "optional, at the end of the file": longer})
