"""Messages on the bus, between workers and ingests of two versions."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from quotecast.bus import wire
from quotecast.bus.base import Batch
from quotecast.errors import UnreadableState
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from support.made.factories import doviz
from support.made.market import pair, stock
from support.made.unreadable import KINDS, with_unreadable_quote

QUOTES: dict[Feed, Quote] = {
    Feed.STOCKS: stock("AAPL"),
    Feed.CRYPTO: pair("BTC/USDT"),
    Feed.DOVIZ: doviz("gram-altin", "gold"),
}


class OldChange(Struct, frozen=True, omit_defaults=True):
    """A change as an older worker reads it, which does not know its key."""

    quote: Quote
    full: bool = False


class OldBatch(Struct, frozen=True, kw_only=True, tag="batch", omit_defaults=True):
    feed: Feed
    epoch: str
    seq: int
    changes: Sequence[OldChange] = ()


@pytest.mark.parametrize("feed", QUOTES)
def test_a_worker_ignores_fields_that_it_does_not_know(feed: Feed) -> None:
    """In a rolling upgrade it reads what a newer ingest publishes."""
    quote = QUOTES[feed]
    batch = Batch(feed=feed, epoch="e", seq=2, changes=[wire.encode_change(quote, full=True)])
    old = msgspec.msgpack.decode(wire.encode(batch), type=OldBatch)
    assert old == OldBatch(feed=feed, epoch="e", seq=2, changes=[OldChange(quote, full=True)])


def test_a_change_has_its_quote() -> None:
    """A change of any feed decodes to the quote that ingest encoded."""
    for quote in QUOTES.values():
        assert wire.decode_quote(wire.encode_change(quote).quote) == quote


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_with_an_unreadable_quote_is_a_message(kind: str) -> None:
    """The quotes of a batch stay encoded."""
    batch = Batch(feed=Feed.STOCKS, epoch="e", seq=2, changes=[wire.encode_change(stock("MSFT"))])
    unreadable = with_unreadable_quote(batch, kind)
    assert wire.decode_message(wire.encode(unreadable)) == unreadable


TEXT = b"\xa5epoch\xa1e"
BROKEN: dict[str, Any] = {"text": b"\xa5epoch\xa1\xff", "arrays": b"\xa5other" + b"\x91" * 2000 + b"\x01"}


@pytest.mark.parametrize("name", BROKEN)
def test_data_that_msgspec_cannot_decode_is_unreadable(name: str) -> None:
    """Text of no encoding and arrays in arrays raise other errors than wrong types."""
    message = wire.encode(Batch(feed=Feed.STOCKS, epoch="e", seq=2))
    assert TEXT in message
    with pytest.raises(UnreadableState):
        wire.decode_message(message.replace(TEXT, BROKEN[name]))
