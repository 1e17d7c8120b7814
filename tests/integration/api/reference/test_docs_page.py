"""The page that shows the OpenAPI document."""

import re

import httpx
import pytest

from quotecast.api.answers.answers import cached_for


async def test_the_page_works_from_this_server_alone(client: httpx.AsyncClient) -> None:
    """The page loads only files of this server, and has no inline script."""
    page = await client.get("/api/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "://" not in page.text
    assert all(not body.strip() for body in re.findall(r"<script[^>]*>(.*?)</script>", page.text, re.DOTALL))
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert {"/api/docs/swagger-ui.css", "/api/docs/swagger-ui-bundle.js", "/api/docs/docs.js"} <= set(loaded)
    for path in loaded:
        answer = await client.get(path)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, cached_for(3600).decode())


async def test_the_page_is_served_with_either_end(client: httpx.AsyncClient) -> None:
    """Its links do not depend on the slash."""
    assert (await client.get("/api/docs/")).content == (await client.get("/api/docs")).content


@pytest.mark.parametrize("name", ["swagger-ui.js.map", "index.html", "..%2fdocs.py", "%2e%2e", "docs.py"])
async def test_no_other_file_is_served(client: httpx.AsyncClient, name: str) -> None:
    assert (await client.get(f"/api/docs/{name}")).status_code == 404
