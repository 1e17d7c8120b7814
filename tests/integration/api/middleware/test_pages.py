"""The terminal's files, as an API worker serves them."""

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
import zstandard

from quotecast.api.middleware.pages import Pages, build_time, built_pages, can_build
from support.runs import virtual_time

PAGE = Path(__file__).parents[4] / "src/quotecast/web/page/index.html"
SCRIPT = b"console.log('terminal');" * 100


async def api(scope: Any, receive: Any, send: Any) -> None:
    """A fake API; its status marks the requests that reach it."""
    del receive
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 418, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """The output of a build, beside a private file."""
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>terminal</title>")
    (folder / "assets/terminal-ABC.js").write_bytes(SCRIPT)
    (folder / "assets/terminal-ABC.js.br").write_bytes(b"in brotli")
    (folder / "assets/terminal-ABC.js.zst").write_bytes(zstandard.compress(SCRIPT))
    (folder / "sw.js").write_text("'the service worker'")
    (folder / "manifest.webmanifest").write_text("{}")
    (folder / "icons").mkdir()
    (folder / "icons/192.png").write_bytes(b"\x89PNG")
    return folder


def client(folder: Path) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(Pages(api, built_pages(folder)))
    return httpx.AsyncClient(transport=transport, base_url="http://terminal")


@pytest.mark.parametrize(("with_admin", "status"), [(True, 200), (False, 418)])
async def test_page_of_operators_is_there_where_it_is_on(
    dist: Path, *, with_admin: bool, status: int
) -> None:
    """It has one path, with the policy of the terminal; where it is off, its paths reach the API."""
    (dist / "admin.html").write_text("<!doctype html><title>operators</title>")
    transport = httpx.ASGITransport(Pages(api, built_pages(dist, with_admin=with_admin)))
    async with httpx.AsyncClient(transport=transport, base_url="http://terminal") as http:
        page, file, terminal = [await http.get(path) for path in ("/admin", "/admin.html", "/")]
    assert (page.status_code, file.status_code) == (status, 418)
    if with_admin:
        assert "operators" in page.text
        assert page.headers["content-security-policy"] == terminal.headers["content-security-policy"]


async def test_pages_say_that_they_are_not_built(tmp_path: Path) -> None:
    """A checkout without `just web` explains itself at both paths, not by a 404."""
    transport = httpx.ASGITransport(Pages(api, built_pages(tmp_path / "none", with_admin=True)))
    async with httpx.AsyncClient(transport=transport, base_url="http://terminal") as http:
        pages = [await http.get(path) for path in ("/", "/admin")]
    assert [(page.status_code, "just web" in page.text) for page in pages] == [(200, True)] * 2


def test_each_build_of_a_checkout_is_served(dist: Path) -> None:
    """The page that names the new files follows a round later: another worker may be a round behind."""
    first = dist.parent / "first"
    seen: list[tuple[int, int, bool]] = []

    async def look(http: httpx.AsyncClient) -> None:
        page, script = await http.get("/"), await http.get("/assets/terminal-ABC.js")
        seen.append((page.status_code, script.status_code, "just web" in page.text))

    async def follow() -> None:
        pages = Pages(api, built_pages(first))
        following = asyncio.create_task(
            pages.follow_builds(first, build_time(first), with_admin=False, seconds=10)
        )
        transport = httpx.ASGITransport(pages)
        async with httpx.AsyncClient(transport=transport, base_url="http://terminal") as http:
            await asyncio.sleep(25)
            await look(http)
            dist.rename(first)  # noqa: ASYNC240 - nothing else runs meanwhile
            for _ in range(2):
                await asyncio.sleep(10)
                await look(http)
        following.cancel()

    virtual_time.run(follow())
    assert seen == [(200, 418, True), (200, 200, True), (200, 200, False)]


def test_only_a_checkout_can_build(dist: Path) -> None:
    """An installed wheel has no sources beside the built files, and its files stay those of its release."""
    assert not can_build(dist)
    (dist.parent / "build").write_text("#!/bin/sh\n")
    assert can_build(dist)


async def test_the_page_is_asked_for_each_time(dist: Path) -> None:
    """The page names the newest files; an unchanged page is a 304 without a body."""
    async with client(dist) as http:
        page = await http.get("/")
        again = await http.get("/", headers={"If-None-Match": page.headers["ETag"]})
    assert page.status_code == 200
    assert "terminal" in page.text
    assert page.headers["Cache-Control"] == "no-cache"
    assert (again.status_code, again.content) == (304, b"")


async def test_files_with_a_hash_are_cached_for_ever(dist: Path) -> None:
    """Changed content has another file name."""
    async with client(dist) as http:
        script = await http.get("/assets/terminal-ABC.js", headers={"Accept-Encoding": "identity"})
    assert script.content == SCRIPT
    assert script.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert script.headers["Cache-Control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("/sw.js", "text/javascript; charset=utf-8"),
        ("/manifest.webmanifest", "application/manifest+json"),
        ("/icons/192.png", "image/png"),
    ],
)
async def test_the_files_of_an_installed_page_are_asked_for_each_time(
    dist: Path, path: str, media_type: str
) -> None:
    """Their names stay the same in all versions: a stale service worker would keep an old page."""
    async with client(dist) as http:
        answer = await http.get(path)
    assert answer.headers["Content-Type"] == media_type
    assert answer.headers["Cache-Control"] == "no-cache"
    assert answer.headers["ETag"]


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("zstd", "zstd"),
        ("br;q=0, zstd", "zstd"),
        ("br; q=0.000", None),
        ("br;q=0.5, zstd", "zstd"),
        ("*", "br"),
        ("gzip", None),
        ("", None),
    ],
)
async def test_the_best_coding_that_the_client_takes_is_sent(
    dist: Path, accepted: str, coding: str | None
) -> None:
    """The worker sends what the build compressed, and compresses no file itself."""
    request = httpx.Request(
        "GET", "http://terminal/assets/terminal-ABC.js", headers={"Accept-Encoding": accepted}
    )
    async with client(dist) as http:
        answer = await http.send(request, stream=True)
        length = int(answer.headers["Content-Length"])
        sent = b"".join([part async for part in answer.aiter_raw()])
    assert answer.headers.get("Content-Encoding") == coding
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert len(sent) == length
    assert sent == (
        SCRIPT if coding is None else (dist / f"assets/terminal-ABC.js.{coding[:3]}").read_bytes()
    )


@pytest.mark.parametrize(
    "path",
    [
        "/api/health",
        "/../secret.txt",
        "/assets/../../secret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/assets",
        "/assets/terminal-ABC.js.br",
        "/index.html",
        "//",
    ],
)
async def test_every_other_path_is_the_apis(dist: Path, path: str) -> None:
    """No path of a request becomes a path on the disk."""
    raw = httpx.URL("http://terminal").copy_with(raw_path=path.encode())
    async with client(dist) as http:
        assert (await http.get(raw)).status_code == 418


async def test_head_has_no_body_and_other_methods_are_refused(dist: Path) -> None:
    """Pages can only be read."""
    async with client(dist) as http:
        head = await http.head("/")
        post = await http.post("/", headers={"x-request-id": "mine"})
        options = await http.options("/")
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["Content-Length"]) > 0
    assert (post.status_code, post.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert (post.json()["code"], post.json()["request_id"]) == ("method_not_allowed", "mine")
    assert post.headers["X-Request-ID"] == "mine"
    assert (options.status_code, options.headers["Allow"]) == (204, "GET, HEAD, OPTIONS")


async def test_without_a_build_the_page_says_how_to_build(tmp_path: Path) -> None:
    """It also links the API, which is complete without it."""
    async with client(tmp_path / "none") as http:
        page = await http.get("/")
    assert page.status_code == 200
    assert "just web" in page.text
    assert "/api/docs" in page.text


async def test_only_this_service_may_be_asked_and_no_code_is_inline(dist: Path) -> None:
    """The policy covers everything that a page can load, run or be framed by."""
    async with client(dist) as http:
        policy = (await http.get("/")).headers["Content-Security-Policy"]
    allowed = dict(directive.split(" ", 1) for directive in policy.split("; "))
    assert allowed["default-src"] == allowed["frame-ancestors"] == "'none'"
    own = ("script-src", "style-src", "connect-src", "worker-src", "manifest-src")
    assert {allowed[name] for name in own} == {"'self'"}
    assert "unsafe" not in policy


def test_the_page_itself_keeps_to_the_policy() -> None:
    """Its markup has no inline script, style or handler: browsers would refuse them."""
    page = PAGE.read_text()
    assert not re.search(r"<script(?![^>]* src=)|<style|\son\w+=|\sstyle=", page)
