"""The list of faults fits the code: every fault can be put in, and names tests that are there."""

from collections import Counter
from pathlib import Path

import pytest

import check_mutants
from check_mutants import STRICT_KINDS, applied, is_enough, is_red, read_mutants

ROOT = Path(__file__).parents[2]
MUTANTS = read_mutants()

pytestmark = pytest.mark.skipif(not (ROOT / "bench").exists(), reason="this is no checkout")


def test_every_fault_can_be_put_in():
    texts = {file: (ROOT / file).read_text() for file in {mutant["file"] for mutant in MUTANTS}}
    counts = {mutant["name"]: texts[mutant["file"]].count(mutant["old"]) for mutant in MUTANTS}
    assert {name: count for name, count in counts.items() if count != 1} == {}
    assert [mutant["name"] for mutant in MUTANTS if mutant["old"] == mutant["new"]] == []


def test_every_fault_has_a_name_and_tests_of_its_own():
    assert max(Counter(mutant["name"] for mutant in MUTANTS).values()) == 1
    missing = {test for mutant in MUTANTS for test in mutant["tests"] if not (ROOT / test.split("::")[0]).exists()}
    assert missing == set()
    for test in {test for mutant in MUTANTS for test in mutant["tests"] if "::" in test}:
        file, *names = test.split("::")
        assert f"def {names[-1]}(" in (ROOT / file).read_text(), test
    assert len(MUTANTS) >= 82
    assert {mutant["kind"] for mutant in MUTANTS} >= set(STRICT_KINDS)


@pytest.mark.parametrize(
    ("code", "printed", "expected"),
    [
        (0, "3 passed", False),
        (1, "1 failed, 2 passed", True),
        (2, "ERROR tests/unit/test_a.py\n!!! Interrupted: 1 error during collection !!!", True),
        (-11, "Fatal Python error: Segmentation fault", True),
    ],
)
def test_what_exit_codes_say(code, printed, expected):
    assert is_red(code, printed) == expected


@pytest.mark.parametrize("code", [2, 3, 4, 5, -9, -15])
def test_mistakes_of_the_tool_are_no_success(code):
    with pytest.raises(SystemExit, match=f"pytest ended with {code}"):
        is_red(code, "no tests ran")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, None])
def test_files_are_restored(tmp_path, error):
    file = tmp_path / "code.py"
    file.write_bytes(b"a = 1\r\nb = 2\r\n")
    before = file.stat().st_mtime_ns
    mutant = {"name": "two", "file": "code.py", "old": "b = 2", "new": "b = 3"}

    def change():
        with applied(mutant, tmp_path):
            assert file.read_bytes() == b"a = 1\r\nb = 3\r\n"
            if error is not None:
                raise error

    if error is None:
        change()
    else:
        with pytest.raises(error):
            change()
    assert (file.read_bytes(), file.stat().st_mtime_ns) == (b"a = 1\r\nb = 2\r\n", before)


@pytest.mark.parametrize(
    ("n_red", "survivors", "expected"),
    [(95, {"size": 5}, True), (94, {"size": 6}, False), (99, {"leak": 1}, False), (99, {"honesty": 1}, False)],
)
def test_how_many_must_be_noticed(n_red, survivors, expected):
    found = Counter({("c", True): n_red}) + Counter({(kind, False): n for kind, n in survivors.items()})
    assert is_enough(found) == expected
    assert f"{n_red} %" in check_mutants.table_of(found)
