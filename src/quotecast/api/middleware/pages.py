"""The terminal's page and its files, served in front of the API.

The build writes the files to `web/dist`. A worker reads them at the start and, in a checkout, after builds.
It looks a path up among them, so no path of a request becomes one on the disk. Other paths go to the API.
"""

import asyncio
import os
from collections.abc import Awaitable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any, Final

from msgspec import Struct

from quotecast.api.answers.answers import JSON, VARY, content_tag, matches, negotiation_headers
from quotecast.api.middleware.ambiguity import is_ambiguous
from quotecast.api.middleware.bodies import announces_body, with_whole_body
from quotecast.api.middleware.middleware import is_harmless
from quotecast.asgi import App, Header, content_length, header_value, respond
from quotecast.codings import best_coding
from quotecast.errors import Problem
from quotecast.market.codec import encode_json

#: Content codings by the suffix of their files, the smallest first.
_CODINGS: Final = {".br": b"br", ".zst": b"zstd", ".gz": b"gzip"}
_MEDIA_TYPES: Final = {
    ".html": b"text/html; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".svg": b"image/svg+xml",
    ".png": b"image/png",
    ".webmanifest": b"application/manifest+json",
}
_INDEX: Final = "/index.html"
#: The operator's page, and its path.
_ADMIN: Final = "/admin.html"
_ADMIN_PATH: Final = "/admin"
#: File names in this folder hold a hash of the content.
_HASHED: Final = "/assets/"
_FOREVER: Final = b"public, max-age=31536000, immutable"
_ALWAYS_ASK: Final = b"no-cache"

#: Only this service: no inline code, no other origin, no frame around the page.
_POLICY: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    b"worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_SECURITY: Final[tuple[Header, ...]] = (
    (b"content-security-policy", _POLICY),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
_ALLOW: Final = (b"allow", b"GET, HEAD, OPTIONS")

_UNBUILT: Final = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="2">
<title>quotecast</title>
<p>quotecast serves its <a href="/api/docs">API</a>. This page is not built yet: it appears
when <code>just up</code> or <code>just web</code> has built it.</p>
</html>
"""


class Page(Struct, frozen=True):
    """One file: its bytes by content coding (b"" for none), its headers and its entity tag."""

    bodies: dict[bytes, bytes]
    headers: tuple[Header, ...]
    tag: bytes

    @property
    def codings(self) -> tuple[bytes, ...]:
        """The content codings that the build made, the smallest body first."""
        return tuple(filter(None, self.bodies))


class Pages:
    """ASGI application that answers the terminal's own paths and passes the others on to `app`."""

    def __init__(self, app: App, pages: Mapping[str, Page]) -> None:
        self._app = app
        self._pages = pages

    async def follow_builds(
        self, folder: Path, built: int, *, with_admin: bool, seconds: float = 1.0
    ) -> None:
        """Serves the files of each build in `folder` that is newer than `built`, a result of `build_time`.

        Another worker may notice a build one round earlier. So a worker has the files of a build for one
        round before it serves the page that names them.
        """
        while True:
            await asyncio.sleep(seconds)
            newest = build_time(folder)
            # There is no build for a moment while one takes the place of another.
            if newest in {0, built}:
                continue
            pages = built_pages(folder, with_admin=with_admin)
            self._pages = {**pages, **self._pages}
            await asyncio.sleep(seconds)
            self._pages, built = pages, newest

    def __call__(self, scope: Any, receive: Any, send: Any) -> Awaitable[None]:
        """Serves one connection. No coroutine of its own: every request passes here."""
        page = self._pages.get(scope["path"]) if scope["type"] == "http" else None
        if page is None or is_ambiguous(scope):
            return self._app(scope, receive, send)
        if any(announces_body(*header) for header in scope["headers"]):
            _, send = with_whole_body(receive, send)
        if scope["method"] in {"GET", "HEAD"}:
            return _answer(page, scope, send)
        if scope["method"] == "OPTIONS":
            return respond(send, 204, [*_SECURITY, _ALLOW])
        return _refuse(scope, send)


def built_folder() -> Path:
    """Returns the folder of the built files."""
    return Path(str(files("quotecast"))) / "web" / "dist"


def can_build(folder: Path) -> bool:
    """Returns whether the folder's sources are beside it: in a checkout, not in an installed wheel."""
    return (folder.parent / "build").is_file()


def build_time(folder: Path) -> int:
    """Returns the time of the folder's build, in nanoseconds; 0 without a build."""
    try:
        return (folder / "index.html").stat().st_mtime_ns
    except OSError:
        return 0


def built_pages(folder: Path, *, with_admin: bool = False) -> dict[str, Page]:
    """Returns the built files by path; without a build, pages that say so and reload themselves.

    The operator's page is among them `with_admin` only.
    """
    found = dict(_files(folder, "/")) if folder.is_dir() else {}
    pages: dict[str, Page] = {}
    for path, body in found.items():
        if path.endswith(tuple(_CODINGS)):
            continue
        coded = {name: found[path + suffix] for suffix, name in _CODINGS.items() if path + suffix in found}
        bodies = {**coded, b"": body}
        media_type = _MEDIA_TYPES.get(PurePosixPath(path).suffix, b"application/octet-stream")
        pages[path] = _page_of(bodies, media_type, _FOREVER if path.startswith(_HASHED) else _ALWAYS_ASK)
    index, admin = pages.pop(_INDEX, None), pages.pop(_ADMIN, None)
    unbuilt = _page_of({b"": _UNBUILT}, _MEDIA_TYPES[".html"], _ALWAYS_ASK)
    if with_admin:
        pages[_ADMIN_PATH] = admin or unbuilt
    return pages | {"/": index or unbuilt}


def _files(folder: Path, prefix: str) -> Iterator[tuple[str, bytes]]:
    # `rglob` passes over folders that cannot be read, and links to folders.
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry.read_bytes()


def _page_of(bodies: dict[bytes, bytes], media_type: bytes, cache: bytes) -> Page:
    tag = content_tag(bodies[b""])
    more = ((b"content-type", media_type), (b"cache-control", cache), (b"etag", tag))
    return Page(bodies, (*_SECURITY, *more, VARY), tag)


async def _answer(page: Page, scope: Any, send: Any) -> None:
    condition, encodings = negotiation_headers(scope["headers"])
    if matches(condition, page.tag):
        await respond(send, 304, [*page.headers])
        return
    coding = best_coding(encodings, page.codings)
    body = page.bodies[coding]
    headers = [*page.headers, content_length(body)]
    if coding:
        headers.append((b"content-encoding", coding))
    await respond(send, 200, headers, b"" if scope["method"] == "HEAD" else body)


async def _refuse(scope: Any, send: Any) -> None:
    """Answers 405 in the format of the API's errors."""
    given = header_value(scope, b"x-request-id")
    request_id = given if given and is_harmless(given) else os.urandom(8).hex().encode()
    body = encode_json(Problem("Method Not Allowed", "method_not_allowed", request_id.decode()))
    content = ((b"content-type", JSON), content_length(body))
    await respond(send, 405, [*_SECURITY, _ALLOW, (b"x-request-id", request_id), *content], body)
