"""The service answers its own guides, and their summary for language models."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from quotecast.mcp.resources import PAGES as TOOL_PAGES
from support.made.factories import client_to, edge_of, full_mirrors, services

DOCS = Path(__file__).parents[4] / "docs"
GUIDES = "/api/docs/guides"
PAGES = {page: page.read_bytes() for page in sorted(DOCS.rglob("*.md"))}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with client_to(edge_of(services(full_mirrors()))) as client:
        yield client


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
async def test_every_guide_is_served(client: httpx.AsyncClient, page: Path) -> None:
    """A guide is Markdown, and without its suffix a page that loads nothing from another host."""
    name = page.relative_to(DOCS)
    answer = await client.get(f"{GUIDES}/{name}")
    assert answer.content == PAGES[page]
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    shown = await client.get(f"{GUIDES}/{name.with_suffix('')}")
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
    assert "://" not in shown.text
    for path in re.findall(r'(?:src|href)="([^"]+)"', shown.text):
        assert (await client.get(path)).status_code == 200


@pytest.mark.parametrize(
    "name",
    [
        "site.css",
        "benchmarks.png",
        "nope",
        "../README.md",
        "%2e%2e/README.md",
        "..%2fREADME.md",
        "/etc/passwd",
        "",
    ],
)
async def test_no_other_file_is_a_guide(client: httpx.AsyncClient, name: str) -> None:
    assert (await client.get(f"{GUIDES}/{name}")).status_code == 404


async def test_the_changelog_is_a_guide(client: httpx.AsyncClient) -> None:
    assert (await client.get(f"{GUIDES}/changelog.md")).content == (DOCS.parent / "CHANGELOG.md").read_bytes()


async def test_llms_txt_has_the_published_form(client: httpx.AsyncClient) -> None:
    """A title, a summary as a quote, and sections of links with a description (llmstxt.org)."""
    answer = await client.get("/llms.txt")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    title, summary, *sections = answer.text.strip().split("\n\n")
    assert title == "# quotecast"
    assert summary.startswith("> quotecast is ")
    assert "\n" not in summary
    for heading, links in zip(sections[::2], sections[1::2], strict=True):
        assert heading.startswith("## ")
        for line in links.splitlines():
            assert re.fullmatch(r"- \[[^]]+\]\(/[^)]+\): .+", line), line


async def test_llms_txt_names_every_guide_and_the_documents(client: httpx.AsyncClient) -> None:
    """Every link has an answer; guides link to Markdown."""
    links = re.findall(r"\]\(([^)]+)\)", (await client.get("/llms.txt")).text)
    assert {"/api/openapi.json", "/api/asyncapi.json"} < set(links)
    guides = {f"{GUIDES}/{page.name}" for page in DOCS.glob("*.md")} - {f"{GUIDES}/index.md"}
    assert guides <= set(links)
    assert {path: (await client.get(path)).status_code for path in links} == dict.fromkeys(links, 200)


async def test_pages_that_tools_name_have_an_answer(client: httpx.AsyncClient) -> None:
    answers = {path: (await client.get(path)).status_code for path in TOOL_PAGES}
    assert answers == dict.fromkeys(TOOL_PAGES, 200)
