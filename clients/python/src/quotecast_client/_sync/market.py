# Made by scripts/make_sync.py from _async; not to be edited.
"""Market data."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from quotecast_client.bars import BarWish, bar_calls
from quotecast_client.calls import Call, Page, path
from quotecast_client.errors import ApiError, ConnectionFailed, NotFound
from quotecast_client.names import FEEDS, is_plain, listed, split_name
from quotecast_client.quotes import ABSENT, FEW, Lookup, Quote, proposal_call, symbol_of
from quotecast_client.rest_types import (
    Article,
    ConversionRate,
    CorporateAction,
    EarningsCalendar,
    Heatmap,
    MarketStatus,
    Movers,
    Overview,
    Price,
    PriceHistory,
    Quality,
    SearchResult,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quotecast_client._sync.http import Http
    from quotecast_client.bars import AnyBar
    from quotecast_client.calls import Moment
    from quotecast_client.copies import Copy
    from quotecast_client.names import Feed
    from quotecast_client.rest_types import Adjusted, Hours, Interval, Kind, MetalUnit, Order, Source, Span


class Market:
    """Quotes, bars and what else is known of instruments."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def quotes(self, names: str | Iterable[str], at: Moment | None = None) -> dict[str, Quote]:
        """Returns quotes by the names that ask for them; unknown names are left out.

        A name is a symbol of any feed in any case, such as `AAPL`, `BTC/USDT` or `gram-altin`. Of market,
        crypto and doviz the first one that has it answers. `doviz:USD` names the feed, and `crypto:all` asks
        for all quotes of one. `at` is a recorded moment.
        """
        return (self._look_up(listed(names), at)).quotes()

    def all_quotes(self, feed: Feed, size: int = 1000) -> Iterator[Quote]:
        """Yields all quotes of a feed in the order of symbols, by pages of `size`, at most 1000.

        For feeds of thousands of symbols, whose quotes are too many for one answer.
        """
        call = Call[dict[str, Quote]]("GET", f"/api/{feed}/quotes", {"limit": size})
        page = self._http.page(call)
        for quote in page.data.values():
            yield quote
        while page.next is not None:
            page = self._http.page(call.after(page.next))
            for quote in page.data.values():
                yield quote

    def bars(
        self,
        name: str,
        interval: Interval | None = None,
        *,
        span: Span | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
        limit: int | None = None,
        order: Order | None = None,
        source: Source | None = None,
        session: Hours | None = None,
        as_of: Moment | None = None,
        adjustment: Adjusted | None = None,
    ) -> list[AnyBar]:
        """Returns one page of bars of a symbol of any feed, the oldest first.

        `interval` is `1m` to `M`; `span` is the `range` of stocks, such as `5D`; `start` and `end` are
        moments. `source="own"` asks for bars of the service's own quotes, `session="extended"` for stocks
        also outside their hours, and `as_of` for days as the service knew them at that moment. `adjustment`
        is that of stocks: `raw`, `splits` or `all`.
        """
        wish = BarWish(interval, span, start, end, limit, order, source, session, as_of, adjustment)
        _, page = self._first_bars(name, wish)
        return page.data

    def history(
        self,
        name: str,
        interval: Interval,
        start: Moment,
        end: Moment | None = None,
        *,
        source: Source | None = None,
    ) -> Iterator[AnyBar]:
        """Yields all bars that open from `start` to before `end`, page by page."""
        wish = BarWish(interval, None, start, end, 1000, None, source, None)
        call, page = self._first_bars(name, wish)
        for bar in page.data:
            yield bar
        while page.next is not None:
            page = self._http.page(call.of_page(page.next))
            for bar in page.data:
                yield bar

    def prices(
        self,
        symbols: str | Iterable[str],
        currency: str | None = None,
        date: Moment | None = None,
        as_of: Moment | None = None,
        *,
        adjusted: Adjusted | None = None,
        kind: Kind | None = None,
        unit: MetalUnit | None = None,
        fineness: str | None = None,
    ) -> dict[str, Price]:
        """Returns prices by symbol, of now or of a day, in their own currencies or in one.

        Symbols are of any feed, or metals such as `XAU`; unknown ones are left out. A price that is not known
        is None, and `problem` has the reason. With `as_of` they are closes as the service knew them then.
        `adjusted` is of closes of stocks, `unit` and `fineness` (`916`, `22k`) of metals, and `kind` is that
        of the symbols.
        """
        query = {"symbols": listed(symbols), "currency": currency, "date": date, "as_of": as_of}
        query |= {"adjusted": adjusted, "type": kind, "unit": unit, "fineness": fineness}
        return self._http.send(Call[dict[str, Price]]("GET", "/api/prices", query))

    def price_history(
        self,
        symbol: str,
        currency: str | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
        as_of: Moment | None = None,
        *,
        adjusted: Adjusted | None = None,
        kind: Kind | None = None,
        unit: MetalUnit | None = None,
        fineness: str | None = None,
    ) -> PriceHistory:
        """Returns prices by day, the oldest first: of the last year, or from day `start` to day `end`.

        With `as_of` they are closes as the service knew them then. The others are those of `prices`.
        """
        query = {"currency": currency, "start": start, "end": end, "as_of": as_of}
        query |= {"adjusted": adjusted, "type": kind, "unit": unit, "fineness": fineness}
        return self._http.send(Call[PriceHistory]("GET", path("/api/prices/{}/history", symbol), query))

    def rate(
        self, source: str, target: str, date: Moment | None = None, as_of: Moment | None = None
    ) -> ConversionRate:
        """Returns the price of one unit of a currency, metal or coin in another, of now or of a day.

        With `as_of` it is of closes as the service knew them then.
        """
        query = {"from": source, "to": target, "date": date, "as_of": as_of}
        return self._http.send(Call[ConversionRate]("GET", "/api/rates", query))

    def actions(
        self,
        symbols: str | Iterable[str],
        start: Moment | None = None,
        end: Moment | None = None,
        as_of: Moment | None = None,
    ) -> list[CorporateAction]:
        """Returns splits, dividends, renames and mergers of stocks in the order of their ex-days.

        Those of the last year and what is announced, or from day `start` to day `end`; with `as_of` as the
        service knew them at that moment.
        """
        query = {"symbols": listed(symbols), "start": start, "end": end, "as_of": as_of}
        return self._http.send(Call[list[CorporateAction]]("GET", "/api/market/actions", query))

    def quality(self, feed: str, symbol: str | None = None, date: Moment | None = None) -> Quality:
        """Returns the quality of a feed's data on one day: today, or a date at the venue.

        With a symbol it has that symbol's gaps, else the symbols with the fewest minutes.
        """
        query = {"feed": feed, "symbol": symbol, "date": date}
        return self._http.send(Call[Quality]("GET", "/api/quality", query))

    def movers(self) -> Movers:
        """Returns the stocks that rose and fell most today."""
        return self._http.send(Call[Movers]("GET", "/api/market/movers"))

    def heatmap(self) -> Heatmap:
        """Returns all stocks by sector."""
        return self._http.send(Call[Heatmap]("GET", "/api/market/heatmap"))

    def news(self, symbols: str | Iterable[str] = (), limit: int | None = None) -> list[Article]:
        """Returns the newest articles, of some stocks or of all."""
        query = {"symbols": listed(symbols) or None, "limit": limit}
        return self._http.send(Call[list[Article]]("GET", "/api/market/news", query))

    def search(self, text: str, limit: int | None = None) -> list[SearchResult]:
        """Returns instruments of all feeds whose symbols or names match, the best first."""
        return self._http.send(Call[list[SearchResult]]("GET", "/api/search", {"q": text, "limit": limit}))

    def company(self, symbol: str) -> Overview:
        """Returns metrics, earnings, recommendations and estimates of a company; missing parts are None."""
        return self._http.send(Call[Overview]("GET", path("/api/financials/company/{}/overview", symbol)))

    def earnings_calendar(
        self, start: Moment | None = None, end: Moment | None = None, *, symbol: str | None = None
    ) -> EarningsCalendar:
        """Returns the earnings dates of a week from today, or of the days from `start` to `end`.

        A symbol asks for those of one company, of up to five years.
        """
        query = {"from": start, "to": end, "symbol": symbol}
        return self._http.send(Call[EarningsCalendar]("GET", "/api/financials/earnings-calendar", query))

    def status(self) -> MarketStatus:
        """Returns the state of the market and of each feed."""
        return self._http.send(Call[MarketStatus]("GET", "/api/market/status"))

    def find(self, names: Iterable[str]) -> tuple[list[tuple[Feed, str]], list[str]]:
        """Returns the feeds and symbols that names mean, and the names that no feed has."""
        given = list(dict.fromkeys(names))
        found = (self._look_up([name for name in given if is_plain(name)], None)).places()
        places, unknown = [], []
        for name in given:
            feeds, symbol = split_name(name)
            if name in found:
                places.append(found[name])
            elif len(feeds) == 1:
                places.append((feeds[0], symbol))
            else:
                unknown.append(name)
        return places, unknown

    def proposals(self, names: Iterable[str]) -> dict[str, str]:
        """Returns what the first of some names may mean that no feed has, as far as the service knows."""
        found: dict[str, str] = {}
        for name in islice(names, FEW):
            try:
                quote = self._http.send(proposal_call(name))
                found[name] = f"It is {symbol_of(quote)} now."
            except (ApiError, ConnectionFailed) as error:  # noqa: PERF203 - one a name
                if isinstance(error, NotFound) and error.errors:
                    found[name] = error.errors[0]["message"]
        return found

    def closed_bars(self, copy: Copy) -> dict[str, list[Any]]:
        """Returns the closed bars before the live ones of a copy."""
        result: dict[str, list[Any]] = {}
        for call in copy.calls_for_bars():
            answer = self._http.send(call)
            result.update(answer)
        return result

    def _look_up(self, names: Iterable[str], at: Moment | None) -> Lookup:
        lookup = Lookup(names)
        for feed in FEEDS:
            for call in lookup.calls(feed, at):
                lookup.take(feed, self._page_or_nothing(call))
        return lookup

    def _page_or_nothing(self, call: Call[Any]) -> Page[dict[str, Any]]:
        """Returns the answer; nothing if the feed does not have the symbol, or the service not the feed."""
        try:
            page: Page[dict[str, Any]] = self._http.page(call)
        except ApiError as error:
            if error.code in ABSENT:
                return Page({}, None, {})
            raise
        return page

    def _first_bars(self, name: str, wish: BarWish) -> tuple[Call[list[AnyBar]], Page[list[AnyBar]]]:
        """Returns the request to the first feed that has the symbol, and the first page."""
        absent: list[ApiError] = []
        for call in bar_calls(name, wish):
            try:
                return call, self._http.page(call)
            except ApiError as error:  # noqa: PERF203 - one a feed
                if error.code not in ABSENT:
                    raise
                absent.append(error)
        raise next((error for error in absent if error.errors), absent[-1])
