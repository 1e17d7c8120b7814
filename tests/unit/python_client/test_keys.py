"""API keys and tickets of the Python client: where they go, and where they must not."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from quotecast_client import ApiError, AsyncClient, Client, Forbidden, QuotecastError, Unauthorized
from quotecast_client.keys import address_with
from support.clients.client_faces import skip_certificates

KEY = "qc_live_0123456789abcdef01234567_CANARY-secret-of-43-characters-0123456789abc"

Answer = Callable[[httpx.Request], httpx.Response]
Asking = Callable[..., Any]


@pytest.fixture(params=["asyncio", "blocking"])
def asking(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Asking:
    """Returns a function that asks a service that gives an answer, by either face."""
    skip_certificates(monkeypatch)

    def ask_blocking(answer: Answer, ask: Callable[[Any], Any], **options: Any) -> Any:
        with Client("http://service", retries=0, **options) as client:
            client._http._client._transport = httpx.MockTransport(answer)
            return ask(client)

    def ask_asyncio(answer: Answer, ask: Callable[[Any], Any], **options: Any) -> Any:
        async def run() -> Any:
            async with AsyncClient("http://service", retries=0, **options) as client:
                client._http._client._transport = httpx.MockTransport(answer)
                return await ask(client)

        return asyncio.run(run())

    return ask_asyncio if request.param == "asyncio" else ask_blocking


def test_each_request_carries_the_key(asking: Asking) -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json={})

    asking(answer, lambda client: client.movers(), api_key=KEY, token="t")
    (request,) = asked
    assert (request.headers["X-API-Key"], request.headers["Authorization"]) == (KEY, "Bearer t")
    assert KEY not in str(request.url)


def test_a_client_without_a_key_sends_no_header_of_one(asking: Asking) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert "X-API-Key" not in request.headers
        return httpx.Response(200, json={})

    asking(answer, lambda client: client.movers())


def test_a_ticket_comes_from_the_key(asking: Asking) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert (request.method, request.url.path, request.content) == ("POST", "/api/keys/ticket", b"")
        assert request.headers["X-API-Key"] == KEY
        return httpx.Response(200, json={"ticket": "qc_ticket_a", "expires_in": 30})

    assert asking(answer, lambda client: client.new_ticket(), api_key=KEY) == "qc_ticket_a"


def test_a_key_follows_no_redirect_to_another_origin(asking: Asking) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(307, headers={"Location": "http://elsewhere/api/market/movers"})

    with pytest.raises(ApiError, match="307"):
        asking(answer, lambda client: client.movers(), api_key=KEY)
    assert asked == ["service"]


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "invalid_key", Unauthorized),
        (403, "key_scope", Forbidden),
        (403, "plan_sockets", Forbidden),
    ],
)
def test_a_refusal_has_its_code_and_detail(
    asking: Asking, status: int, code: str, kind: type[ApiError]
) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(status, json={"detail": 'Plan "free" has at most 2 sockets', "code": code})

    with pytest.raises(kind) as caught:
        asking(answer, lambda client: client.movers(), api_key=KEY)
    assert (caught.value.code, caught.value.message) == (code, 'Plan "free" has at most 2 sockets')


@pytest.mark.parametrize("failure", [httpx.ConnectError("refused"), None])
def test_no_log_and_no_error_shows_the_key(
    asking: Asking, caplog: pytest.LogCaptureFixture, failure: Exception | None
) -> None:
    """Not even the logs of the libraries at their most verbose."""
    caplog.set_level(logging.DEBUG)
    shown: list[str] = []

    def answer(_: httpx.Request) -> httpx.Response:
        if failure:
            raise failure
        return httpx.Response(401, json={"detail": "The API key is not valid", "code": "invalid_key"})

    def ask(client: Any) -> Any:
        shown.append(f"{client!r} {client.stream('market:AAPL')!r}")
        return client.movers()

    with pytest.raises(QuotecastError) as caught:
        asking(answer, ask, api_key=KEY)
    shown += [str(caught.value), repr(caught.value), repr(caught.value.__cause__), caplog.text]
    assert "CANARY" not in "".join(shown)


@pytest.mark.parametrize("wrong", [f"{KEY}\n", f" {KEY}", f"{KEY}é", ""])
@pytest.mark.parametrize("face", [Client, AsyncClient])
def test_a_key_that_no_header_can_carry_is_an_error_that_does_not_show_it(wrong: str, face: Any) -> None:
    """A file with a key often ends with a line end, and libraries quote a bad header."""
    with pytest.raises(ValueError, match="API key") as caught:
        face(api_key=wrong)
    assert "CANARY" not in repr(caught.value)


def test_a_client_has_a_key_or_tickets() -> None:
    with pytest.raises(ValueError, match="not both"):
        Client(api_key=KEY, ticket=lambda: "t")


def test_a_ticket_is_a_part_of_a_query() -> None:
    assert address_with("a b", "ws://service/api/ws") == "ws://service/api/ws?ticket=a%20b"
    assert address_with("a", "ws://service/feeds?region=eu") == "ws://service/feeds?region=eu&ticket=a"
