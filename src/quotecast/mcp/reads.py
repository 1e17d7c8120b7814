"""The reads of the tools: one function for each, from checked arguments to a bounded result."""

from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import unquote

from msgspec.structs import replace

from quotecast.market.feeds import Feed
from quotecast.mcp import arguments as given
from quotecast.mcp.asking import Asking, ToolRefused, path_of
from quotecast.mcp.results import Row, TextRecord, TextTable, record, table

#: The longest range of the newest bars of stocks, by interval.
_RANGES: Final = {"1m": "1M", "5m": "6M", "15m": "1Y"}
_LONGEST: Final = "5Y"
#: Unknown symbols of one call about which the service is asked once more.
_MOST_PROPOSALS: Final = 3


async def search(asking: Asking, wanted: given.Search) -> TextTable:
    """Returns the instruments that match."""
    answer = await asking.read(path_of("search"), q=wanted.query, limit=wanted.limit)
    return table(answer.data, answer)


async def quotes(asking: Asking, wanted: given.Quotes) -> TextTable:
    """Returns the quotes of some symbols of one feed, and what the first unknown ones may mean.

    Raises ToolRefused with that where all are unknown.
    """
    found = await _quotes(asking, wanted)
    proposals: dict[str, str] = {}
    for name in found.missing[: _MOST_PROPOSALS if found.total else 1]:
        try:
            answer = await quote(asking, wanted.feed, name)
        except ToolRefused as refusal:
            if not found.total:
                raise
            proposals |= {name: refusal.proposal} if refusal.proposal else {}
        else:
            # The list of a whole feed has no former symbols.
            present = answer.record.get("ticker")
            proposals |= {name: f"It is {present} now."} if present else {}
    return replace(found, proposals=proposals) if proposals else found


async def _quotes(asking: Asking, wanted: given.Quotes) -> TextTable:
    if wanted.feed == "stocks":
        answer = await asking.read(path_of("market", "quotes"), symbols=_listed(wanted.symbols))
        missing = [unquote(name) for name in answer.headers.get("x-missing-symbols", "").split(",") if name]
        return table(answer.data.values(), answer, missing=missing)
    answer = await asking.read(path_of(wanted.feed, "quotes"))
    by_key = {_key(symbol): quote for symbol, quote in answer.data.items()}
    keys = {_key(symbol): symbol for symbol in wanted.symbols}
    missing = [symbol for key, symbol in keys.items() if key not in by_key]
    return table((by_key[key] for key in keys if key in by_key), answer, missing=missing)


async def quote(asking: Asking, feed: str, symbol: str) -> TextRecord:
    """Returns the quote of one symbol."""
    answer = await asking.read(path_of(Feed(feed).spec.name, "quotes", symbol))
    return record(answer.data)


async def bars(asking: Asking, wanted: given.Bars) -> TextTable:
    """Returns bars in ascending order: the first from `start` on, or the newest."""
    newest = wanted.start is None
    query: dict[str, Any] = {
        "start": wanted.start,
        "end": wanted.end,
        "limit": wanted.limit,
        "order": "desc" if newest else "asc",
    }
    if wanted.feed == "stocks":
        query["interval"] = wanted.interval
        query["range"] = _RANGES.get(wanted.interval, _LONGEST) if newest else None
    else:
        query["timeframe"] = wanted.interval
    answer = await asking.read(path_of(Feed(wanted.feed).spec.name, "bars", wanted.symbol), **query)
    rows = answer.data[::-1] if newest else answer.data
    return table(rows, answer, more="x-next-page" in answer.headers)


async def movers(asking: Asking, wanted: given.Movers) -> TextTable:
    """Returns gainers, then losers, each with its ranking."""
    answer = await asking.read(path_of("market", "movers"))
    ranked = ((ranking, answer.data[name]) for name, ranking in (("gainers", "gainer"), ("losers", "loser")))
    rows = [{"ranking": ranking, **row} for ranking, found in ranked for row in found[: wanted.limit]]
    return table(rows, answer)


async def heatmap(asking: Asking, wanted: given.Heatmap) -> TextTable:
    """Returns the sectors, each with its largest stocks."""
    answer = await asking.read(path_of("market", "heatmap"))
    rows = ({**sector, "stocks": _largest(sector, wanted.stocks)} for sector in answer.data["sectors"])
    return table(rows, answer)


async def company(asking: Asking, wanted: given.Company) -> TextRecord:
    """Returns a company's key figures, or one part of them."""
    answer = await asking.read(path_of("financials", "company", wanted.symbol, wanted.part))
    if wanted.part == "overview":
        return record({name: _newest(part) for name, part in answer.data.items()})
    return record(answer.data if isinstance(answer.data, dict) else {wanted.part: answer.data})


async def earnings_calendar(asking: Asking, wanted: given.EarningsCalendar) -> TextTable:
    """Returns the reports of some days, the earliest first."""
    days = {"from": wanted.start, "to": wanted.end}
    answer = await asking.read(path_of("financials", "earnings-calendar"), **days)
    names = {symbol.upper() for symbol in wanted.symbols}
    rows = [row for row in answer.data["earningsCalendar"] if not names or row["symbol"] in names]
    return table(rows, answer, most=wanted.limit)


async def news(asking: Asking, wanted: given.News) -> TextTable:
    """Returns articles, the newest first."""
    symbols = _listed(wanted.symbols) or None
    answer = await asking.read(path_of("market", "news"), symbols=symbols, limit=wanted.limit)
    return table(_without(answer.data, "images"), answer)


async def feed_state(asking: Asking, _: given.Arguments) -> TextRecord:
    """Returns the state of the feeds and of the market."""
    answer = await asking.read(path_of("market", "status"))
    return record(answer.data)


async def portfolio(asking: Asking, wanted: given.Portfolio) -> TextTable:
    """Returns the user's holdings with their values."""
    answer = await asking.read(path_of("portfolio", "holdings"), include="quote", currency=wanted.currency)
    return table(answer.data, answer)


async def watchlists(asking: Asking, _: given.Arguments) -> TextTable:
    """Returns the names of the user's lists."""
    answer = await asking.read(path_of("watchlists"))
    return table(answer.data, answer)


async def watchlist(asking: Asking, wanted: given.Watchlist) -> TextTable:
    """Returns one of the user's lists with quotes."""
    answer = await asking.read(path_of("watchlist"), include="quote", list=wanted.list)
    return table(answer.data, answer)


def _listed(symbols: Sequence[str]) -> str:
    """Returns symbols as a list of a query; the ticker ALL twice, as alone it would mean every stock."""
    is_all = [each.strip().lower() for each in symbols] == ["all"]
    return ",".join([*symbols, *symbols] if is_all else symbols)


def _key(symbol: str) -> str:
    """Returns the spelling that all ways to write a symbol share: `btc-usdt` is `BTC/USDT`."""
    return symbol.strip().lower().replace("/", "-")


def _largest(sector: Row, most: int) -> list[Row]:
    stocks = sorted(sector["stocks"], key=lambda stock: stock["weight"] or 0.0, reverse=True)
    return list(_without(stocks[:most], "industry"))


def _without(rows: Iterable[Row], name: str) -> Iterable[Row]:
    return ({key: value for key, value in row.items() if key != name} for row in rows)


def _newest(part: Any) -> Any:
    """Returns the newest records of a part, and leaves out metrics' series of past years."""
    if isinstance(part, list):
        return part[:2]
    if isinstance(part, dict):
        return {name: _newest(value) for name, value in part.items() if name != "series"}
    return part
