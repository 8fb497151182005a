"""What every reader must refuse, ``docs/spec/bad-files.md``: files and a status for each way to be wrong.

Both readers must return the same status. The files are made in ``tests/support/rsk/*_cases.py``;
``test_bad_files.py`` compares them with the document.
"""

import json
import os
import threading

import numpy as np
import pytest

import repsketch
from repsketch.io import FormatError, Status
from repsketch.io.framing import FILE_CAP
from repsketch.io.metadata import METADATA_CAP
from repsketch.io.read import read_file
from repsketch.io.records import Section
from repsketch.sketch import from_bytes
from support.rsk import framing_cases, geometry_cases, integrity_cases, total_cases, value_cases
from support.rsk.build import (
    bare_file,
    native_status,
    python_status,
    with_bytes,
    with_entry,
    with_fields,
    with_sections,
)
from support.rsk.cases import FLOAT, INTEGER, INTERVALS, KERNEL
from support.rsk.stages import STAGES

CASES = framing_cases.CASES | geometry_cases.CASES | value_cases.CASES | integrity_cases.CASES | total_cases.CASES


@pytest.mark.parametrize("title", CASES)
def test_both_readers_refuse(title):
    files = CASES[title]()
    assert files
    statuses, expected = {}, {}
    for name, bad in files.items():
        statuses[name] = (python_status(bad.data, **bad.limits).name, native_status(bad.data, **bad.limits).name)
        expected[name] = (bad.status.name, bad.status.name)
    wrong = {name: status for name, status in statuses.items() if status != expected[name]}
    assert not wrong, {name: (status, "expected", expected[name]) for name, status in wrong.items()}


@pytest.mark.parametrize(
    "data", [INTEGER, FLOAT, KERNEL, INTERVALS, STAGES], ids=["int", "float32", "paper", "intervals", "stages"]
)
def test_the_files_they_are_made_from_are_good(data):
    assert (python_status(data), native_status(data)) == (Status.OK, Status.OK)


@pytest.mark.parametrize("kind", [70, 100, 2**31, 2**32 - 1])
def test_unknown_optional_sections_are_skipped(kind):
    data = with_sections(KERNEL, {kind: b"from a later version"})
    assert (python_status(data), native_status(data)) == (Status.OK, Status.OK)
    known = with_entry(KERNEL, -1, flags=1)  # a known optional section may say that it is required
    assert (python_status(known), native_status(known)) == (Status.OK, Status.OK)


def intervals_of(n_rows: int, n_levels: int, n_bins: int) -> bytes:
    """A table for the two outputs of FLOAT: borders 0, 1, 2, ..., scales as small as can be, widths of -0."""
    head = np.array([n_rows, n_levels | n_bins << 16], "<u4").tobytes()
    borders, scales = np.arange(n_bins - 1, dtype="<f4"), np.full(n_bins, 1e-45, "<f4")
    widths = np.full(2 * n_levels, -0.0, "<f4")
    return head + 2 * borders.tobytes() + 2 * scales.tobytes() + widths.tobytes()


def _at_the_caps() -> dict[str, bytes]:
    """The last good one of every kind: a reader that refuses too much is wrong as well."""
    texts = {
        "depth 4": '{"a":{"b":[[]]}}',
        "string of 1 KiB": '{"a":"' + "x" * 1024 + '"}',
        "key of 1 KiB": '{"' + "é" * 512 + '":1}',
        "64 keys": json.dumps({f"key {i}": i for i in range(64)}),
        "32 KiB": "{" + " " * (METADATA_CAP - 2) + "}",
        "large and small numbers": '{"a":[1e307,-9.99e307,1e-99999999,0e99999999,0.0]}',
        "escapes": '{"a":"\\u0000\\ud800\\"\\\\\\/\\b\\f\\n\\r\\t"}',
        "space": ' \t\r\n{ "a" : [ ] , "b" : { } }\n',
    }
    files = {name: with_sections(INTEGER, {Section.METADATA: text.encode()}) for name, text in texts.items()}
    files |= {f"width {w}": with_fields(KERNEL, Section.ROW_GROUP, width=w) for w in (1e-30, 1e30)}
    for name, value in {"large": 1e36, "subnormal": 1e-45}.items():
        files[f"{name} gain"] = with_bytes(FLOAT, Section.GAIN, 0, "f", value)
        files[f"{name} counter"] = with_bytes(FLOAT, Section.COUNTERS, 0, "f", -value)
    files["offset of 2**126"] = bare_file({Section.OFFSET: np.float32(2.0**126).tobytes()})
    half = np.array([2.0**125, -(2.0**125)], "<f4").tobytes()
    files["counters and offset of 2**125"] = bare_file({Section.COUNTERS: half, Section.OFFSET: half[:4]})
    files["projection of 2**40"] = with_bytes(FLOAT, Section.SHIFT, 0, "f", -(2.0**40))
    wide = dict.fromkeys(("n_features", "n_columns", "n_values", "n_components"), 1 << 20)
    files["a million columns"] = bare_file(**wide)
    files["intervals of 99 rows"] = with_bytes(INTERVALS, Section.INTERVALS, 0, "I", 99)
    files["intervals of 2**32 - 1 rows"] = with_bytes(INTERVALS, Section.INTERVALS, 0, "I", 2**32 - 1)
    zeros = {f"{n} of {rows} rows": intervals_of(rows, n, 256) for rows, n in ((1, 1), (9, 9), (98, 15), (99, 16))}
    files |= {f"256 bins, {name}": with_sections(FLOAT, {Section.INTERVALS: table}) for name, table in zeros.items()}
    files["intervals without a task"] = with_fields(INTERVALS, Section.MODEL, task=0)
    files["65,536 buckets"] = bare_file(group={"n_buckets": 65_536})
    files["65,536 outputs"] = bare_file(group={"n_numbers": 65_536, "n_gains": 65_536}, n_outputs=65_536)
    return files


def test_at_the_caps_files_are_good():
    for name, data in _at_the_caps().items():
        assert (python_status(data), native_status(data)) == (Status.OK, Status.OK), name
    # Sizes at their caps together cost more than the default limits: the caller must raise those.
    most, raised = bare_file(group={"n_rows": 65_536, "n_concat": 4_096, "counter_type": 3}), 2**63
    limits = {"max_memory": raised, "max_work": raised}
    assert (python_status(most, **limits), native_status(most, **limits)) == (Status.OK, Status.OK)


def test_the_message_names_the_file_and_the_status(tmp_path):
    path = tmp_path / "model.rsk"
    path.write_bytes(INTEGER[:-8])
    with pytest.raises(FormatError, match=r"model\.rsk: the file is shorter than it says.*TRUNCATED, status 13"):
        repsketch.load(path)
    with pytest.raises(ValueError, match="TRUNCATED"):
        from_bytes(INTEGER[:-8])


# ---- 60: not a regular file, or its size changes while read ----


def refused(path: object) -> Status:
    with pytest.raises(FormatError) as caught:
        repsketch.load(path)  # type: ignore[arg-type]
    return caught.value.status


def open_files() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def test_60_a_directory(tmp_path):
    before = open_files()
    assert refused(tmp_path) == Status.NOT_REGULAR
    assert open_files() == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_60_a_pipe_is_refused_without_waiting_for_its_other_end(tmp_path):
    path, statuses = tmp_path / "pipe.rsk", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: statuses.append(refused(path)), daemon=True)
    reader.start()
    reader.join(timeout=20)
    assert statuses == [Status.NOT_REGULAR]


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no /dev/zero here")
def test_60_a_device():
    assert refused("/dev/zero") == Status.NOT_REGULAR


def test_60_a_link_to_a_file_is_followed(tmp_path):
    (tmp_path / "model.rsk").write_bytes(KERNEL)
    (tmp_path / "link.rsk").symlink_to(tmp_path / "model.rsk")
    assert repsketch.load(tmp_path / "link.rsk").n_features == 4


@pytest.mark.parametrize("change", [-8, -1, 1, 8])
def test_60_the_size_changes_while_it_is_read(tmp_path, monkeypatch, change):
    path, real = tmp_path / "model.rsk", os.fstat
    path.write_bytes(KERNEL)

    def fstat(handle: int) -> os.stat_result:
        """Another process writes between the look at the size and the reading."""
        state = real(handle)
        path.write_bytes(KERNEL + bytes(change) if change > 0 else KERNEL[:change])
        return state

    monkeypatch.setattr("repsketch.io.read.os.fstat", fstat)
    assert refused(path) == Status.FILE_CHANGED


def test_60_an_empty_and_a_missing_file(tmp_path):
    (tmp_path / "empty.rsk").write_bytes(b"")
    assert refused(tmp_path / "empty.rsk") == Status.EMPTY
    with pytest.raises(FileNotFoundError, match=r"absent\.rsk"):
        repsketch.load(tmp_path / "absent.rsk")


def test_a_file_over_the_cap_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "large.rsk"
    with open(path, "wb") as file:
        file.truncate(FILE_CAP + 1)
    assert refused(path) == Status.FILE_CAP
    with pytest.raises(FormatError, match="FILE_CAP"):
        read_file(path, 100)
    assert repsketch.load(_written(tmp_path / "small.rsk", KERNEL), max_nbytes=len(KERNEL)).n_features == 4


def _written(path, data):
    path.write_bytes(data)
    return path
