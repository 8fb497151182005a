"""Links in README and docs lead to files and headings that exist; paths in backticks and comments to files that do."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
#: Folders whose files a page may name in backticks. CHANGELOG may name files that are gone.
FOLDERS = "src|native|bindings|bench|tests|tools|docs|examples"
PRESENT = [page for page in PAGES if page.name != "CHANGELOG.md"]


def links_of(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"\w+:", link)]


def anchors_of(page: Path) -> set[str]:
    """Names that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    lost = []
    for link in links_of(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            lost.append(link)
    assert not lost


@pytest.mark.parametrize("page", PRESENT, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_in_backticks_exist(page):
    names = re.findall(rf"`((?:{FOLDERS})/[\w./*-]+)`", page.read_text(encoding="utf-8"))
    lost = [name for name in names if not (any(ROOT.glob(name)) if "*" in name else (ROOT / name).exists())]
    assert not lost


def test_files_named_in_code_exist():
    """Paths from the root in comments and docstrings of the package, the runtime and the bindings."""
    endings = {".py", ".c", ".h", ".inc", ".def", ".cpp"}
    files = [path for folder in ("src", "native", "bindings") for path in (ROOT / folder).rglob("*.*")]
    code = [path for path in files if path.suffix in endings]
    named = re.compile(rf"(?<![\w./-])(?:{FOLDERS})/[\w./-]+\.(?:py|md|cpp|c|h|inc|def|json)\b")
    found = {(path.name, name) for path in code for name in named.findall(path.read_text(encoding="utf-8"))}
    assert ("rsk_text.c", "src/repsketch/io/strings.py") in found
    assert not [pair for pair in found if not (ROOT / pair[1]).exists()]


def test_pages_are_found():
    names = {str(page.relative_to(ROOT)) for page in PAGES}
    assert {"README.md", "docs/glossary.md", "docs/spec/format.md", "docs/decisions/0001-generator.md"} <= names
    assert links_of(ROOT / "README.md")
