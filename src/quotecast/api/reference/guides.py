"""The guides of docs/, served beside the reference: as Markdown, and as pages that render it."""

import re
from functools import cache
from pathlib import Path
from typing import Final

from litestar import Router, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from quotecast.api.answers.answers import CACHE_LISTS, Answer, SharedBody, document_answer

_PACKAGE: Final = Path(__file__).parents[2]
# An installed package holds the guides itself; a checkout has them at its top.
_FOLDERS: Final = (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs")
_MARKDOWN: Final = b"text/markdown; charset=utf-8"
_HTML: Final = b"text/html; charset=utf-8"
_TEXT: Final = b"text/plain; charset=utf-8"
_HEADING: Final = re.compile(r"^\*\*(.+)\*\*$", re.MULTILINE)
_LINK: Final = re.compile(r"\]\((?!/|https?:)")

PREFIX: Final = "/api/docs/guides/"
_API: Final = """\
## Machine-readable

- [OpenAPI](/api/openapi.json): every HTTP route, with schemas, examples and code samples.
- [AsyncAPI](/api/asyncapi.json): every frame and command of the WebSocket feeds.
- [State](/api/market/status): whether each feed is live, and whether its prices are simulated.
"""


@get("/api/docs/guides/{path:path}", sync_to_thread=True, include_in_schema=False)
def guide(path: FromPath[Path]) -> Answer:
    """Returns a guide's Markdown; a path without suffix is the page that renders it."""
    name = path.as_posix().lstrip("/")
    files = guides()
    if name in files:
        return document_answer(files[name], CACHE_LISTS)
    if f"{name}.md" in files:
        return document_answer(_page(), CACHE_LISTS)
    raise NotFoundException


@get("/llms.txt", sync_to_thread=True, include_in_schema=False)
def llms() -> Answer:
    """Returns the summary of the service and its documents for language models (llmstxt.org)."""
    return document_answer(_summary(), CACHE_LISTS)


@cache
def guides() -> dict[str, SharedBody]:
    """Returns pages by their path in docs/: a request's path is never one on the disk."""
    folder = next((each for each in _FOLDERS if each.is_dir()), _FOLDERS[0])
    return {
        path.relative_to(folder).as_posix(): SharedBody(path.read_bytes(), _MARKDOWN)
        for path in folder.rglob("*.md")
    }


@cache
def _page() -> SharedBody:
    return SharedBody(Path(__file__).with_name("guide.html").read_bytes(), _HTML)


@cache
def _summary() -> SharedBody:
    return SharedBody(llms_text(guides()["index.md"].body.decode()).encode(), _TEXT)


def llms_text(index: str) -> str:
    """Returns the list of documents in the format of llms.txt, from the text of docs/index.md."""
    title, summary = index.split("\n\n")[:2]
    lists = index[index.index("\n**") :].strip()
    linked = _LINK.sub(f"]({PREFIX}", _HEADING.sub(r"## \1", lists))
    return "\n\n".join([title, f"> {' '.join(summary.split())}", _API.strip(), linked]) + "\n"


ROUTER: Final = Router("/", route_handlers=[guide, llms], opt={"feed": None})
