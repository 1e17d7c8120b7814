"""Figures: their structure, and the figures of HTTP."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import httpx
from msgspec import Struct

from benchmarks import load
from benchmarks.contenders import Feed, Server, bun, constant, fastapi, quotecast
from benchmarks.load import ask

#: Values by contender, of one round.
Round = Mapping[str, float]

OURS: Final = "quotecast"
BARE: Final = "bare granian"
FASTAPI: Final = "FastAPI"
BUN: Final = "Bun"
BUN_SAME: Final = "Bun, same limiter"
#: No key of the limiter is hot, so none is leased.
CLIENTS: Final = f"{OURS}, 4,096 clients"
QUOTES: Final = "500 quotes"
_FEW: Final = "/api/market/quotes?symbols=AAPL,MSFT,NVDA"


def listeners_of(contender: str) -> str:
    """Returns the key of a round's values for the number of a contender's listeners, if reduced."""
    return f"listeners of {contender}"


def bytes_per_quote_of(contender: str) -> str:
    """Returns the key of a round's values for the bytes on the wire per quote to a contender's listeners."""
    return f"bytes per quote of {contender}"


def with_everything(contender: str) -> str:
    """Returns the key of a round's values that count the CPU of publisher, broker and server."""
    return f"everything behind {contender}"


class Goal(Struct, frozen=True):
    """Required ratio of ours to a peer's: at least `least`."""

    peer: str
    least: float
    #: Whether the CPU of everything behind the sockets counts, and not the server's alone.
    everything: bool = False


class Figure(Struct, frozen=True):
    """One row of the table: `rounds` yields each round's values, endlessly."""

    name: str
    what: str
    unit: str
    rounds: Callable[[float], Iterator[Round]]
    goals: tuple[Goal, ...] = ()
    #: Required value of ours by itself.
    at_most: float | None = None
    at_least: float | None = None


def quotes_few(seconds: float) -> Iterator[Round]:
    """Yields requests per second of server CPU: three quotes."""
    yield from _http(_FEW, "/quotes?symbols=S0000,S0001,S0002", seconds, unlimited=True)


def quotes_unhurried(seconds: float) -> Iterator[Round]:
    """Yields microseconds of server CPU for a request for three quotes, at about 10,000 a second."""
    with quotecast() as server:
        url = f"http://127.0.0.1:{server.port}{_FEW}"
        while True:
            answered = ask(url, server.pids, seconds, script=load.UNHURRIED)
            yield {OURS: 1e6 / answered.per_cpu_second, "requests per second": answered.per_second}


def quotes_all(seconds: float) -> Iterator[Round]:
    """Yields requests per second of server CPU: five hundred quotes."""
    yield from _http("/api/market/quotes?symbols=all", "/quotes?symbols=all", seconds)


def prices_converted(seconds: float) -> Iterator[Round]:
    """Yields requests per second of server CPU: 500 prices in another currency, and 500 quotes by name."""
    with quotecast({"QUOTECAST_LIMIT_PRICES": "1000000"}) as server:
        url = f"http://127.0.0.1:{server.port}"
        known = [each["ticker"] for each in httpx.get(f"{url}/api/market/assets").raise_for_status().json()]
        symbols = ",".join(known[:500])
        paths = {
            OURS: f"/api/prices?currency=EUR&symbols={symbols}",
            QUOTES: f"/api/market/quotes?symbols={symbols}",
        }
        for path in paths.values():
            httpx.get(url + path).raise_for_status()
        while True:
            yield {name: ask(url + path, server.pids, seconds).per_cpu_second for name, path in paths.items()}


def bars_cached(seconds: float) -> Iterator[Round]:
    """Yields requests per second of server CPU: five years of daily bars, from the cache."""
    yield from _http("/api/market/bars/AAPL?range=5Y&interval=D", None, seconds)


def overview_cached(seconds: float) -> Iterator[Round]:
    """Yields requests per second of server CPU: a company's overview, from the cache."""
    yield from _http("/api/financials/company/AAPL/overview", None, seconds)


def _http(ours: str, theirs: str | None, seconds: float, *, unlimited: bool = False) -> Iterator[Round]:
    """Starts all contenders at once, and loads them in turn."""
    with contextlib.ExitStack() as stack:
        serving = stack.enter_context(quotecast())
        url = f"http://127.0.0.1:{serving.port}{ours}"
        answer = httpx.get(url, timeout=30)
        answer.raise_for_status()
        asked: dict[str, tuple[Server, str]] = {OURS: (serving, ours)}
        if unlimited:
            asked[f"{OURS}, limits off"] = (
                stack.enter_context(quotecast({"QUOTECAST_LIMITS": "off"})),
                ours,
            )
            proxied = {"QUOTECAST_TRUSTED_PROXIES": "127.0.0.1"}
            asked[CLIENTS] = (stack.enter_context(quotecast(proxied)), ours)
        asked[BARE] = (stack.enter_context(constant(answer.content)()), "/")
        if theirs:
            one_port = stack.enter_context(quotecast({"QUOTECAST_FEED_PORT": "0"}))
            asked[f"{OURS}, one port for feeds too"] = (one_port, ours)
            asked[FASTAPI] = (stack.enter_context(fastapi(Feed(25.0))()), theirs)
            asked[BUN] = (stack.enter_context(bun(Feed(25.0))()), theirs)
            if unlimited:
                asked[BUN_SAME] = (stack.enter_context(bun(Feed(25.0), same_limiter=True)()), theirs)
        while True:
            yield {
                name: ask(
                    f"http://127.0.0.1:{server.port}{path}",
                    server.pids,
                    seconds,
                    script=load.CLIENTS if name == CLIENTS else None,
                ).per_cpu_second
                for name, (server, path) in asked.items()
            }
