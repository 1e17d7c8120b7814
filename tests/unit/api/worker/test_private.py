"""Account routes are recognised by what they declare, wherever they are."""

import asyncio
from functools import cache
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from litestar import get
from litestar.exceptions import ImproperlyConfiguredException
from litestar.params import FromPath

from quotecast.api.gate.identity import require_token
from quotecast.api.reference.account_operations import SECURED
from quotecast.api.worker.app import build_app, private_prefixes
from quotecast.users.tokens import Tokens
from support.made.factories import NOW, client_of, empty_mirrors, services

#: They ask for no token, and answer with one.
ENTRANCES = {"/api/auth/login", "/api/auth/register"}
USER = "0" * 24
OTHER = {"origin": "https://other.test"}


@get("/api/market/alerts/{number:int}", security=SECURED, guards=[require_token], opt={"feed": None})
async def alerts(number: FromPath[int]) -> str:
    """A secured route outside the folders of account routes."""
    return f"alert {number}"


@get("/api/market/alerts", security=SECURED)
async def unguarded() -> str:
    """A secured route that asks for no token."""
    return "everybody's alerts"


def tokens() -> Tokens:
    return Tokens(["a secret of at least thirty-two bytes"], lifetime_seconds=60, clock=lambda: NOW)


@cache
def document(*handlers: Any) -> dict[str, Any]:
    app = build_app(services(empty_mirrors()), extra_handlers=handlers)
    parsed: dict[str, Any] = msgspec.json.decode(asyncio.run(app.state.reference.pages()).openapi.body)
    return parsed


def secured_paths(*handlers: Any) -> set[str]:
    """Returns the paths of the operations that the OpenAPI document calls secured."""
    paths = document(*handlers)["paths"].items()
    return {path for path, item in paths if any(map(needs_token, item.values()))}


def needs_token(operation: dict[str, Any]) -> bool:
    """Returns whether an operation has no answer without a token; `{}` makes an API key optional."""
    return {} not in (operation["security"] or [{}])


def test_private_paths_are_those_that_the_openapi_document_secures() -> None:
    """And the entrances: what login and register answer belongs to one user."""
    private = private_prefixes(build_app(services(empty_mirrors()), extra_handlers=[alerts]))
    secured = {path.partition("/{")[0] for path in secured_paths(alerts)}
    assert "/api/market/alerts" in secured
    assert set(private) == secured | ENTRANCES


async def test_a_new_secured_route_is_private_by_its_own_declaration() -> None:
    """Behind the edge it asks for a token; no cache stores its answers, and no other origin reads them."""
    issued = tokens()
    made = services(empty_mirrors(), accounts=SimpleNamespace(tokens=issued))
    async with client_of(made, extra_handlers=[alerts]) as client:
        stranger = await client.get("/api/market/alerts/1", headers=OTHER)
        bearer = {"authorization": f"Bearer {issued.issue(USER, 0, USER)}"}
        private = await client.get("/api/market/alerts/1", headers=OTHER | bearer)
        public = await client.get("/api/health", headers=OTHER)
    assert (stranger.status_code, stranger.json()["code"]) == (401, "not_authenticated")
    assert (private.status_code, private.text) == (200, "alert 1")
    for answer in (stranger, private):
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
    assert public.headers["access-control-allow-origin"] == "*"


def test_a_secured_route_without_the_guard_is_not_served() -> None:
    """The OpenAPI document would promise a token that the route never asks for."""
    with pytest.raises(ImproperlyConfiguredException, match=r"/api/market/alerts declares security"):
        build_app(services(empty_mirrors()), extra_handlers=[unguarded])


@pytest.mark.parametrize("path", sorted(secured_paths()))
async def test_every_secured_path_asks_for_a_token(path: str) -> None:
    """With any of its methods, and the refusal is not stored either."""
    made = services(empty_mirrors(), accounts=SimpleNamespace(tokens=tokens()))
    methods = document()["paths"][path]
    async with client_of(made) as client:
        answers = [await client.request(method, path) for method in methods]
    assert [answer.status_code for answer in answers] == [401] * len(methods)
    assert {answer.headers["cache-control"] for answer in answers} == {"no-store"}
