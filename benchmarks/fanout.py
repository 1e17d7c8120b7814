"""Figures of feeds."""

import json
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.contenders import (
    Contender,
    Feed,
    bun,
    fastapi,
    go,
    litestar,
    nchan,
    node,
    quotecast,
    uwebsockets,
)
from benchmarks.figures import (
    BUN,
    FASTAPI,
    OURS,
    Round,
    bytes_per_quote_of,
    listeners_of,
    with_everything,
)
from benchmarks.load import ListenerResult, OverloadedError, listen
from quotecast.market import reference

NCHAN: Final = "nchan"
BATCHED: Final = "nchan, batched"
UWEBSOCKETS: Final = "uWebSockets"
NODE: Final = "Node ws"
GO: Final = "Go gorilla"
BUN_BATCHED: Final = "Bun, batched"
UWEBSOCKETS_BATCHED: Final = "uWebSockets, batched"
GO_BATCHED: Final = "Go gorilla, batched"
#: Quotes a second of the market: each of 500 symbols moves four times.
SYMBOLS: Final = 500
MOVES_PER_SECOND: Final = 4
LISTENERS: Final = 500
#: 10,000 would need more than the core of the load generator.
MANY_LISTENERS: Final = 2500
#: Age of quotes in milliseconds above which a contender does not sustain a load, and gets a lighter one.
BOUNDED_MS: Final = 1000.0
#: Listeners: with the smallest interval, ten frames a second, they are offered 25,000 frames a second.
SMALL_LISTENERS: Final = 2500
SMALL_PER_SECOND: Final = 10
#: Seconds until all listeners are connected.
SETTLING_SECONDS: Final = 4.0
#: Loads in frames a second.
SATURATING: Final = (90_000, 120_000)
OWN_SYMBOLS: Final = 20
ONE_PAIR_PATHS: Final = ("/api/ws/crypto?symbols=BTC-USD&interval=100",)

#: A market of stocks alone, as the peers'.
MARKET: Final = {
    "QUOTECAST_SIMULATOR_RATE": str(SYMBOLS * MOVES_PER_SECOND),
    "QUOTECAST_CRYPTO": "none",
    "QUOTECAST_DOVIZ": "none",
}


def small_frames(seconds: float) -> Iterator[Round]:
    """Yields frames per second of server CPU; one quote in each."""
    yield from _measure_each(
        _small(Feed(SMALL_PER_SECOND, symbols=1)),
        SMALL_LISTENERS,
        seconds,
        lambda result: result.frames_per_cpu_second,
        sustains=_misses_none,
    )


def small_frames_saturated(seconds: float) -> Iterator[Round]:
    """Yields the most frames per second under any of several loads; the last load is too much for all.

    The service has a shortest interval, so a heavier load is more listeners; the peers' publisher is faster
    by
    the same factor instead.
    """
    while True:
        found: dict[str, float] = {}
        for offered in SATURATING:
            feed = Feed(offered / SMALL_LISTENERS, symbols=1, delay_seconds=SETTLING_SECONDS)
            for each in _small(feed):
                if each.name not in (OURS, NCHAN, FASTAPI):
                    continue
                listeners = offered // SMALL_PER_SECOND if each.name == OURS else SMALL_LISTENERS
                result = _listen(each, listeners, seconds, warm=SETTLING_SECONDS + 2)
                found[each.name] = max(found.get(each.name, 0.0), result.frames / result.seconds)
                found[bytes_per_quote_of(each.name)] = result.bytes_per_quote
        yield found


def market(seconds: float) -> Iterator[Round]:
    """Yields quotes per second of server CPU, with all symbols for each listener."""
    yield from _measure_each(_market(), LISTENERS, seconds, lambda result: result.quotes_per_cpu_second)


def market_of_many(seconds: float) -> Iterator[Round]:
    """Yields the same as `market` of the contenders that send one frame for a tick, to 2,500 listeners."""
    contenders = [each for each in _market() if each.name in (OURS, BATCHED, UWEBSOCKETS_BATCHED)]
    yield from _measure_each(contenders, MANY_LISTENERS, seconds, lambda result: result.quotes_per_cpu_second)


def market_of_many_deflated(seconds: float) -> Iterator[Round]:
    """Yields the same with compression."""
    contenders = [each for each in _market_deflated() if each.name in (OURS, BATCHED)]
    yield from _measure_each(contenders, MANY_LISTENERS, seconds, lambda result: result.quotes_per_cpu_second)


def small_frames_over_veth(seconds: float) -> Iterator[Round]:
    """Yields the same as `small_frames`, between two network namespaces."""
    yield from _measure_each(
        _small(Feed(SMALL_PER_SECOND, symbols=1)),
        SMALL_LISTENERS,
        seconds,
        lambda result: result.frames_per_cpu_second,
        sustains=_misses_none,
        over_veth=True,
    )


def market_over_veth(seconds: float) -> Iterator[Round]:
    """Yields the same as `market`, between two network namespaces."""
    yield from _measure_each(
        _market(), LISTENERS, seconds, lambda result: result.quotes_per_cpu_second, over_veth=True
    )


def market_deflated(seconds: float) -> Iterator[Round]:
    """Yields quotes per second of server CPU, with all symbols and compression for each listener."""
    yield from _measure_each(
        _market_deflated(), LISTENERS, seconds, lambda result: result.quotes_per_cpu_second
    )


def bytes_per_quote(seconds: float) -> Iterator[Round]:
    """Yields bytes on the wire per quote, with all symbols and compression for each listener."""
    ours = [each for each in _market_deflated() if each.name == OURS]
    yield from _measure_each(
        ours, LISTENERS, seconds, lambda result: result.bytes_per_quote, is_per_cpu=False
    )


def bytes_per_price(seconds: float) -> Iterator[Round]:
    """Yields bytes on the wire per quote, with the price of all symbols as rows, compressed."""
    paths = ("/api/ws/market?symbols=all&interval=250&fields=price",)
    contender = Contender(OURS, lambda: quotecast(MARKET), paths, deflate=True, rows=True)
    yield from _measure_each(
        [contender],
        LISTENERS,
        seconds,
        lambda result: result.bytes_per_quote,
        sustains=_serves_all,
        is_per_cpu=False,
    )


def market_age(seconds: float) -> Iterator[Round]:
    """Yields the age of quotes at the listeners, 99th percentile in milliseconds."""
    contenders = [each for each in _market() if each.name in (OURS, BATCHED)]
    yield from _measure_each(contenders, LISTENERS, seconds, lambda result: result.age_p99, is_per_cpu=False)


def own_lists(seconds: float) -> Iterator[Round]:
    """Yields quotes per second of server CPU, with twenty own symbols for each listener."""
    contenders = [
        Contender(OURS, lambda: quotecast(MARKET), own_paths(LISTENERS, 250)),
        Contender(FASTAPI, fastapi(Feed(SYMBOLS * MOVES_PER_SECOND)), _peer_paths(LISTENERS)),
    ]
    yield from _measure_each(contenders, LISTENERS, seconds, lambda result: result.quotes_per_cpu_second)


def own_paths(count: int, interval: int) -> list[str]:
    """Returns the paths of that many listeners, each with its own stocks."""
    chance = random.Random(1)
    tickers = [stock.ticker for stock in reference.stocks()]
    lists = (",".join(chance.sample(tickers, OWN_SYMBOLS)) for _ in range(count))
    return [f"/api/ws/market?symbols={symbols}&interval={interval}" for symbols in lists]


def _peer_paths(count: int) -> list[str]:
    chance = random.Random(1)
    lists = (chance.sample(range(SYMBOLS), OWN_SYMBOLS) for _ in range(count))
    return ["/ws?symbols=" + ",".join(f"S{number:04}" for number in numbers) for numbers in lists]


def _small(feed: Feed) -> list[Contender]:
    return [
        Contender(OURS, lambda: quotecast(_one_pair()), ONE_PAIR_PATHS),
        Contender(NCHAN, nchan(feed)),
        Contender(UWEBSOCKETS, uwebsockets(feed)),
        Contender(BUN, bun(feed)),
        Contender(GO, go(feed)),
        Contender(NODE, node(feed)),
        Contender(FASTAPI, fastapi(feed)),
        Contender("Litestar channels", litestar(feed), ("/ws/quotes",)),
    ]


def _market() -> list[Contender]:
    every_move, batches = Feed(SYMBOLS * MOVES_PER_SECOND), Feed(MOVES_PER_SECOND, SYMBOLS)
    return [
        Contender(OURS, lambda: quotecast(MARKET), ("/api/ws/market?symbols=all&interval=250",)),
        Contender(NCHAN, nchan(every_move)),
        Contender(BATCHED, nchan(batches)),
        Contender(UWEBSOCKETS_BATCHED, uwebsockets(batches)),
        Contender(BUN_BATCHED, bun(batches)),
        Contender(GO_BATCHED, go(batches)),
        Contender(FASTAPI, fastapi(every_move)),
    ]


def _market_deflated() -> list[Contender]:
    batches = Feed(MOVES_PER_SECOND, SYMBOLS)
    paths = ("/api/ws/market?symbols=all&interval=250",)
    return [
        Contender(OURS, lambda: quotecast(MARKET), paths, deflate=True),
        Contender(BATCHED, nchan(batches, deflate=True), deflate=True),
        Contender(UWEBSOCKETS_BATCHED, uwebsockets(batches, deflate=True), deflate=True),
        Contender(BUN_BATCHED, bun(batches, deflate=True), deflate=True),
        Contender(GO_BATCHED, go(batches, deflate=True), deflate=True),
    ]


def _one_pair() -> dict[str, str]:
    """Returns settings that replay one pair, which moves more often than the smallest interval."""
    path = Path(tempfile.gettempdir()) / "quotecast-bench-one-pair.ndjson"
    start = datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp()
    path.write_text("".join(_ticker(start + step / 50, step) for step in range(50 * 600)))
    return {
        "QUOTECAST_CRYPTO": "replay",
        "QUOTECAST_STOCKS": "none",
        "QUOTECAST_DOVIZ": "none",
        "QUOTECAST_REPLAY_FILE": str(path),
    }


def _ticker(moment: float, step: int) -> str:
    time = datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")
    ticker = {
        "type": "ticker",
        "sequence": step + 1,
        "product_id": "BTC-USD",
        "price": f"{92_000 + step % 100 / 100:.2f}",
        "open_24h": "91900.00",
        "low_24h": "90500.00",
        "high_24h": "93000.00",
        "volume_24h": "12345.678",
        "best_bid": "91999.99",
        "best_ask": "92001.01",
        "time": time,
    }
    return f"{moment:.3f} {json.dumps(ticker)}\n"


def _is_young(result: ListenerResult) -> bool:
    return result.age_p99 <= BOUNDED_MS and _serves_all(result)


def _serves_all(result: ListenerResult) -> bool:
    return result.served == result.listeners


def _misses_none(result: ListenerResult) -> bool:
    return result.frames >= 0.95 * SMALL_PER_SECOND * result.listeners * result.seconds


def _measure_each(
    contenders: Sequence[Contender],
    listeners: int,
    seconds: float,
    value: Callable[[ListenerResult], float],
    sustains: Callable[[ListenerResult], bool] = _is_young,
    *,
    is_per_cpu: bool = True,
    over_veth: bool = False,
) -> Iterator[Round]:
    """Measures the contenders in turn, each under the heaviest load that it sustains.

    A value per CPU second of the server comes with the same per CPU second of everything behind the sockets.
    """
    loads: dict[str, int] = {}
    while True:
        found: dict[str, float] = {}
        for each in contenders:
            count = loads.get(each.name, listeners)
            result = _reduce_load(each, count, seconds, sustains, over_veth=over_veth)
            loads[each.name] = result.listeners
            found[each.name] = value(result)
            found[bytes_per_quote_of(each.name)] = result.bytes_per_quote
            if is_per_cpu:
                part = result.server_cpu_seconds / result.total_cpu_seconds
                found[with_everything(each.name)] = value(result) * part
            if result.listeners < listeners:
                found[listeners_of(each.name)] = result.listeners
        yield found


def _reduce_load(
    contender: Contender,
    listeners: int,
    seconds: float,
    sustains: Callable[[ListenerResult], bool],
    *,
    over_veth: bool,
) -> ListenerResult:
    """Reduces the listeners until the contender sustains the load."""
    while True:
        with suppress(OverloadedError):
            result = _listen(contender, listeners, seconds, over_veth=over_veth)
            if listeners == 1 or sustains(result):
                return result
        listeners = max(1, listeners // 2)


def _listen(
    contender: Contender, listeners: int, seconds: float, warm: float = 1.5, *, over_veth: bool = False
) -> ListenerResult:
    with contender.start() as server:
        port = server.feed_port or server.port
        return listen(
            port,
            contender.paths,
            listeners,
            server.pids,
            warm=warm,
            seconds=seconds,
            deflate=contender.deflate,
            rows=contender.rows,
            over_veth=over_veth,
        )
