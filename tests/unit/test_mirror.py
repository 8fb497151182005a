"""tests/unit mirrors src: the tests of ``lsh/pool.py`` are in ``lsh/test_pool.py``, or ``lsh/test_pool_<what>.py``.

Tests of what no single module does are listed here.
"""

from pathlib import Path

import pytest

import repsketch

TESTS = Path(__file__).parent
#: Folders of what is not Python, or of calls of every room.
FOLDERS = {
    "native": "mirrors native/ and its installed files",
    "bad_input": "each kind of bad argument, given to every public call that takes one",
}
SUBJECTS = {
    "test_defaults": "defaults of all public calls",
    "test_docs_links": "links of README and docs",
    "test_layers": "imports of all modules",
    "test_logging": "the log of the package",
    "test_measure_install": "tools/measure_install.py",
    "test_mirror": "this check",
    "test_mutants": "tools/check_mutants.py and its list",
    "test_public_names": "annotations of all public calls",
    "test_readme": "README's example",
    "test_without_torch": "all but torch teachers, torch being absent",
    "test_words": "words of the field in all files",
    "cli/test_guide": "the guide's commands",
    "cli/test_messy": "messy tables, through every command",
    "data/test_masked": "masked arrays, through every call",
    "data/test_messy_tables": "messy tables, through every call",
    "paper/test_algorithms": "the paper's algorithms, from points to predictions",
    "paper/test_calibrate": "a method of the paper's sketch",
    "paper/test_extremes": "the largest and smallest numbers, from points to predictions",
    "runtime/test_long_calls": "both runtimes: time, memory, threads",
    "runtime/test_odd_inputs": "both runtimes: kinds of tables",
    "runtime/test_refused": "both runtimes: what is refused",
    "train/test_large_tables": "limits that only large tables meet",
    "train/test_leaks": "validation rows, through all of training",
}


def modules() -> set[str]:
    """Modules and packages, such as ``lsh/pool`` and ``lsh``."""
    root = Path(repsketch.__file__).parent
    files = {path.relative_to(root).with_suffix("").as_posix() for path in root.rglob("*.py")}
    return files | {name.removesuffix("/__init__") for name in files}


def is_mirrored(test: str, known: set[str]) -> bool:
    """True if a test such as ``lsh/test_pool_seeds`` is named after a module, here ``lsh/pool``."""
    folder, _, name = test.rpartition("test_")
    words = name.split("_")
    return any(folder + "_".join(words[:n]) in known for n in range(1, len(words) + 1))


def unit_tests() -> list[str]:
    found = (path.relative_to(TESTS).with_suffix("").as_posix() for path in TESTS.rglob("test_*.py"))
    return sorted(test for test in found if test.split("/")[0] not in FOLDERS)


def test_every_file_is_named_after_a_module_or_listed():
    if not (Path(repsketch.__file__).parents[2] / "pyproject.toml").is_file():
        pytest.skip("an installed package: its files may be those of another version")
    known = modules()
    others = [test for test in unit_tests() if not is_mirrored(test, known)]
    assert others == sorted(SUBJECTS)


def test_the_check_itself():
    assert is_mirrored("lsh/test_pool", {"lsh/pool"})
    assert is_mirrored("lsh/test_pool_seeds", {"lsh/pool"})
    assert is_mirrored("data/test_csv_reader", {"data/csv_reader"})
    assert not is_mirrored("lsh/test_pools", {"lsh/pool"})
    assert not is_mirrored("test_pool", {"lsh/pool"})
