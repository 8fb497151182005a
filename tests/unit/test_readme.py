"""README: its first example prints what stands below it, and the page stays short."""

import re
from pathlib import Path

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
MOST_LINES, MOST_LINES_OF_THE_EXAMPLE = 100, 10


def blocks_of(text: str) -> list[tuple[str, str]]:
    """Language and content of the fenced blocks of a Markdown text."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)


def test_the_example_prints_what_readme_shows(capsys, tmp_path, monkeypatch):
    (language, example), (of_output, output) = blocks_of(README)[:2]
    assert (language, of_output) == ("python", "")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr() == (output, "")


def test_the_example_is_short():
    lines = [line for line in blocks_of(README)[0][1].splitlines() if line]
    assert len(lines) <= MOST_LINES_OF_THE_EXAMPLE


def test_readme_is_short():
    assert len(README.splitlines()) <= MOST_LINES


def test_other_examples_are_python():
    """They use data of the reader's own and are not run."""
    others = blocks_of(README)[2:]
    assert others
    for language, content in others:
        assert language == "python"
        compile(content, "README.md", "exec")
