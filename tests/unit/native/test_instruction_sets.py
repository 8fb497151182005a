"""Intrinsics stand in two files an instruction set, and the table of loops names loops that are there."""

import re

ISAS = ("scalar", "neon", "avx2", "avx512")
INTRINSIC = re.compile(r"\b_mm\d*_\w+|\b__m(?:\d+\w*|mask\d+)\b|\b\w+x\d+_t\b|\bimmintrin\.h|\barm_neon\.h")


def test_only_files_of_an_instruction_set_have_intrinsics(root):
    files = [path for path in (root / "native").glob("rsk*") if path.suffix in (".c", ".h", ".inc")]
    own = {f"rsk_{isa}.inc" for isa in ISAS} | {"rsk_trainer_avx2.inc", "rsk_trainer_avx512.inc"}
    assert own <= {path.name for path in files}
    found = {path.name: INTRINSIC.findall(path.read_text()) for path in files if path.name not in own}
    assert {name: words for name, words in found.items() if words} == {}
    assert INTRINSIC.findall((root / "native" / "rsk_avx2.inc").read_text())


def test_the_table_of_loops_names_what_is_there(root):
    words = set(re.findall(r"`(\w+)`", (root / "docs" / "spec" / "loops.md").read_text()))
    sources = "\n".join(path.read_text() for path in (root / "native").glob("rsk*"))
    missing = {word for word in words if not re.search(rf"\b{word}\b", sources)}
    assert missing == set()
    assert {"int16_rows_of_triples", "bits_accumulate", "one_codes"} <= words


def test_every_operation_that_is_used_is_listed(root):
    native = root / "native"
    listed = set(re.findall(r"\b[VWFI]_[A-Z_]+\b", (native / "rsk_lanes.h").read_text()))
    neutral = ("rsk_int16.inc", "rsk_float.inc", "rsk_predict_row.inc", "rsk_lanes.c")
    used = {word for name in neutral for word in re.findall(r"\b[VWFI]_[A-Z_]+\b", (native / name).read_text())}
    assert used <= listed
