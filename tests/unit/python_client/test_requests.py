"""Requests of the Python client: which it repeats, when, and what it makes of errors."""

import asyncio
import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import httpx
import pytest

import quotecast_client._async.io
import quotecast_client._sync.io
from quotecast_client import (
    ApiError,
    AsyncClient,
    Client,
    ConnectionFailed,
    NotFound,
    RateLimited,
    Unauthorized,
    Unavailable,
    UnknownSymbols,
)
from quotecast_client.calls import Call
from quotecast_client.retries import retry_after
from support.clients.client_faces import skip_certificates

Answers = list[httpx.Response | Exception]


class Service:
    """Answers requests in turn, and remembers them and the waits between them."""

    def __init__(self, answers: Answers) -> None:
        self._answers = iter(answers)
        self.requests: list[httpx.Request] = []
        self.waits: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        return answer


Ask = Callable[[Any], Any]
Asking = Callable[[Answers, Ask], tuple[Any, Service]]


@pytest.fixture(params=["asyncio", "blocking"])
def asking(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Asking:
    """Returns a function that makes a call to a service with the given answers, by either face."""
    skip_certificates(monkeypatch)

    def ask_blocking(answers: Answers, ask: Ask) -> tuple[Any, Service]:
        service = Service(answers)
        monkeypatch.setattr(quotecast_client._sync.io, "sleep", service.waits.append)
        with Client("http://service") as client:
            client._http._client._transport = httpx.MockTransport(service)
            return ask(client), service

    def ask_asyncio(answers: Answers, ask: Ask) -> tuple[Any, Service]:
        service = Service(answers)

        async def sleep(seconds: float) -> None:
            service.waits.append(seconds)

        async def run() -> Any:
            async with AsyncClient("http://service") as client:
                client._http._client._transport = httpx.MockTransport(service)
                return await ask(client)

        monkeypatch.setattr(quotecast_client._async.io, "sleep", sleep)
        return asyncio.run(run()), service

    return ask_asyncio if request.param == "asyncio" else ask_blocking


def ok(body: Any = None) -> httpx.Response:
    return httpx.Response(200, json=body if body is not None else {})


def problem(status: int, headers: dict[str, str] | None = None, **body: Any) -> httpx.Response:
    return httpx.Response(status, headers=headers, json={"detail": "No", **body})


def test_a_limited_request_waits_for_as_long_as_the_service_says(asking: Asking) -> None:
    movers, service = asking([problem(429, {"Retry-After": "7"}), ok({"a": 1})], lambda c: c.movers())
    assert movers == {"a": 1}
    assert service.waits == [7.0]


def test_a_request_that_would_wait_for_long_fails_at_once(asking: Asking) -> None:
    with pytest.raises(RateLimited) as caught:
        asking([problem(429, {"Retry-After": "61"})], lambda c: c.movers())
    assert caught.value.retry_after == 61


def test_repetitions_are_bounded(asking: Asking) -> None:
    with pytest.raises(Unavailable) as caught:
        asking([problem(503, code="upstream")] * 4, lambda c: c.movers())
    assert (caught.value.status, caught.value.code) == (503, "upstream")


def test_a_service_without_a_provider_is_not_asked_again(asking: Asking) -> None:
    """Its 503 has no Retry-After; that of a proxy has no request id and may pass."""
    missing = problem(503, {"X-Request-ID": "r1"}, code="no_provider")
    with pytest.raises(Unavailable):
        asking([missing], lambda c: c.movers())
    _, service = asking([ok(), missing], lambda c: c.quotes("usd"))
    assert service.waits == []


def test_a_lost_connection_is_tried_again(asking: Asking) -> None:
    _, service = asking(
        [httpx.ConnectError("refused"), httpx.ReadTimeout("late"), ok()], lambda c: c.movers()
    )
    assert len(service.requests) == 3
    assert 0.4 <= service.waits[0] <= 0.6
    assert 0.8 <= service.waits[1] <= 1.2


def test_a_service_that_is_away_is_an_error(asking: Asking) -> None:
    with pytest.raises(ConnectionFailed):
        asking([httpx.ConnectError("refused")] * 4, lambda c: c.movers())


def test_a_login_is_not_repeated(asking: Asking) -> None:
    """Neither after an error nor after a lost answer: the service may have counted it."""
    with pytest.raises(RateLimited):
        asking([problem(429, {"Retry-After": "1"})], lambda c: c.login("a@example.com", "secret"))
    with pytest.raises(ConnectionFailed):
        asking([httpx.ReadTimeout("late")], lambda c: c.login("a@example.com", "secret"))


def test_a_holding_is_repeated_with_the_same_key(asking: Asking) -> None:
    _, service = asking([httpx.ReadTimeout("late"), ok()], lambda c: c.portfolio.add("AAPL", 1, 2))
    first, second = (request.headers["Idempotency-Key"] for request in service.requests)
    assert first == second


def test_another_holding_has_another_key(asking: Asking) -> None:
    _, one = asking([ok()], lambda c: c.portfolio.add("AAPL", 1, 2))
    _, other = asking([ok()], lambda c: c.portfolio.add("AAPL", 1, 2))
    assert one.requests[0].headers["Idempotency-Key"] != other.requests[0].headers["Idempotency-Key"]


def test_an_error_has_what_a_report_needs(asking: Asking) -> None:
    errors = [{"field": "q", "message": "too long"}]
    answer = problem(422, detail="Bad q", code="invalid", request_id="r1", errors=errors)
    with pytest.raises(ApiError) as caught:
        asking([answer], lambda c: c.search("x" * 65))
    error = caught.value
    assert (error.status, error.code, error.message, error.request_id) == (422, "invalid", "Bad q", "r1")
    assert error.errors == errors
    assert str(error) == "Bad q: q: too long (422, invalid, request r1)"


def test_a_proxys_error_page_is_an_error_too(asking: Asking) -> None:
    page = httpx.Response(404, headers={"X-Request-ID": "r2"}, text="<html>")
    with pytest.raises(NotFound) as caught:
        asking([page], lambda c: c.company("AAPL"))
    assert (caught.value.message, caught.value.request_id) == ("HTTP status 404", "r2")


def test_the_token_of_a_login_goes_with_later_requests(asking: Asking) -> None:
    def ask(client: Any) -> Any:
        if isinstance(client, Client):
            client.login("a@example.com", "secret")
            return client.profile()

        async def both() -> Any:
            await client.login("a@example.com", "secret")
            return await client.profile()

        return both()

    _, service = asking([ok({"token": "t"}), ok()], ask)
    assert json.loads(service.requests[0].content) == {"email": "a@example.com", "password": "secret"}
    assert service.requests[1].headers["Authorization"] == "Bearer t"


def test_a_void_token_is_its_own_error(asking: Asking) -> None:
    with pytest.raises(Unauthorized):
        asking([problem(401, code="invalid_token")], lambda c: c.profile())


def test_every_name_is_asked_of_the_feeds_that_may_have_it(asking: Asking) -> None:
    """The market answers a list; a feed that does not have a symbol says so, and the next one is asked."""
    answers: Answers = [
        ok({"AAPL": {"type": "stock_quote", "ticker": "AAPL"}}),
        ok({"type": "crypto_quote", "ticker": "BTC/USDT"}),
        problem(404, code="symbol_not_found"),
        ok({"type": "doviz_quote", "symbol": "gram-altin"}),
    ]
    names = ["aapl", "btc/usdt", "gram-altin"]
    quotes, service = asking(answers, lambda c: c.quotes(names))
    assert {name: quote["type"] for name, quote in quotes.items()} == {
        "aapl": "stock_quote",
        "btc/usdt": "crypto_quote",
        "gram-altin": "doviz_quote",
    }
    assert [request.url.raw_path.decode() for request in service.requests] == [
        "/api/market/quotes?symbols=aapl%2Cgram-altin",
        "/api/crypto/quotes/btc%2Fusdt",
        "/api/crypto/quotes/gram-altin",
        "/api/doviz/quotes/gram-altin",
    ]


def test_a_former_symbol_gets_the_present_ones_quote(asking: Asking) -> None:
    """By the name that asked; no other feed is asked for it."""
    renamed = {"x-renamed-symbols": "FB=META"}
    answers: Answers = [
        httpx.Response(200, json={"META": {"type": "stock_quote", "ticker": "META"}}, headers=renamed),
        httpx.Response(
            200,
            json={"type": "crypto_quote", "ticker": "POL/USDT"},
            headers={"x-renamed-symbols": "MATIC-USDT=POL/USDT"},
        ),
    ]
    quotes, service = asking(answers, lambda c: c.quotes(["fb", "crypto:matic-usdt"]))
    assert {name: quote["ticker"] for name, quote in quotes.items()} == {
        "fb": "META",
        "crypto:matic-usdt": "POL/USDT",
    }
    assert len(service.requests) == 2


@pytest.mark.parametrize(
    "ask",
    [
        lambda client, moment: client.prices("AAPL", as_of=moment),
        lambda client, moment: client.price_history("AAPL", as_of=moment),
        lambda client, moment: client.rate("EUR", "TRY", as_of=moment),
        lambda client, moment: client.bars("market:AAPL", "D", as_of=moment),
        lambda client, moment: client.portfolio.value(as_of=moment),
    ],
)
def test_what_was_known_is_asked_for(asking: Asking, ask: Callable[[Any, datetime], Any]) -> None:
    moment = datetime(2026, 11, 20, 14, 31, tzinfo=UTC)
    _, service = asking([ok({})], lambda client: ask(client, moment))
    assert service.requests[0].url.params["as_of"] == "2026-11-20T14:31:00Z"


def test_prices_and_bars_are_adjusted_and_metals_measured(asking: Asking) -> None:
    wish: dict[str, Any] = {"adjusted": "all", "kind": "doviz", "unit": "gram", "fineness": "22k"}
    sent = {"adjusted": "all", "type": "doviz", "unit": "gram", "fineness": "22k"}
    _, service = asking([ok({})], lambda c: c.prices("XAU", **wish))
    assert dict(service.requests[0].url.params) == {"symbols": "XAU", **sent}
    _, service = asking([ok({})], lambda c: c.price_history("XAU", "EUR", **wish))
    assert dict(service.requests[0].url.params) == {"currency": "EUR", **sent}
    _, service = asking([ok([])], lambda c: c.bars("market:AAPL", "D", adjustment="raw"))
    assert dict(service.requests[0].url.params) == {"interval": "D", "adjustment": "raw"}


def test_actions_are_asked_for_as_of_a_moment(asking: Asking) -> None:
    moment = datetime(2026, 11, 20, 14, 31, tzinfo=UTC)
    found, service = asking([ok([])], lambda c: c.actions(["AAPL", "KO"], "2026-01-01", as_of=moment))
    assert found == []
    assert dict(service.requests[0].url.params) == {
        "symbols": "AAPL,KO",
        "start": "2026-01-01",
        "as_of": "2026-11-20T14:31:00Z",
    }


def test_many_names_of_a_feed_are_one_request(asking: Asking) -> None:
    names = [f"crypto:{base}/USDT" for base in "ABCDEF"]
    quotes, service = asking(
        [ok({"A/USDT": {"type": "crypto_quote", "ticker": "A/USDT"}})], lambda c: c.quotes(names)
    )
    assert list(quotes) == ["crypto:A/USDT"]
    assert [request.url.path for request in service.requests] == ["/api/crypto/quotes"]


def test_the_ticker_all_is_no_list_of_everything(asking: Asking) -> None:
    _, service = asking([ok()], lambda c: c.quotes(["market:ALL"]))
    assert service.requests[0].url.params["symbols"] == "ALL,ALL"


def test_values_of_a_query_are_those_of_the_service() -> None:
    call = Call[None](
        "GET", "/", {"a": datetime(2026, 3, 1, tzinfo=UTC), "b": date(2026, 3, 1), "c": None, "d": True}
    )
    assert call.parameters() == {"a": "2026-03-01T00:00:00Z", "b": "2026-03-01", "d": "true"}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5", 5.0),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 90.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(text: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": text}, 10.0) == seconds


def test_all_pages_of_a_history_come_from_the_feed_that_has_the_symbol(asking: Asking) -> None:
    def ask(client: Any) -> Any:
        if isinstance(client, Client):
            return list(client.history("XU100", "1h", "2026-11-01"))

        async def collected() -> Any:
            return [bar async for bar in client.history("XU100", "1h", "2026-11-01")]

        return collected()

    first = httpx.Response(200, headers={"X-Next-Page": "p2"}, json=[{"time": "1"}])
    answers: Answers = [problem(404, code="symbol_not_found"), first, ok([{"time": "2"}])]
    bars, service = asking(answers, ask)
    assert [bar["time"] for bar in bars] == ["1", "2"]
    assert [request.url.path.split("/")[2] for request in service.requests] == ["market", "doviz", "doviz"]
    assert service.requests[-1].url.params["page"] == "p2"


def test_all_quotes_of_a_feed_come_page_by_page(asking: Asking) -> None:
    def ask(client: Any) -> Any:
        if isinstance(client, Client):
            return list(client.all_quotes("crypto", 2))

        async def collected() -> Any:
            return [quote async for quote in client.all_quotes("crypto", 2)]

        return collected()

    body = {"A/B": {"ticker": "A/B"}, "B/C": {"ticker": "B/C"}}
    first = httpx.Response(200, headers={"X-Next-After": "B/C"}, json=body)
    quotes, service = asking([first, ok({"C/D": {"ticker": "C/D"}})], ask)
    assert [quote["ticker"] for quote in quotes] == ["A/B", "B/C", "C/D"]
    assert [dict(request.url.params) for request in service.requests] == [
        {"limit": "2"},
        {"limit": "2", "after": "B/C"},
    ]


def unknown(message: str | None = None) -> httpx.Response:
    errors = [{"field": "symbol", "message": message}] if message else []
    return problem(404, code="symbol_not_found", errors=errors)


def first_change(client: Any, names: str) -> Any:
    stream = client.stream(names)
    return anext(stream) if isinstance(client, AsyncClient) else next(stream)


def test_a_stream_of_unknown_symbols_says_what_they_may_mean(asking: Asking) -> None:
    """No answer about one of them hides that of the others."""
    answers: Answers = [ok(), *[unknown()] * 3, unknown("Did you mean AAPL?"), unknown(), problem(500)]
    with pytest.raises(UnknownSymbols) as caught:
        asking(answers, lambda c: first_change(c, "APPL,NOPE,MSTF"))
    assert str(caught.value) == "no feed has APPL, NOPE, MSTF; APPL: Did you mean AAPL?"
    assert caught.value.proposals == {"APPL": "Did you mean AAPL?"}


def test_bars_of_an_unknown_symbol_say_what_it_may_mean(asking: Asking) -> None:
    """Whichever feed said so."""
    with pytest.raises(NotFound, match=r"Did you mean AAPL\?"):
        asking([unknown("Did you mean AAPL?"), unknown()], lambda c: c.bars("APPL"))


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:8000", "must begin with http:// or https://, as in http://127.0.0.1:8000"),
        ("localhost", "must begin with http:// or https://, as in http://localhost"),
        ("ws://127.0.0.1:8000", "must begin with http:// or https://, as in http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000/api", "must end before /api: http://127.0.0.1:8000"),
        ("https://example.com/quotes/api/", "must end before /api: https://example.com/quotes"),
    ],
)
@pytest.mark.parametrize("face", [Client, AsyncClient])
def test_an_address_that_cannot_work_is_refused_at_once(face: Any, address: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        face(address)
