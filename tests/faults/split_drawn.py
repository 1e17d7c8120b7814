"""A stock split to be drawn: the quotes of stocks come from a local Alpaca meanwhile, on a split's day."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final

import httpx
from anyio.from_thread import start_blocking_portal

from fakes.alpaca import FakeAlpaca
from fakes.alpaca_stream import FakeAlpacaStream
from fakes.split_morning import SplitMorning, split_morning
from quotecast.providers.alpaca.stock_state import latest_session
from support.runs.waits import wait_until
from support.servers.whole_service import Whole

#: Ticker, new shares for an old one, the close before and the first price.
SPLITS: Final = (("AAPL", 4.0, 499.23, 127.58), ("GOOGL", 20.0, 2235.55, 113.4), ("GE", 0.125, 12.95, 104.6))
#: Of the whole service: movers rank every stock, for those that split have few trades.
SETTINGS: Final = {"QUOTECAST_MOVERS_MIN_VOLUME": "0"}


@contextmanager
def stocks_split(whole: Whole) -> Iterator[None]:
    """Today, or on the last trading day; ingest starts again with Alpaca's stocks, and later without."""
    with local_split_day() as (splits, settings):
        whole.replace_ingest(settings)
        _until_right(whole, splits)
        yield
        _until_right(whole, splits)
    whole.replace_ingest({})


@contextmanager
def local_split_day() -> Iterator[tuple[list[SplitMorning], dict[str, str]]]:
    """Serves an Alpaca whose session of now began with splits: those, and the settings of an ingest."""
    rest, stream = FakeAlpaca(), FakeAlpacaStream()
    night = latest_session(datetime.now(UTC)).day.pre_open - timedelta(seconds=1)
    splits = [
        split_morning(rest, night, ticker=ticker, ratio=ratio, close=close, first_price=first_price)
        for ticker, ratio, close, first_price in SPLITS
    ]
    with start_blocking_portal() as portal, ExitStack() as stack:
        for fake in (rest, stream):
            stack.enter_context(portal.wrap_async_context_manager(fake))
        key, secret = rest.keys
        yield (
            splits,
            {
                "QUOTECAST_STOCKS": "alpaca",
                "QUOTECAST_ALPACA_URL": rest.url,
                "QUOTECAST_ALPACA_TRADING_URL": rest.url,
                "QUOTECAST_ALPACA_WEBSOCKET_URL": stream.websocket_url,
                "QUOTECAST_ALPACA_KEY": key,
                "QUOTECAST_ALPACA_SECRET": secret,
            },
        )


def _until_right(whole: Whole, splits: list[SplitMorning]) -> None:
    """Waits until REST has the quotes of the splits, and names no stock among the losers."""
    wait_until(
        lambda: not _trouble(whole, splits), lambda: f"on the day of a split {_trouble(whole, splits)}"
    )


def _trouble(whole: Whole, splits: list[SplitMorning]) -> str:
    """What is wrong with the answers of a worker, if anything."""
    wanted = {split.ticker: round(split.change_percent, 2) for split in splits}
    try:
        quotes, movers = (
            whole.service.get(f"/api/market/{path}").raise_for_status().json()
            for path in ("quotes?symbols=all", "movers")
        )
    except httpx.HTTPError as error:
        return f"a read failed: {error!r}"
    changes = {ticker: round(quote["changePercent"] or 0.0, 2) for ticker, quote in quotes.items()}
    gainers, losers = ({each["ticker"] for each in movers[name]} for name in ("gainers", "losers"))
    if changes == wanted and (gainers, losers) == (set(wanted), set()):
        return ""
    return f"changes are {changes}, gainers {gainers}, losers {losers}"
