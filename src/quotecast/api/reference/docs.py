"""Routes of the OpenAPI and AsyncAPI documents, of the guides of docs/, and of their HTML pages."""

import asyncio
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from litestar import Router, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.response import Redirect
from msgspec import Struct
from swagger_ui_bundle import swagger_ui_path

from quotecast.api.answers.answers import CACHE_LISTS, Answer, SharedBody, document_answer
from quotecast.api.market.services import HttpRequest
from quotecast.api.reference.openapi import Reading, answered

#: The files of the pages; no other file of the bundle is public.
_HTML, _SCRIPT, _STYLE = (
    b"text/html; charset=utf-8",
    b"text/javascript; charset=utf-8",
    b"text/css; charset=utf-8",
)
_OWN: Final = {
    "docs.html": _HTML,
    "docs.js": _SCRIPT,
    "guide.js": _SCRIPT,
    "feeds.html": _HTML,
    "feeds.js": _SCRIPT,
    "feeds.css": _STYLE,
}
_BUNDLED: Final = {
    "swagger-ui.css": _STYLE,
    "swagger-ui-bundle.js": _SCRIPT,
    "favicon-32x32.png": b"image/png",
}

_PACKAGE: Final = Path(__file__).parents[2]
# An installed package holds the guides itself; a checkout has them at its top.
_FOLDERS: Final = (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs")
_MARKDOWN: Final = b"text/markdown; charset=utf-8"
_TEXT: Final = b"text/plain; charset=utf-8"
_HEADING: Final = re.compile(r"^\*\*(.+)\*\*$", re.MULTILINE)
_LINK: Final = re.compile(r"\]\((?!/|https?:)")
_GUIDES: Final = "/api/docs/guides/"
#: The part of llms.txt about the documents other than guides.
_API: Final = """\
## Machine-readable

- [OpenAPI](/api/openapi.json): every HTTP route, with schemas, examples and code samples.
- [AsyncAPI](/api/asyncapi.json): every frame and command of the WebSocket feeds.
- [State](/api/market/status): whether each feed is live, and whether its prices are simulated.
"""

#: Addresses that people and tools try first, and those that they mean.
_USUAL: Final = {
    "/docs": "/api/docs",
    "/redoc": "/api/docs",
    "/swagger": "/api/docs",
    "/api": "/api/docs",
    "/openapi.json": "/api/openapi.json",
    "/asyncapi.json": "/api/asyncapi.json",
    "/api/llms.txt": "/llms.txt",
}


class ReferencePages(Struct, frozen=True):
    """The OpenAPI and AsyncAPI documents, encoded."""

    openapi: SharedBody
    asyncapi: SharedBody


class Reference:
    """The documents of one application: a thread makes both at the first request for one."""

    def __init__(self, make: Callable[[], ReferencePages]) -> None:
        self._make = make
        self._making: asyncio.Task[ReferencePages] | None = None

    async def pages(self) -> ReferencePages:
        """Returns both documents."""
        if self._making is None:
            self._making = asyncio.create_task(asyncio.to_thread(self._make))
        # A client that leaves ends its own wait alone.
        return await asyncio.shield(self._making)


async def _pages(request: HttpRequest) -> ReferencePages:
    reference: Reference = request.app.state.reference
    return await reference.pages()


@get(
    "/openapi.json",
    operation_id="getOpenapi",
    summary="The routes, as OpenAPI 3.1",
    operation_class=Reading,
    responses=answered(dict[str, Any], {"openapi": "3.1.0"}, "The document"),
)
async def openapi(request: HttpRequest) -> Answer:
    """Returns the OpenAPI document."""
    return document_answer((await _pages(request)).openapi, CACHE_LISTS)


@get(
    "/asyncapi.json",
    operation_id="getAsyncapi",
    summary="The WebSocket feeds, as AsyncAPI 3.0",
    operation_class=Reading,
    responses=answered(dict[str, Any], {"asyncapi": "3.0.0"}, "The document"),
)
async def asyncapi(request: HttpRequest) -> Answer:
    """Describes channels, commands and frames of the feeds."""
    return document_answer((await _pages(request)).asyncapi, CACHE_LISTS)


@get("/docs", sync_to_thread=True, include_in_schema=False)
def page() -> Answer:
    """Returns the page of the interactive reference."""
    return document_answer(_file("docs.html"), CACHE_LISTS)


@get("/docs/{name:str}", sync_to_thread=True, include_in_schema=False)
def page_file(name: FromPath[str]) -> Answer:
    """Returns a file of a page, or the page of the feeds."""
    if name not in _OWN | _BUNDLED:
        raise NotFoundException
    return document_answer(_file(name), CACHE_LISTS)


@cache
def _file(name: str) -> SharedBody:
    folder = files("quotecast.api.reference") if name in _OWN else swagger_ui_path
    return SharedBody((folder / name).read_bytes(), (_OWN | _BUNDLED)[name])


@get("/api/docs/guides/{path:path}", sync_to_thread=True, include_in_schema=False)
def guide(path: FromPath[Path]) -> Answer:
    """Returns a guide's Markdown; a path without suffix is the page that renders it."""
    name = path.as_posix().lstrip("/")
    pages = guides()
    if name in pages:
        return document_answer(pages[name], CACHE_LISTS)
    if f"{name}.md" in pages:
        return document_answer(_guide_page(), CACHE_LISTS)
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
def _guide_page() -> SharedBody:
    return SharedBody(Path(__file__).with_name("guide.html").read_bytes(), _HTML)


@cache
def _summary() -> SharedBody:
    return SharedBody(llms_text(guides()["index.md"].body.decode()).encode(), _TEXT)


def llms_text(index: str) -> str:
    """Returns the list of documents in the format of llms.txt, from the text of docs/index.md."""
    title, summary = index.split("\n\n")[:2]
    lists = index[index.index("\n**") :].strip()
    linked = _LINK.sub(f"]({_GUIDES}", _HEADING.sub(r"## \1", lists))
    return "\n\n".join([title, f"> {' '.join(summary.split())}", _API.strip(), linked]) + "\n"


@get(list(_USUAL), sync_to_thread=False, include_in_schema=False)
def usual_address(request: HttpRequest) -> Redirect:
    """Leads from an address that other services have to the document that is meant."""
    return Redirect(_USUAL[request.url.path.rstrip("/")], status_code=307)


#: The guides, and the addresses outside `/api` too.
ROOT_ROUTER: Final = Router("/", route_handlers=[usual_address, guide, llms], opt={"feed": None})
ROUTER: Final = Router(
    "/api",
    route_handlers=[openapi, asyncapi, page, page_file],
    tags=["Reference"],
    opt={"tag": "The OpenAPI and AsyncAPI documents.", "feed": None},
)
