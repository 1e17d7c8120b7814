"""Batches that are well formed, but hold a quote that no version wrote."""

from typing import Final

from msgspec import Raw, structs

from quotecast.bus import wire
from quotecast.bus.base import Batch, Change
from support.made.market import stock


def _replaced(ticker: str, before: bytes, after: bytes) -> Raw:
    encoded = wire.encode(stock(ticker, name="Name"))
    assert encoded.count(before) == 1
    return Raw(encoded.replace(before, after))


def unreadable_quotes(ticker: str) -> dict[str, Raw]:
    """Returns encoded quotes by what is wrong with each."""
    return {
        "a name of no encoding": _replaced(ticker, b"\xa4Name", b"\xa4\xff\xfe\xfd\xfc"),
        "a number as name": _replaced(ticker, b"\xa4Name", b"\x07"),
        "no price": _replaced(ticker, b"\xa5price", b"\xa5other"),
        "no known kind": _replaced(ticker, b"\xabstock_quote", b"\xabbonds_quote"),
        "no quote": Raw(b"\x07"),
        "another key": Raw(wire.encode(stock("OTHER"))),
    }


KINDS: Final = sorted(unreadable_quotes("X"))


def with_unreadable_quote(batch: Batch, kind: str, ticker: str = "AAPL") -> Batch:
    """Returns the batch with one more change, of this ticker."""
    change = Change(unreadable_quotes(ticker)[kind], key=ticker)
    return structs.replace(batch, changes=[*batch.changes, change])
