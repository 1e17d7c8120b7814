"""Three thousand malformed and hostile messages over real sockets."""

import asyncio
import json
import random
from collections.abc import Iterator
from typing import Any, Final

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from quotecast.feed.client import MAX_FAULTS
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.stream.endpoint import Streams
from quotecast.stream.hubs import FeedHubs, hub_of
from quotecast.stream.server import serve_feeds
from support.made.market import state_of, stock
from support.runs.deadlines import scaled

MESSAGES: Final = 3_000
PATH: Final = "/api/ws/market"
ANSWERS: Final = {"error", "pong", "subscribed", "snapshot", "update"}
PIECES: Final = (
    *('{"action":', '"subscribe"', '"ping"', '"list"', '"unsubscribe"', "}", "]", "[", "{", ":", ",", '"'),
    *('"symbols"', '["AAPL"]', '"all"', '"id"', '"since"', '"interval"', "1e999", "-0", "9" * 40, "NaN"),
    *("null", "true", "\\ud800", "\0", "\ufeff", "ş", "🐎", "../../etc/passwd", "'; DROP TABLE users; --"),
    *("A" * 5000, "[" * 2000, '{"a":' * 500, '"sector:Energy"', '"\\u0000"', "100", " "),
)


def messages(seed: int) -> Iterator[str | bytes]:
    """Draws text that resembles commands, and random bytes."""
    draw = random.Random(seed)
    for _ in range(MESSAGES):
        if draw.random() < 0.3:
            yield draw.randbytes(draw.randrange(200))
        else:
            yield "".join(draw.choices(PIECES, k=draw.randrange(12)))


def feeds() -> Streams:
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of([stock("AAPL"), stock("MSFT")]))
    return Streams(
        _nothing,
        FeedHubs({Feed.STOCKS: hub_of(mirror, 15_000)}),
        heartbeat_ms=15_000,
        sockets_per_address=0,
        address_of=lambda _: "",
    )


async def _nothing(_scope: Any, _receive: Any, _send: Any) -> None:
    """Serves no HTTP."""


async def send_until_closed(url: str, given: Iterator[str | bytes]) -> int | None:
    """Sends until the feed closes the connection; checks that each answer is a documented frame."""
    async with connect(url, max_size=None) as client:
        try:
            assert json.loads(await client.recv())["type"] == "welcome"
            # Each bad command gets an answer, so that this many fit before the close.
            for message in given:
                await client.send(message)
                assert json.loads(await client.recv())["type"] in ANSWERS
        except ConnectionClosed:
            return client.close_code
    return None


async def test_thousands_of_hostile_messages_leave_a_feed_as_it_was() -> None:
    """A feed closes a client with many bad commands by 4400, and serves the next client normally."""
    async with serve_feeds(streams := feeds(), "127.0.0.1", 0) as port:
        url = f"ws://127.0.0.1:{port}{PATH}"
        given = messages(seed=1)
        closed = 0
        async with asyncio.timeout(scaled(100)):
            while (code := await send_until_closed(url, given)) is not None:
                assert code == 4400
                closed += 1
        assert MESSAGES / 40 < closed <= MESSAGES / MAX_FAULTS
        async with connect(f"{url}?symbols=all") as client:
            kinds = [json.loads(await client.recv())["type"] for _ in range(3)]
        assert kinds == ["welcome", "subscribed", "snapshot"]
        assert not streams.clients._by_address or list(streams.clients._by_address.values()) == [1]
