"""Files of every format version that was released still read as they did. Written by tools/write_goldens.py."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import repsketch
from repsketch.io import Status, describe
from repsketch.io.framing import FORMAT_VERSION
from repsketch.io.write import sections_of_model
from repsketch.model.oracle import query
from support.rsk.build import native_status, sections_of

FOLDER = Path(__file__).with_name("golden")
ENTRIES = [entry for table in sorted(FOLDER.glob("*.json")) for entry in json.loads(table.read_text())]


def floats(rows: list[list[str]]) -> np.ndarray:
    return np.array([[int(word, 16) for word in row] for row in rows], np.uint32).view(np.float32)


def test_there_is_one_of_every_version():
    versions = {entry["facts"]["format_version"] for entry in ENTRIES}
    assert versions == set(range(1, FORMAT_VERSION + 1))
    assert {path.name for path in FOLDER.glob("*.rsk")} == {entry["file"] for entry in ENTRIES}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["file"])
def test_it_reads_to_the_same_outputs(entry):
    path = FOLDER / entry["file"]
    data = path.read_bytes()
    assert hashlib.sha256(data).hexdigest() == entry["sha256"]
    assert native_status(data) == Status.OK
    sketch, X, expected = repsketch.load(path), floats(entry["inputs"]), floats(entry["outputs"])
    assert query(sketch.model, X).tobytes() == expected.tobytes()
    assert sketch.outputs(X).tobytes() == expected.tobytes()
    assert entry["facts"].items() <= json.loads(json.dumps(describe(path))).items()  # later versions may tell more
    written = sections_of_model(sketch.model)
    assert written == {kind: content for kind, content in sections_of(data).items() if kind in written}
