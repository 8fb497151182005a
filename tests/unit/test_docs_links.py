"""Links in README and docs point to files and headings that exist; paths in backticks to files that exist."""

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


def test_pages_are_found():
    names = {str(page.relative_to(ROOT)) for page in PAGES}
    assert {"README.md", "docs/glossary.md", "docs/spec/format.md", "docs/decisions/0001-generator.md"} <= names
    assert links_of(ROOT / "README.md")
