"""``repsketch bench frontier`` as a person meets it."""

import json
import subprocess
import sys

import pytest

from support import commands

pytest.importorskip("lightgbm")
pytest.importorskip("matplotlib")


def run(*arguments):
    command = [sys.executable, "-c", "from repsketch.cli import main; main()", "bench", "frontier", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["iris"], "dataset 'iris' is unknown; allowed are"),
        (["wine", "--methods", "ours,magic"], "methods='magic'; allowed are 'ours', 'boosted'"),
        (["wine", "--budgets", "512B,4 kg"], "budget='4 kg'; allowed is a number of bytes"),
    ],
)
def test_bad_input_is_one_line_and_code_2(arguments, message):
    result = commands.run("bench", "frontier", *arguments)
    assert result.code == 2
    assert message in result.err
    assert "Traceback" not in result.err


@pytest.mark.slow
def test_one_method_on_one_dataset(tmp_path):
    """Tables, curves and a result file; the second time nothing is run."""
    options = ["wine", "--quick", "--methods", "linear", "--budgets", "400,1KB", "--workers", "1"]
    options += ["--cache", str(tmp_path / "cache"), "-o", str(tmp_path / "out")]
    first = run(*options)
    assert first.returncode == 0, first.stderr
    result = json.loads((tmp_path / "out" / "wine.json").read_text())
    assert sorted(result["found"]["linear"]["0"]) == ["1024", "400"]
    assert (tmp_path / "out" / "frontier.svg").is_file()
    assert "All scores" in first.stdout
    stored = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache" / "jobs").iterdir()}
    assert len(stored) == 2
    assert run(*options).returncode == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cache" / "jobs").iterdir()} == stored
    options[options.index("--cache") + 1] = str(tmp_path / "another")  # the first was lost: results are enough
    assert run(*options).returncode == 0
    assert not (tmp_path / "another" / "soft_labels").exists()
    assert json.loads((tmp_path / "out" / "wine.json").read_text()) == result
