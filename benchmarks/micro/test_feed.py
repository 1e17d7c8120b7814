"""Each step of an update on its way to the sockets."""

from typing import Any

import msgspec
import pytest

from quotecast.bus import wire
from quotecast.bus.base import Batch, FeedInfo, Snapshot, StoredQuote
from quotecast.bus.wire import encode_change
from quotecast.feed.client import ClientSession
from quotecast.feed.commands import Query
from quotecast.feed.frames import Limits
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.feed.session import FeedSession
from quotecast.feed.tiers import Connection
from quotecast.framing import Frame
from quotecast.market import codec
from quotecast.market.feeds import Feed
from quotecast.market.quotes import StockQuote

SYMBOLS = 500


def quote(number: int, price: float = 100.0) -> StockQuote:
    return StockQuote(
        ticker=f"S{number:04}",
        name="Example Industries, Inc.",
        price=price,
        change=1.23,
        change_percent=0.4567,
        open=100.12,
        high=712.34,
        low=98.76,
        previous_close=99.27,
        volume="12345678",
        sector="Information Technology",
        industry="Semiconductors",
        timestamp="2026-11-20T20:59:59.123Z",
    )


class Moving:
    """A mirror of 500 stocks, and batches that move some of them."""

    def __init__(self) -> None:
        self.mirror = Mirror(Feed.STOCKS)
        stored = {f"S{number:04}": StoredQuote(1, 1, quote(number)) for number in range(SYMBOLS)}
        self.mirror.load(Snapshot(Feed.STOCKS, "epoch", 1, FeedInfo(provider="test"), stored))

    def batch(self, count: int) -> Batch:
        """Returns the next batch, in which that many quotes change."""
        seq = self.mirror.mark.seq + 1
        changes = [encode_change(quote(number, 100 + seq % 50)) for number in range(count)]
        return Batch(feed=Feed.STOCKS, epoch="epoch", seq=seq, changes=changes)

    def session(self, symbols: str) -> FeedSession:
        """Returns a session that has sent its greeting."""
        client = ClientSession([self.mirror], Limits())
        client.open({"market": Query(symbols)})
        return client.feeds["market"]


@pytest.fixture
def moving() -> Moving:
    return Moving()


def test_mirror_takes_a_batch_of_100(benchmark: Any, moving: Moving) -> None:
    """The mirror decodes and encodes no quote: that waits for a session."""

    def setup() -> tuple[tuple[Batch], dict[str, Any]]:
        return (moving.batch(100),), {}

    assert benchmark.pedantic(moving.mirror.apply, setup=setup, rounds=500)


def test_bus_message_of_100_is_decoded(benchmark: Any, moving: Moving) -> None:
    """Decodes the bytes as they come from Redis."""
    data = msgspec.msgpack.encode(moving.batch(100))
    message = benchmark(wire.decode_message, data)
    assert len(message.changes) == 100


@pytest.mark.parametrize("count", [20, SYMBOLS])
def test_frame_for_everything_is_built(benchmark: Any, moving: Moving, count: int) -> None:
    """Encodes the changed quotes and builds the frame."""
    session = moving.session("all")

    def setup() -> None:
        moving.mirror.apply(moving.batch(count))

    (frame,) = benchmark.pedantic(session.subscription.advance, setup=setup, rounds=200)
    assert len(msgspec.json.decode(frame.payload)["data"]) == count


def test_frame_for_twenty_symbols_is_built(benchmark: Any, moving: Moving) -> None:
    """All 500 changed, and another session has encoded them."""
    session, other = (
        moving.session(",".join(f"S{number:04}" for number in range(0, 500, 25))),
        moving.session("all"),
    )

    def setup() -> None:
        moving.mirror.apply(moving.batch(SYMBOLS))
        other.subscription.advance()

    (frame,) = benchmark.pedantic(session.subscription.advance, setup=setup, rounds=200)
    assert len(msgspec.json.decode(frame.payload)["data"]) == 20


def test_tick_of_500_who_share_a_frame(benchmark: Any, moving: Moving) -> None:
    """Sending is free here, so that only the hub's own work counts."""
    hub = Hub(
        moving.mirror,
        heartbeat_seconds=15.0,
        clock=lambda: 0.0,
        wall_clock=lambda: 0.0,
        market=lambda: "open",
    )
    writer = _Writer()
    sent = writer.sent
    for _ in range(500):
        hub.join(Connection(moving.session("all"), writer, lambda _: True))

    def setup() -> None:
        sent.clear()
        moving.mirror.apply(moving.batch(20))

    benchmark.pedantic(hub.tick, args=(250,), setup=setup, rounds=100)
    setup()
    hub.tick(250)
    assert len(sent) == 500
    assert len({id(frame) for frame in sent}) == 1


class _Writer:
    """A socket that is always ready."""

    ready = True
    paused_at = 0.0

    def __init__(self) -> None:
        self.sent: list[Frame] = []

    def write(self, frame: Frame) -> None:
        self.sent.append(frame)


@pytest.mark.parametrize("notation", ["json", "msgpack"])
def test_quote_is_encoded(benchmark: Any, notation: Any) -> None:
    """Encodes the whole quote."""
    assert len(benchmark(codec.encoder_of(notation), quote(1))) > 100
