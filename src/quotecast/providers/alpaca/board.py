"""From snapshots and stream messages to quotes that can be believed."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Final

from msgspec import Raw
from msgspec.structs import replace

from quotecast.market.quotes import Quote, StockQuote
from quotecast.market.sessions import NEW_YORK
from quotecast.providers.alpaca import wire
from quotecast.providers.alpaca.day import Day
from quotecast.providers.alpaca.known import Known, Last, aware, session_of
from quotecast.providers.judgement import ABSURD_FACTOR, Judge
from quotecast.providers.reference import Stock
from quotecast.providers.values import MAX_SKEW, Number, positive

#: An answer holds every trade that was streamed so long before it was asked for.
SETTLING_SECONDS: Final = 5.0


class Board:
    """The last state of each stock, over all connections; other stocks are passed over.

    Refused, and counted by reason: what is no JSON or not of its shape (`malformed`), a price or time
    that cannot be read (`unreadable`), a streamed trade older than the price (`outdated`), and a price
    more than ten times or less than a tenth of the last good one of the past hour, or a day's price that
    far from the last one (`absurd`). The last good value stands. A stock has no quote before its snapshot.
    """

    def __init__(self, stocks: Iterable[Stock]) -> None:
        #: The exchange did not open today, though the calendar says so.
        self.shut = False
        self._stocks = {stock.ticker: stock for stock in stocks}
        self._judge = Judge()
        self._known: dict[str, Known] = {}
        #: When the price came over the stream, if it did, in Unix time.
        self._streamed: dict[str, float] = {}
        self._told: dict[str, StockQuote] = {}

    def statistics(self) -> Mapping[str, int]:
        """How many messages, rows and values were refused since the start, by reason."""
        return dict(self._judge.refused)

    def keep_only(self, tickers: Iterable[str]) -> None:
        """Forgets every stock not among `tickers`."""
        for ticker in self._known.keys() - set(tickers):
            del self._known[ticker]
            self._streamed.pop(ticker, None)
            self._told.pop(ticker, None)
        self._judge.keep_only(self._known)

    def quotes(self) -> list[StockQuote]:
        """All that were told."""
        return list(self._told.values())

    def read(self, messages: Iterable[bytes], received: float) -> list[Quote]:
        """The quotes that change with frames of the stream and answers of snapshots, received together."""
        changed: dict[str, Quote] = {}
        for raw in messages:
            if raw.lstrip().startswith(b"{"):
                quotes = self.take_snapshots(self._rows(raw), received)
            else:
                quotes = self.take_messages(wire.data(self.decode(raw)), received)
            changed |= {quote.key: quote for quote in quotes}
        return list(changed.values())

    def decode(self, raw: bytes) -> list[wire.Message]:
        """The messages of one frame that are of use to us."""
        try:
            frame = wire.frame(raw)
        except ValueError:
            self._judge.refuse("malformed")
            return []
        return [message for message in map(self._message, frame) if message]

    def take_messages(self, messages: Iterable[wire.Data], received: float) -> list[StockQuote]:
        """The quotes that change with trades and minute bars."""
        ours = [message for message in messages if message.symbol in self._known]
        for message in ours:
            if isinstance(message, wire.Trade):
                self._take_trade(message, received)
            else:
                self._take_minute(message, received)
        return self._changed(dict.fromkeys(message.symbol for message in ours), received)

    def take_snapshots(
        self, rows: Mapping[str, Raw], received: float, asked: float | None = None
    ) -> list[StockQuote]:
        """The quotes that change with snapshots that were asked for at a Unix time; now, when it is None.

        Null rows are stocks that the upstream does not know, and change nothing.
        """
        settled = (received if asked is None else asked) - SETTLING_SECONDS
        for ticker in rows.keys() & self._stocks.keys():
            if snapshot := self._snapshot(rows[ticker]):
                self._take_snapshot(ticker, snapshot, received, settled)
        return self._changed((ticker for ticker in rows if ticker in self._known), received)

    def _changed(self, tickers: Iterable[str], received: float) -> list[StockQuote]:
        session = session_of(aware(received), shut=self.shut)
        changed = []
        for ticker in tickers:
            quote = self._known[ticker].to_quote(self._stocks[ticker], session, received)
            if quote != self._told.get(ticker):
                self._told[ticker] = quote
                changed.append(quote)
        return changed

    def _rows(self, raw: bytes) -> Mapping[str, Raw]:
        try:
            return wire.rows(raw)
        except ValueError:
            self._judge.refuse("malformed")
            return {}

    def _message(self, raw: Raw) -> wire.Message | None:
        try:
            return wire.message(raw)
        except ValueError:
            self._judge.refuse("malformed")
            return None

    def _snapshot(self, raw: Raw) -> wire.Snapshot | None:
        try:
            return wire.snapshot(raw)
        except ValueError:
            self._judge.refuse("malformed")
            return None

    def _take_trade(self, trade: wire.Trade, received: float) -> None:
        known, last = self._known[trade.symbol], trade.to_last()
        if not trade.sets_price:
            return
        if last is None:
            self._judge.refuse("unreadable")
        elif last.time < known.last.time:
            self._judge.refuse("outdated")
        elif self._judge.accepts(trade.symbol, float(last.price), received):
            self._known[trade.symbol] = replace(known, last=_timely(last, received))
            self._streamed[trade.symbol] = received

    def _take_minute(self, bar: wire.Bar, received: float) -> None:
        known, last = self._known[bar.symbol], bar.minute_close()
        if last is None or _is_ahead(last.time, received):
            self._judge.refuse("unreadable")
        elif self._judge.accepts(bar.symbol, float(last.price), received):
            if minute := bar.to_minute(partial(self._price, near=last.price)):
                self._known[bar.symbol] = known.with_minute(minute)
            self._streamed[bar.symbol] = received

    def _take_snapshot(self, ticker: str, snapshot: wire.Snapshot, received: float, settled: float) -> None:
        known = self._known.get(ticker)
        last = self._last(ticker, snapshot, received, settled)
        if last is None:
            return
        before = snapshot.prev_daily_bar
        close_before = self._price(before.close, near=last.price) if before else None
        new = Known(last, self._day(snapshot, last, received), close_before)
        self._known[ticker] = known.followed_by(new) if known else new

    def _last(self, ticker: str, snapshot: wire.Snapshot, received: float, settled: float) -> Last | None:
        """The price after a snapshot: its own, unless that is bad or a newer one was streamed meanwhile."""
        known, told = self._known.get(ticker), snapshot.to_last()
        before = known.last if known else None
        if told is None or snapshot.hides_trade:
            self._judge.refuse("unreadable")
        if told is None:
            return before
        lags = snapshot.hides_trade or self._streamed.get(ticker, settled) > settled
        if before and told.time < before.time and lags:
            return before
        return _timely(told, received) if self._judge.accepts(ticker, float(told.price), received) else before

    def _day(self, snapshot: wire.Snapshot, last: Last, received: float) -> Day | None:
        if snapshot.daily_bar is None:
            return None
        read = partial(self._price, near=last.price)
        day = snapshot.daily_bar.to_day(read, snapshot.minute_bar)
        if day is None or day.date > aware(received).astimezone(NEW_YORK).date():
            self._judge.refuse("unreadable")
            return None
        return day

    def _price(self, told: Number, near: Decimal) -> Decimal | None:
        """A price of the day, if it can be believed beside the last one."""
        price = positive(told)
        if price is None and told is not None:
            self._judge.refuse("unreadable")
        if price is None or near / ABSURD_FACTOR <= price <= near * ABSURD_FACTOR:
            return price
        self._judge.refuse("absurd")
        return None


def _timely(last: Last, received: float) -> Last:
    """The price as of `received` if its own time lies in the future."""
    return replace(last, time=aware(received)) if _is_ahead(last.time, received) else last


def _is_ahead(time: datetime, received: float) -> bool:
    return time - aware(received) > MAX_SKEW
