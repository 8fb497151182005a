"""Words of an earlier dialect that must not come back: the field's terms are used instead, ours are in the glossary."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACES = ("src", "native", "bindings", "docs", "examples", "bench/src", "README.md", "CONTRIBUTING.md")
ENDINGS = {".py", ".c", ".h", ".inc", ".def", ".cpp", ".cmake", ".md"}
OLD = (
    "answers? answered asked chances? climbs? company forms? glances? held kept leads lessons? misses parts? problems? "
    "smooth spreads? thorough verdicts? whole"
)
#: An underscore ends a word, so that names like n_kept are found; capitals do not matter.
WORD = re.compile(rf"(?<![a-z])({'|'.join(OLD.split())})(?![a-z])", re.IGNORECASE)
#: Where an old word is the right one: text that is allowed, and the files it is allowed in.
ALLOWED = [
    (r"(?i)closed[ _-]forms?", r".*"),  # of a kernel
    (r"(?i)spread", r"src/repsketch/theory/.*|docs/theory\.md|docs/glossary\.md"),  # in the glossary
    (r'(?i)"thorough"|\bTHOROUGH\b|, normal or thorough', r".*"),  # an effort of the public call
    (r'"verdict"', r"src/repsketch/compare/comparison\.py"),  # a key of stored metadata
    (r"by chance", r"docs/frontier\.md"),
    (r"Computing's energy problem|\*The Whole Recipe\*", r"src/repsketch/.*"),  # titles
]
#: Instruction sets are called isa; a level is a value of a code.
LEVELS = re.compile(r"(simd|instruction|isa)[ _-]levels?|levels? of (simd|instructions)", re.IGNORECASE)


def old_words(name: str, text: str) -> list[str]:
    """The lines with an old word, after the allowed text is taken out."""
    for allowed, files in ALLOWED:
        if re.fullmatch(files, name):
            text = re.sub(allowed, "", text)
    lines = enumerate(text.splitlines(), 1)
    return [f"{name}:{number}: {line.strip()}" for number, line in lines if WORD.search(line) or LEVELS.search(line)]


def pages() -> list[Path]:
    found = (path for place in PLACES for path in ([ROOT / place, *(ROOT / place).rglob("*")]))
    return sorted(path for path in found if path.suffix in ENDINGS and path.is_file())


def test_old_words_are_gone():
    names = {str(path.relative_to(ROOT)): path for path in pages()}
    assert len(names) > 250
    found = [line for name, path in names.items() for line in old_words(name, path.read_text(encoding="utf-8"))]
    assert not found, "\n".join(found)


def test_an_old_word_is_seen():
    """In prose and in names, in any case, and where only other text is allowed; parts of other words are not."""
    seen = old_words("src/repsketch/x.py", "n_kept = 1\nThe Form of\nclosed form\nmasked apart\nspread\nsimd_level")
    assert [line.split(": ")[1] for line in seen] == ["n_kept = 1", "The Form of", "spread", "simd_level"]
