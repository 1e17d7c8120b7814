"""REST answers a stock's last trade outside the regular session beside the fields that all quotes have."""

from typing import Any

import httpx
import pytest
from msgspec import UNSET
from msgspec.structs import replace

from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.market.quotes import ExtendedHours
from support.made.factories import STOCKS, client_of, full_mirrors, mirror_of, services

AFTER_HOURS = ExtendedHours(
    session="post",
    price=300.1,
    change=0.87,
    change_percent=0.2907,
    close=299.23,
    timestamp="2026-11-20T22:00:00Z",
)
WRITTEN = {
    "session": "post",
    "price": 300.1,
    "change": 0.87,
    "changePercent": 0.2907,
    "close": 299.23,
    "timestamp": "2026-11-20T22:00:00Z",
}


def mirrors() -> dict[Feed, Mirror]:
    """Returns full mirrors in which the first stock has traded after hours."""
    first, *others = STOCKS
    return full_mirrors() | {
        Feed.STOCKS: mirror_of(Feed.STOCKS, [replace(first, extended=AFTER_HOURS), *others])
    }


async def answer(path: str) -> httpx.Response:
    async with client_of(services(mirrors())) as client:
        return await client.get(path)


@pytest.mark.parametrize("symbols", ["all", ",".join(each.ticker for each in STOCKS)])
async def test_lists_have_it_where_there_is_one(symbols: str) -> None:
    """A stock without one has no such field."""
    quotes: dict[str, Any] = (await answer(f"/api/market/quotes?symbols={symbols}")).json()
    first, *others = STOCKS
    assert quotes[first.ticker]["extended"] == WRITTEN
    assert others
    assert all("extended" not in quotes[each.ticker] for each in others)


async def test_one_quote_and_a_page_have_it() -> None:
    ticker = STOCKS[0].ticker
    assert (await answer(f"/api/market/quotes/{ticker}")).json()["extended"] == WRITTEN
    page = (await answer("/api/market/quotes?limit=500")).json()
    assert page[ticker]["extended"] == WRITTEN


async def test_tables_keep_their_columns() -> None:
    """A spreadsheet has no place for an object."""
    table = (await answer("/api/market/quotes?symbols=all&format=csv")).text
    assert table.splitlines()[0].split(",")[-1] == "timestamp"
    assert "extended" not in table


async def test_a_later_trade_of_the_session_ends_it() -> None:
    own = mirrors()
    ticker = STOCKS[0].ticker
    entry = own[Feed.STOCKS].find(ticker)
    assert entry
    entry.change(replace(STOCKS[0], price=300.2, extended=UNSET), 99, 99, full=False)
    async with client_of(services(own)) as client:
        assert "extended" not in (await client.get(f"/api/market/quotes/{ticker}")).json()
