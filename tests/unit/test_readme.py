"""README: its first example prints what stands below it, and the page stays short."""

import re
import subprocess
import sys
from pathlib import Path

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
MOST_LINES = 100


def blocks_of(text: str) -> list[tuple[str, str]]:
    """Language and content of the fenced blocks of a Markdown text."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)


def test_the_example_prints_what_readme_shows(tmp_path):
    (language, example), (of_output, output) = blocks_of(README)[:2]
    assert (language, of_output) == ("python", "")
    run = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert run.returncode == 0, run.stderr
    assert run.stdout == output
    assert len(example.split("\n\n", 1)[1].splitlines()) + example.count("import ") <= 11  # a screen, not a program


def test_readme_is_short():
    assert len(README.splitlines()) <= MOST_LINES


def test_other_examples_are_python():
    """They name data of the reader's own and are not run."""
    for language, content in blocks_of(README)[2:]:
        assert language == "python"
        compile(content, "README.md", "exec")
