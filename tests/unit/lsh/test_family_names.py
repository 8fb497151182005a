"""What differs between families stands on the family: no module compares its name."""

import re
from pathlib import Path

import repsketch
from repsketch.io import records
from repsketch.lsh import family_named

ASKS = re.compile(r"family\.name\s*(?:==|!=|in)\s*.*[\"'](?:l2|angular|minhash|l1)[\"']|getattr\([^,]*family, [\"']")


def test_no_module_asks_for_a_familys_name():
    folders = [Path(folder) for folder in repsketch.__path__]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    assert len(files) > 100
    assert [path.name for path in files if ASKS.search(path.read_text())] == []


def test_such_a_question_would_be_seen():
    assert ASKS.search('if hashes.family.name == "l2":')
    assert ASKS.search('if family.name in ("angular", "minhash"):')
    assert ASKS.search('getattr(hashes.family, "directions", "")')


def test_parameters_of_a_file_give_the_family_back():
    for name in records.FAMILIES:
        family = family_named(name)
        for directions in records.DIRECTIONS:
            made = family.from_parameters(2.0, directions)
            assert family.from_parameters(*made.file_parameters) == made
            bandwidth, kind = made.file_parameters
            assert bandwidth == (2.0 if family.has_bandwidth else 0.0)
            assert kind == (directions if family.has_directions else "ternary")
