"""The command line as a person meets it."""

import subprocess
import sys

import pytest

from support.blocked import run_without


def run(*arguments, **options):
    command = [sys.executable, "-c", "from repsketch.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


def test_help_names_the_verbs():
    result = run("--help")
    assert result.returncode == 0
    assert "demo" in result.stdout


def test_an_unknown_verb_ends_with_code_2():
    result = run("fly")
    assert result.returncode == 2
    assert "fly" in result.stderr


def test_without_typer_one_line_names_the_extra():
    blocked = "import sys; sys.modules['typer'] = None; from repsketch.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", blocked, "demo"], capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert result.stderr.strip() == "repsketch: 'typer' is not installed; run: pip install 'repsketch[cli]'"


@pytest.mark.slow
def test_the_demo_ends_with_its_table():
    """Without torch."""
    script = "from repsketch.cli import main; main()"
    printed = run_without({"torch"}, script, "demo", timeout=300, strict=False)
    lines = [line for line in printed.splitlines() if "│" in line]
    accuracies = [float(line.split("│")[2]) for line in lines]
    assert len(accuracies) == 4
    assert accuracies[0] > 0.95
    assert min(accuracies) > 0.9
