"""Links and file names in the documents exist; `just docs` checks the anchors."""

import re
import tomllib
from os.path import normpath
from pathlib import Path

import pytest

from docs.pages import DOCS, DOCUMENTS, PAGES, README, ROOT, code, links

#: Finds paths of files in these folders.
NAMED = re.compile(r"(?<![\w/.])((?:benchmarks|deploy|docs|loadtests|migrations|\.ci)/[\w./-]*\w)")
#: Files that a command writes.
WRITTEN = {"loadtests/report.html", "loadtests/report-phases.json"}


def relative_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("document", DOCUMENTS, ids=relative_name)
def test_links_lead_to_files(document: Path) -> None:
    """Every linked page, image and folder exists, relative to the document."""
    targets = links(document.read_text("utf-8"))
    assert [target for target in targets if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=relative_name)
def test_pages_link_to_pages_and_images_alone(page: Path) -> None:
    """Pages link to files in docs/ only, because the site has no others; they name other files in code."""
    targets = [Path(normpath(page.parent / link)) for link in links(page.read_text("utf-8"))]
    assert [each for each in targets if not (each.is_file() and each.is_relative_to(DOCS))] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=relative_name)
def test_named_files_exist(document: Path) -> None:
    """Every file that a document names in code exists."""
    names = NAMED.findall(code(document.read_text("utf-8")))
    assert [name for name in names if not (ROOT / name).exists() and name not in WRITTEN] == []


def test_every_page_is_reachable_from_the_index() -> None:
    """Every page is reachable from the index; a decision through the list of decisions."""
    seen, waiting = set(), [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page not in seen:
            seen.add(page)
            targets = [Path(normpath(page.parent / link)) for link in links(page.read_text("utf-8"))]
            waiting += [each for each in targets if each.suffix == ".md"]
    assert seen == set(PAGES)


def test_the_navigation_has_every_page_but_single_decisions() -> None:
    """zensical.toml lists every page except decisions: a page that it lacks has no title in the menu."""
    project = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
    listed = [target for entry in project["nav"] for target in entry.values()]
    assert sorted(listed) == sorted([*(path.name for path in DOCS.glob("*.md")), "adr/index.md"])


def test_the_readme_leads_to_every_page() -> None:
    """README.md links to every page, except the index, which lists the same pages, and fan-out.md."""
    pages = {path.name for path in DOCS.glob("*.md")} - {"index.md", "fan-out.md"}
    assert {f"docs/{name}" for name in pages} <= set(links(README.read_text("utf-8")))


@pytest.mark.parametrize("document", DOCUMENTS, ids=relative_name)
def test_recipes_exist(document: Path) -> None:
    """Every `just ...` in code is a recipe of the justfile."""
    justfile = (ROOT / "justfile").read_text("utf-8")
    recipes = set(re.findall(r"^([a-z][a-z-]*)[^:\n]*:(?!=)", justfile, re.MULTILINE))
    assert set(re.findall(r"(?<!rust-)\bjust ([a-z][a-z-]*)", code(document.read_text("utf-8")))) <= recipes
