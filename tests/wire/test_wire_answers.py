"""Answers of a running service, as the contract says."""

import pytest

from support.servers.service import Service
from wire.asking import LOCAL_ORIGIN, ask


def test_every_unknown_symbol_of_five_letters_is_named(service: Service) -> None:
    """With 499 of 500 symbols unknown, the header lists exactly those."""
    unknown = [f"ZZ{number:03}" for number in range(499)]
    answer = service.get("/api/market/quotes", params={"symbols": ",".join(["AAPL", *unknown])})
    assert answer.headers["x-missing-symbols"].split(",") == unknown
    assert answer.headers["x-missing-count"] == "499"


def test_names_beyond_the_bound_are_counted(service: Service) -> None:
    """A header that is too short for all names holds complete names, and the count of all."""
    unknown = [f"{'Z' * 37}{number:03}" for number in range(500)]
    answer = service.get("/api/market/quotes", params={"symbols": ",".join(unknown)})
    named = answer.headers["x-missing-symbols"].split(",")
    assert named == unknown[: len(named)]
    assert len(named) == 3072 // 41
    assert answer.headers["x-missing-count"] == "500"


def test_a_batch_without_unknown_symbols_counts_none(service: Service) -> None:
    for symbols in ("AAPL", "all"):
        answer = service.get("/api/market/quotes", params={"symbols": symbols})
        assert answer.headers["x-missing-count"] == "0"
        assert "x-missing-symbols" not in answer.headers
        assert "X-Missing-Count" in answer.headers["access-control-expose-headers"]


def test_repeated_symbols_are_one_list(service: Service) -> None:
    answer = service.get("/api/market/quotes?symbols=AAPL&symbols=MSFT,NVDA")
    assert set(answer.json()) == {"AAPL", "MSFT", "NVDA"}
    with service.feed("/api/ws/market?symbols=AAPL&symbols=MSFT") as client:
        assert client.next_of("subscribed")["symbols"] == ["AAPL", "MSFT"]


def test_allstate_is_a_stock_like_others(service: Service) -> None:
    """`ALL` means everything only when it is the sole symbol, over REST and on the feed."""
    assert service.get("/api/market/quotes/ALL").json()["name"] == "The Allstate Corporation"
    assert list(service.get("/api/market/quotes?symbols=all,aapl").json()) == ["ALL", "AAPL"]
    assert len(service.get("/api/market/quotes?symbols=ALL").json()) > 400
    news = [service.get(f"/api/market/news?limit=50&symbols={word}").json() for word in ("ALL", "ALL,ALL")]
    assert len(news[0]) == 50
    assert all("ALL" in article["symbols"] for article in news[1])
    with service.feed("/api/ws/market") as client:
        for symbols, subscribed in (('["ALL"]', ["ALL"]), ('"ALL"', "all")):
            client.send(f'{{"action":"subscribe","symbols":{symbols}}}')
            assert client.next_of("subscribed")["symbols"] == subscribed


def test_selections_are_compressed(service: Service) -> None:
    """Selected quotes are compressed, as the whole list is."""
    symbols = ",".join(sorted(service.get("/api/market/quotes?symbols=all").json())[:100])
    packed = service.get(
        "/api/market/quotes", params={"symbols": symbols}, headers={"accept-encoding": "gzip"}
    )
    plain = service.get(
        "/api/market/quotes", params={"symbols": symbols}, headers={"accept-encoding": "identity"}
    )
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < len(plain.content) / 2
    assert "content-encoding" not in plain.headers
    assert {packed.headers["vary"], plain.headers["vary"]} == {"Accept-Encoding"}


def test_account_answers_are_compressed(service: Service, signed_in: dict[str, str]) -> None:
    """Account answers are compressed, except those with a token."""
    layout = {"layout": {"panes": ["chart"] * 2000}}
    assert ask(service, "PUT", "/api/terminal/layout", json=layout, headers=signed_in).status_code == 200
    packed = service.get("/api/terminal/layout", headers=signed_in | {"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "Accept-Encoding" in packed.headers["vary"]
    assert packed.json()["layout"] == layout["layout"]


@pytest.mark.parametrize(
    ("origin", "granted"),
    [
        (LOCAL_ORIGIN, True),
        ("http://127.0.0.1:3000", True),
        ("https://localhost", True),
        ("http://[::1]:8080", True),
        ("http://localhost.evil.test", False),
        ("http://localhost:5173.evil.test", False),
        ("https://example.org", False),
        ("null", False),
    ],
)
def test_in_development_local_pages_may_use_accounts(
    service: Service,
    origin: str,
    granted: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    answer = service.get("/api/auth/profile", headers={"origin": origin})
    preflight = ask(
        service,
        "OPTIONS",
        "/api/auth/profile",
        headers={"origin": origin, "access-control-request-method": "PATCH"},
    )
    for each in (answer, preflight):
        assert each.headers.get("access-control-allow-origin") == (origin if granted else None)
        assert each.headers["vary"] == "Origin"
