"""From snapshots and stream messages to quotes that can be believed."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Final

from msgspec import Raw
from msgspec.structs import replace

from quotecast.market.calendars import EXCHANGE
from quotecast.market.quotes import Quote, StockQuote
from quotecast.market.sessions import NEW_YORK, Unscheduled
from quotecast.providers.alpaca import wire
from quotecast.providers.alpaca.day import Day
from quotecast.providers.alpaca.known import Known, Last, aware, session_of
from quotecast.providers.alpaca.tape import Tape
from quotecast.providers.reference import Stock
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.judgement import ABSURD_FACTOR, Judge
from quotecast.providers.validation.values import MAX_SKEW, Number, positive

#: An answer holds every trade that was streamed so long before it was asked for.
SETTLING_SECONDS: Final = 5.0


class Board:
    """The last state of each stock, over all connections; other stocks are passed over.

    Refused, and counted by reason: what is no JSON or not of its shape (`malformed`), a price or time
    that cannot be read (`unreadable`), a streamed trade older than the price (`outdated`), and a price
    more than ten times or less than a tenth of the last good one of the past hour, or a day's price that
    far from the last one (`absurd`). The last good value stands. A stock has no quote before its snapshot.
    The close before judges a session's first price.

    `whole_tape` is false where snapshots and minutes are those of one exchange: a day's prices and volume are
    then the tape's alone.
    """

    def __init__(self, stocks: Iterable[Stock], *, whole_tape: bool = True) -> None:
        #: What the exchange does against its calendar.
        self.unscheduled: Unscheduled | None = None
        self._stocks = {stock.ticker: stock for stock in stocks}
        self._judge = Judge()
        self._refused = RefusalCounter("alpaca")
        self._whole_tape = whole_tape
        self._known: dict[str, Known] = {}
        self._tapes: dict[str, Tape] = {}
        #: When the price came over the stream, if it did, in Unix time.
        self._streamed: dict[str, float] = {}
        self._told: dict[str, StockQuote] = {}

    def statistics(self) -> Mapping[str, int]:
        """How many messages, rows and values were refused since the start, by reason."""
        return self._refused.by_reason()

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
            self._refused.count("malformed")
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

    def take_tapes(self, tapes: Mapping[str, Tape], received: float) -> list[StockQuote]:
        """The quotes that change with the last days on the whole tape."""
        for ticker, tape in tapes.items():
            close, before = tape.close_before(tape.session), self._tapes.get(ticker)
            if close and (before is None or before.close_before(tape.session) != close):
                self._judge.refer(ticker, float(close), received)
            self._tapes[ticker] = tape
        return self._changed((ticker for ticker in tapes if ticker in self._known), received)

    def take_unscheduled(self, unscheduled: Unscheduled | None, received: float) -> list[StockQuote]:
        """The quotes that change with what the exchange does against its calendar."""
        if unscheduled == self.unscheduled:
            return []
        self.unscheduled = unscheduled
        return self._changed(self._known, received)

    def has_traded(self, now: float) -> bool:
        """Whether most stocks have traded since the calendar's last opening; true before any snapshot."""
        opening = next(EXCHANGE.until(aware(now))).open
        traded = sum(known.last.time >= opening for known in self._known.values())
        return 2 * traded > len(self._known) or not self._known

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
        session = session_of(aware(received), self.unscheduled)
        changed = []
        for ticker in tickers:
            quote = self._known[ticker].to_quote(
                self._stocks[ticker], session, received, self._tapes.get(ticker)
            )
            if quote != self._told.get(ticker):
                self._told[ticker] = quote
                changed.append(quote)
        return changed

    def _rows(self, raw: bytes) -> Mapping[str, Raw]:
        try:
            return wire.rows(raw)
        except ValueError:
            self._refused.count("malformed")
            return {}

    def _message(self, raw: Raw) -> wire.Message | None:
        try:
            return wire.message(raw)
        except ValueError:
            self._refused.count("malformed")
            return None

    def _snapshot(self, raw: Raw) -> wire.Snapshot | None:
        try:
            return wire.snapshot(raw)
        except ValueError:
            self._refused.count("malformed")
            return None

    def _take_trade(self, trade: wire.Trade, received: float) -> None:
        known, last = self._known[trade.symbol], trade.to_last()
        if not trade.sets_price:
            return
        if last is None:
            self._refused.count("unreadable")
        elif last.time < known.last.time:
            self._refused.count("outdated")
        elif self._accepts(trade.symbol, last, received):
            self._known[trade.symbol] = replace(known, last=_timely(last, received))
            self._streamed[trade.symbol] = received

    def _take_minute(self, bar: wire.Bar, received: float) -> None:
        known, last = self._known[bar.symbol], bar.minute_close()
        if last is None or _is_ahead(last.time, received):
            self._refused.count("unreadable")
        elif self._accepts(bar.symbol, last, received):
            if minute := bar.to_minute(partial(self._price, near=last.price)):
                self._known[bar.symbol] = known.with_minute(minute)
            self._streamed[bar.symbol] = received

    def _take_snapshot(self, ticker: str, snapshot: wire.Snapshot, received: float, settled: float) -> None:
        known = self._known.get(ticker)
        last = self._last(ticker, snapshot, received, settled)
        if last is None:
            return
        new = Known(last, self._day(snapshot, last, received))
        self._known[ticker] = known.followed_by(new) if known else new

    def _last(self, ticker: str, snapshot: wire.Snapshot, received: float, settled: float) -> Last | None:
        """The price after a snapshot: its own, unless that is bad or a newer one was streamed meanwhile."""
        known, told = self._known.get(ticker), snapshot.to_last()
        before = known.last if known else None
        if told is None or snapshot.hides_trade:
            self._refused.count("unreadable")
        if told is None:
            return before
        lags = snapshot.hides_trade or self._streamed.get(ticker, settled) > settled
        if before and told.time < before.time and lags:
            return before
        return _timely(told, received) if self._accepts(ticker, told, received) else before

    def _accepts(self, ticker: str, last: Last, received: float) -> bool:
        """Whether to believe a price, which is judged in prices of the session."""
        price = Known(last).price(self._tapes.get(ticker))
        reason = self._judge.doubt(ticker, float(price), received)
        if reason:
            self._refused.count(reason)
        return reason is None

    def _day(self, snapshot: wire.Snapshot, last: Last, received: float) -> Day | None:
        if snapshot.daily_bar is None or not self._whole_tape:
            return None
        # The bar of a day before the price's is the tape's, and a split may lie between the two.
        if (snapshot.daily_bar.trading_date or date.max) < last.time.astimezone(NEW_YORK).date():
            return None
        read = partial(self._price, near=last.price)
        day = snapshot.daily_bar.to_day(read, snapshot.minute_bar)
        if day is None or day.date > aware(received).astimezone(NEW_YORK).date():
            self._refused.count("unreadable")
            return None
        return day

    def _price(self, told: Number, near: Decimal) -> Decimal | None:
        """A price of the day, if it can be believed beside the last one."""
        price = positive(told)
        if price is None and told is not None:
            self._refused.count("unreadable")
        if price is None or near / ABSURD_FACTOR <= price <= near * ABSURD_FACTOR:
            return price
        self._refused.count("absurd")
        return None


def _timely(last: Last, received: float) -> Last:
    """The price as of `received` if its own time lies in the future."""
    return replace(last, time=aware(received)) if _is_ahead(last.time, received) else last


def _is_ahead(time: datetime, received: float) -> bool:
    return time - aware(received) > MAX_SKEW
