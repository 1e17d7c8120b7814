"""Scopes of users' API keys: their one form, and what is refused."""

from typing import Any

import httpx
import pytest

from support.stages.account_service import User

KEYS = "/api/keys"


async def add(user: User, scope: object) -> httpx.Response:
    return await user.post(KEYS, {"name": "Ticker", "scope": scope})


async def change(user: User, made: dict[str, Any], scope: object) -> httpx.Response:
    return await user.ask("PATCH", f"{KEYS}/{made['id']}", json={"scope": scope})


async def test_scope_is_stored_in_one_form(user: User) -> None:
    """Blanks, repetitions, capitals of origins and their last slash go."""
    scope = {
        "feeds": ["market", "crypto", "market"],
        "symbols": [" AAPL ", "AAPL", "sector:Energy"],
        "origins": [" HTTPS://Example.com:8443/", "https://example.com:8443"],
        "addresses": ["192.0.2.7/24", "192.0.2.0/24", " 198.51.100.1 ", "2001:DB8::/32"],
    }
    made = (await add(user, scope)).json()
    assert made["scope"] == {
        "feeds": ["market", "crypto"],
        "symbols": ["AAPL", "sector:Energy"],
        "origins": ["https://example.com:8443"],
        "addresses": ["192.0.2.0/24", "198.51.100.1", "2001:db8::/32"],
    }
    changed = await change(user, made, {"origins": ["http://LOCALHOST/"]})
    assert changed.json()["scope"] == {"origins": ["http://localhost"]}
    assert (await change(user, made, {})).json()["scope"] == {}


@pytest.mark.parametrize(
    ("scope", "field"),
    [
        ({"symbol": ["AAPL"]}, "scope.symbol"),
        ({"feeds": ["stocks"]}, "scope.feeds[0]"),
        ({"symbols": ["A\nB"]}, "scope.symbols[0]"),
        ({"symbols": ["AAPL", "  "]}, "scope.symbols"),
        ({"symbols": ["AAPL"] * 501}, "scope.symbols"),
        ({"origins": ["example.com"]}, "scope.origins[0]"),
        ({"origins": ["https://example.com/page"]}, "scope.origins[0]"),
        ({"origins": ["*"]}, "scope.origins[0]"),
        ({"addresses": ["192.0.2.300"]}, "scope.addresses"),
        ({"addresses": ["   "]}, "scope.addresses"),
        ([], "scope"),
    ],
)
async def test_bad_scope_is_invalid(user: User, scope: object, field: str) -> None:
    """A misspelt bound must not widen a key, neither a new one nor a changed one."""
    made = (await add(user, {"feeds": ["doviz"]})).json()
    for refused in (await add(user, scope), await change(user, made, scope)):
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, field)
    assert (await user.get(KEYS)).json()[0]["scope"] == {"feeds": ["doviz"]}


async def test_misspelt_bound_is_named(user: User) -> None:
    refused = await add(user, {"symbol": ["AAPL"]})
    assert refused.json()["errors"] == [{"field": "scope.symbol", "message": "There is no such field"}]
    refused = await add(user, {"feeds": ["stocks"]})
    message = "Must be one of market, crypto, doviz"
    assert refused.json()["errors"] == [{"field": "scope.feeds[0]", "message": message}]
    added = await user.post(KEYS, {"name": "Ticker", "colour": "red"})
    assert (added.status_code, added.json()["name"]) == (201, "Ticker")
