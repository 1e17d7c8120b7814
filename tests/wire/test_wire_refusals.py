"""Refusals of a running service, as the contract says."""

from typing import Any

import pytest

from support.servers.service import Service
from wire.asking import LOCAL_ORIGIN, ask, fields


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/auth/profile?x=%FF"),
        ("PATCH", "/api/auth/profile"),
        ("GET", "/api/portfolio/holdings?include=nonsense"),
        ("POST", "/api/portfolio/holdings"),
        ("DELETE", "/api/portfolio/holdings/nonsense"),
        ("GET", "/api/watchlist?include=nonsense"),
        ("POST", "/api/watchlist"),
        ("GET", "/api/watchlists"),
        ("PUT", "/api/watchlist/order"),
        ("DELETE", "/api/watchlist/AAPL?type=nonsense"),
        ("GET", "/api/terminal/layout"),
        ("PUT", "/api/terminal/layout"),
    ],
)
def test_without_a_token_nothing_is_read_or_validated(service: Service, method: str, path: str) -> None:
    """Without a token the service answers 401, even to malformed and oversized bodies."""
    body = {} if method in {"GET", "DELETE"} else {"content": b"{" * 100_000}
    answer = ask(service, method, path, **body)
    assert (answer.status_code, answer.json()["detail"]) == (401, "Not authenticated")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_errors_name_the_parameter_as_it_was_sent(service: Service, signed_in: dict[str, str]) -> None:
    answer = ask(service, "DELETE", "/api/watchlist/AAPL?type=bond", headers=signed_in)
    assert fields(answer) == ["type"]


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/market/quotes", "GET, HEAD, OPTIONS"),
        ("/api/crypto/quotes/BTC-USDT", "GET, HEAD, OPTIONS"),
        ("/api/auth/login", "OPTIONS, POST"),
        ("/api/auth/profile", "DELETE, GET, HEAD, OPTIONS, PATCH"),
        ("/api/portfolio/holdings", "GET, HEAD, OPTIONS, POST"),
        ("/api/watchlist", "GET, HEAD, OPTIONS, POST"),
        ("/api/watchlist/AAPL", "DELETE, OPTIONS"),
        ("/api/watchlist/order", "OPTIONS, PUT"),
        ("/api/watchlists", "GET, HEAD, OPTIONS, POST"),
        ("/api/watchlists/default", "DELETE, OPTIONS, PATCH"),
        ("/api/terminal/layout", "GET, HEAD, OPTIONS, PUT"),
        ("/api/ws/market", "GET, HEAD, OPTIONS"),
        ("/api/health", "GET, HEAD, OPTIONS"),
        ("/api/docs", "GET, HEAD, OPTIONS"),
    ],
)
def test_options_and_a_wrong_method_say_the_same(service: Service, path: str, allowed: str) -> None:
    options, refused = ask(service, "OPTIONS", path), ask(service, "TRACE", path)
    assert (options.status_code, refused.status_code) == (204, 405)
    assert options.headers.get_list("allow") == refused.headers.get_list("allow") == [allowed]
    assert refused.json()["code"] == "method_not_allowed"


def test_a_body_too_large_has_one_code(service: Service, signed_in: dict[str, str]) -> None:
    """An oversized body gets the same error code from the global bound and from a route's."""
    bodies: list[Any] = [{"layout": {"a": "x" * 90_000}}, {"layout": {"a": "x" * 70_000}}]
    answers = [ask(service, "PUT", "/api/terminal/layout", json=body, headers=signed_in) for body in bodies]
    assert [each.status_code for each in answers] == [413, 413]
    assert {(each.json()["detail"], each.json()["code"]) for each in answers} == {
        ("Payload Too Large", "too_large")
    }


@pytest.mark.parametrize("path", ["/api/%00", "/api/" + "a" * 2000, "/api/nothing"])
def test_a_path_that_cannot_be_is_refused_as_any_other(service: Service, path: str) -> None:
    answer = service.get(path, headers={"origin": LOCAL_ORIGIN})
    assert answer.status_code == 404
    assert answer.json() == {
        "detail": "Not Found",
        "code": "not_found",
        "request_id": answer.headers["x-request-id"],
    }
    assert answer.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(
    "content",
    [
        b'{"name": 1, "email',
        b'{"name": null} trailing',
        b'{"other": nul, "name": 3}',
        b'{"name": true, "n": 01}',
        b"[1, 2",
        b'"text',
        b"",
    ],
)
def test_malformed_json_is_400_whatever_comes_first(
    service: Service, signed_in: dict[str, str], content: bytes
) -> None:
    answer = ask(service, "PATCH", "/api/auth/profile", content=content, headers=signed_in)
    assert (answer.status_code, answer.json()["detail"]) == (400, "Malformed JSON")


@pytest.mark.parametrize(
    "path",
    [
        "/api/market/quotes/BRK%2FB",
        "/api/market/bars/BRK%2fB",
        "/api/doviz/quotes/a%2Fb",
        "/api/crypto/quotes/A%2FB",
        "/api/financials/company/BRK%2FB/metrics",
        "/api/financials/company/BRK%2FB/overview",
    ],
)
def test_a_symbol_with_a_slash_is_an_unknown_symbol(service: Service, path: str) -> None:
    answer = service.get(path)
    assert (answer.status_code, answer.json()["detail"]) == (404, "Symbol not found")


@pytest.mark.parametrize("ticker", ["", "  "])
@pytest.mark.parametrize("path", ["/api/watchlist", "/api/portfolio/holdings"])
def test_an_empty_ticker_is_invalid(
    service: Service, signed_in: dict[str, str], path: str, ticker: str
) -> None:
    body = {"ticker": ticker, "shares": 1, "avg_cost": 1}
    assert fields(ask(service, "POST", path, json=body, headers=signed_in)) == ["ticker"]


@pytest.mark.parametrize("path", ["/api/ws", "/api/ws/market", "/api/ws/crypto", "/api/ws/doviz"])
def test_a_plain_get_of_a_feed_asks_for_an_upgrade(service: Service, path: str) -> None:
    answer = service.get(path, headers={"origin": LOCAL_ORIGIN})
    assert answer.status_code == 426
    assert answer.headers["upgrade"] == "websocket"
    assert answer.json()["detail"] == "This path is a WebSocket feed: connect with a WebSocket client"
    assert answer.json()["code"] == "upgrade_required"
    assert answer.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(
    ("request_", "field", "message"),
    [
        (("PATCH", "/api/auth/profile", {"name": None}), "name", "Must be text, not null"),
        (("PATCH", "/api/auth/profile", {"name": 3}), "name", "Must be text, not a whole number"),
        (("PATCH", "/api/auth/profile", []), "body", "Must be an object, not a list"),
        (("PATCH", "/api/auth/profile", {}), "name", "Must be given"),
        (("PUT", "/api/terminal/layout", {"layout": {}, "version": -1}), "version", "Must be at least 0"),
        (
            ("POST", "/api/watchlist", {"ticker": "AAPL", "type": "bond"}),
            "type",
            "Must be one of stock, crypto, doviz",
        ),
        (("GET", "/api/market/assets?limit=ten", None), "limit", "Must be a whole number from 1 to 10000"),
        (("GET", "/api/market/assets?limit=0", None), "limit", "Must be a whole number from 1 to 10000"),
        (("GET", "/api/watchlist?include=all", None), "include", "Must be quote"),
        (
            ("GET", f"/api/market/assets?search={'x' * 101}", None),
            "search",
            "Must have at most 100 characters",
        ),
    ],
)
def test_errors_are_readable_text(
    service: Service, signed_in: dict[str, str], request_: tuple[str, str, Any], field: str, message: str
) -> None:
    method, path, body = request_
    answer = ask(service, method, path, headers=signed_in, **({} if body is None else {"json": body}))
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"field": field, "message": message}]
