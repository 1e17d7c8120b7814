"""The decorator that marks a read as repeatable."""

import inspect

import pytest
from litestar import get
from litestar.params import FromPath, FromQuery

from quotecast.api.answers.answers import Answer
from quotecast.api.limits.repeats import Repeats, repeatable
from quotecast.api.limits.throttle import Throttle
from quotecast.api.market.services import HttpRequest, Services
from quotecast.api.middleware.middleware import Middleware
from quotecast.limits.decision import Decision
from quotecast.limits.fallback import LocalWindow
from support.made.factories import app_of, client_to, full_mirrors, services

LIMITS = dict.fromkeys(("auth", "market", "crypto", "doviz", "financials", "portfolio", "watchlist"), 5)


def answer_of(text: str) -> Answer:
    return Answer(text.encode(), [(b"content-type", b"text/plain")], tag=None)


@get("/api/market/plain/{name:str}", sync_to_thread=False, opt={"feed": None, "limit": "market"})
@repeatable
def plain(services: Services, name: FromPath[str], times: FromQuery[int] = 1) -> Answer:
    """Repeats a name."""
    assert services.mirrors
    return answer_of(name * times)


@get("/api/market/awaited/{name:str}", opt={"feed": None, "limit": "market"})
@repeatable
async def awaited(services: Services, name: FromPath[str], times: FromQuery[int] = 1) -> Answer:
    """Repeats a name."""
    assert services.mirrors
    return answer_of(name * times)


class Window:
    """Counts in memory and remembers the keys."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self._window = LocalWindow(60)

    async def check(self, key: str, limit: int) -> Decision:
        self.keys.append(key)
        return self._window.check(key, limit)

    async def give_back(self, key: str) -> None:
        self._window.give_back(key)


def everybody(_: object) -> str:
    return "everybody"


@pytest.mark.parametrize("kind", ["plain", "awaited"])
async def test_marked_read_is_routed_once_and_admitted_each_time(kind: str) -> None:
    """The same function admits on both ways: one key, one count, the same headers, 429 past the limit."""
    made, window = services(full_mirrors()), Window()
    throttle = Throttle(
        window.check,
        window.give_back,
        limits=LIMITS,
        find=made.names.find,
        identify=everybody,
        by_address=everybody,
    )
    app = app_of(made, extra_handlers=[plain, awaited], throttle=throttle)
    routed = 0

    async def counted(scope: object, receive: object, send: object) -> None:
        nonlocal routed
        routed += 1
        await app(scope, receive, send)  # type: ignore[arg-type]  # passed through

    repeats = Repeats(counted, throttle=throttle)
    edge = Middleware(repeats, cors_origins=["*"], account_origins=[], websocket_origins=["*"])
    async with client_to(edge) as client:
        answers = [await client.get(f"/api/market/{kind}/ab?times=2") for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert {answer.text for answer in answers[:5]} == {"abab"}
    assert [answer.headers["x-ratelimit-remaining"] for answer in answers] == ["4", "3", "2", "1", "0", "0"]
    assert routed == 1
    assert set(window.keys) == {f"everybody /api/market/{kind}/{{name}} ?"}


def test_handler_has_the_request_in_place_of_the_services() -> None:
    """Litestar sees the read's name, text, parameters and defaults."""

    def read(services: Services, name: str, times: int = 1) -> Answer:
        """Repeats a name."""
        assert services.mirrors
        return answer_of(name * times)

    handler = repeatable(read)
    parameters = inspect.signature(handler).parameters
    assert [*parameters] == ["request", "name", "times"]
    assert parameters["request"].annotation is HttpRequest
    assert parameters["times"].default == 1
    assert (handler.__name__, handler.__doc__) == ("read", "Repeats a name.")
