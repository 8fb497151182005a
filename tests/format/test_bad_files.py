"""``docs/spec/bad-files.md`` lists the bad files that the tests make: the same numbers, titles and statuses."""

import re
from pathlib import Path

import pytest

from repsketch.io import Status
from support.rsk import framing_cases, geometry_cases, integrity_cases, total_cases, value_cases

DOCUMENT = Path(__file__).parents[2] / "docs/spec/bad-files.md"
CASES = framing_cases.CASES | geometry_cases.CASES | value_cases.CASES | integrity_cases.CASES | total_cases.CASES
#: About paths, not bytes: tests named test_60_... in test_refusals.py.
OF_PATHS = "60 not a regular file, or its size changes while it is read"


def listed() -> dict[str, set[str]]:
    """Statuses by "number title", as the tables of the document have them."""
    lines = re.findall(r"^\| (\d+) \| (.+) \| ((?:`[A-Z_]+` ?)+)\|$", DOCUMENT.read_text(encoding="utf-8"), re.M)
    titles = {f"{number} {title}": set(re.findall("[A-Z_]+", statuses)) for number, title, statuses in lines}
    assert len(titles) == len(lines)
    return titles


def test_the_document_lists_the_cases():
    assert set(listed()) == {*CASES, OF_PATHS}


@pytest.mark.parametrize("title", CASES)
def test_the_document_has_the_statuses_of_a_case(title):
    assert listed()[title] == {bad.status.name for bad in CASES[title]().values()}


def test_the_document_has_every_status_of_a_file():
    of_files = {status.name for status in Status if 0 < status < 100}  # from 100 on they are about predictions
    assert set().union(*listed().values()) == of_files


def test_no_number_is_used_twice_or_left_out():
    lines = re.findall(r"^\| (\d+) \| ", DOCUMENT.read_text(encoding="utf-8"), re.M)
    assert sorted(map(int, lines)) == sorted({*range(1, 76)} - {68, 72})


def test_the_numbers_without_a_file_have_tests():
    folder = Path(__file__).parent
    merging, refusals = ((folder / f"test_{name}.py").read_text("utf-8") for name in ("merging", "refusals"))
    assert {"61", "62", "63", "64", "65"} <= set(re.findall(r'^    "(\d+) ', merging, re.M))
    assert "def test_66_" in merging
    assert "def test_60_" in refusals
