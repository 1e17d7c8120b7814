"""What is said on a Binance stream."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.errors import UpstreamError
from quotecast.providers.binance import wire
from quotecast.providers.binance.tickers import BinanceTickers


@pytest.mark.parametrize(
    "text",
    [
        '{"stream":"btcusdt@bookTicker","data":{"u":1,"s":"BTCUSDT","b":"1","B":"1","a":"2","A":"1"}}',
        '{"stream":"btcusdt@trade","data":{"e":"trade","s":"BTCUSDT","p":"1"}}',
        '{"e":"24hrMiniTicker","s":"BTCUSDT","c":"1"}',
        '{"new":1}',
    ],
)
def test_other_messages_are_nothing(text: str) -> None:
    """Messages nobody asked for are no error; not every event has a type."""
    assert wire.decode(text.encode()) is None


def test_answers_and_ends_are_told_apart() -> None:
    """In all the forms that were seen; keys that are new do not disturb."""
    assert wire.decode(b'{"result":null,"id":1,"new":{}}') == wire.Acknowledged()
    assert wire.decode(b'{"code":2,"msg":"Invalid","id":7}') == wire.BinanceFailure(2, "Invalid")
    assert wire.decode(b'{"code":3,"msg":"Invalid JSON"}') == wire.BinanceFailure(3, "Invalid JSON")
    assert wire.decode(b'{"error":{"code":4,"msg":"Too many"},"id":1}') == wire.BinanceFailure(4, "Too many")
    assert wire.decode(b'{"e":"serverShutdown","E":1}') == wire.Shutdown()
    wrapped = b'{"stream":"!serverShutdown","data":{"e":"serverShutdown","E":1}}'
    assert wire.decode(wrapped) == wire.Shutdown()


@pytest.mark.parametrize("text", ['{"code":2,"msg":"no"}', '{"e":"serverShutdown"}'])
def test_message_that_ends_the_connection_is_an_error(text: str) -> None:
    """The caller reconnects after such a message."""
    with pytest.raises(UpstreamError, match="Binance"):
        BinanceTickers().read([text.encode()], 0)


@given(st.binary())
def test_random_bytes_raise_value_error_or_are_a_message(told: bytes) -> None:
    """Nothing but ValueError ever comes out."""
    with contextlib.suppress(ValueError):
        wire.decode(told)
