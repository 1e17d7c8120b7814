"""Quotes of US stocks from Alpaca's snapshots and stream messages, after validation."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Final

from msgspec import UNSET, Raw
from msgspec.structs import replace

from quotecast.market.calendars import EXCHANGE
from quotecast.market.numbers import MAX_SKEW, Number, positive
from quotecast.market.own_bars import VenueBar
from quotecast.market.quotes import StockQuote
from quotecast.market.reference import Stock
from quotecast.market.sessions import NEW_YORK, Unscheduled
from quotecast.providers.alpaca import wire
from quotecast.providers.alpaca.closes import REFRESH_END
from quotecast.providers.alpaca.day_bar import DailyHistory, DayBar
from quotecast.providers.alpaca.stock_state import (
    LastPrice,
    StockState,
    TradingSession,
    latest_session,
    to_utc,
)
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.candles import minute_of_venue, to_bar
from quotecast.providers.validation.judgement import ABSURD_FACTOR, Judge, is_near
from quotecast.providers.validation.rows import decode_each

#: Seconds before a request within which its response may still lack streamed trades.
SETTLING_SECONDS: Final = 5.0
#: Trades after which an absurd first price of a session is believed.
BELIEVED_TRADES: Final = 3
#: How far apart trades at one new level may be.
_REPEATED_FACTOR: Final = 1.5
#: How far the first price after a split is from the last one before it.
_SPLIT_TOLERANCE: Final = 0.06


class Board:
    """The latest state of each of `stocks`, across connections; the board ignores other symbols.

    The board rejects invalid input, counts it by reason and keeps the last good value. `malformed`: not JSON,
    or not of the documented shape. `unreadable`: a price or time that cannot be parsed. `outdated`: a
    streamed trade older than the last price. `absurd`: a price more than ten times, or less than a tenth of,
    the last good one of the past hour, or a daily bar's price that far from the last price. The previous
    close is the reference for the first price of a session. A first price of a session that is `absurd` is
    believed when three trades have it, each newer than the one before: so much a split may move it. A stock
    has no quote before its first snapshot.

    `consolidated` is false when snapshots and minute bars cover the IEX exchange alone. Open, high, low and
    volume then come only from the consolidated tape's daily history.
    """

    def __init__(self, stocks: Iterable[Stock], *, consolidated: bool = True) -> None:
        #: The exchange's deviation from its calendar; None without one.
        self.unscheduled: Unscheduled | None = None
        self._stocks = {stock.ticker: stock for stock in stocks}
        self._judge = Judge()
        self._refused = RefusalCounter("alpaca")
        self._consolidated = consolidated
        self._states: dict[str, StockState] = {}
        self._histories: dict[str, DailyHistory] = {}
        #: Unix time at which each stock's price last changed over the stream.
        self._streamed_at: dict[str, float] = {}
        self._sent: dict[str, StockQuote] = {}
        #: The last absurd price of a session without a believed one, and how many newer trades repeated it.
        self._doubted: dict[str, tuple[LastPrice, int]] = {}
        #: The history with which a change began to look like a split.
        self._split_by: dict[str, DailyHistory] = {}
        self._bars: list[VenueBar] = []

    def statistics(self) -> Mapping[str, int]:
        """Returns how many messages, rows and values it refused since the start, by reason."""
        return self._refused.by_reason()

    def keep_only(self, tickers: Iterable[str]) -> None:
        """Removes every stock not among `tickers`."""
        for ticker in self._states.keys() - set(tickers):
            del self._states[ticker]
            self._streamed_at.pop(ticker, None)
            self._sent.pop(ticker, None)
            self._doubted.pop(ticker, None)
            self._split_by.pop(ticker, None)
        self._judge.keep_only(self._states)

    def quotes(self) -> list[StockQuote]:
        """Returns the latest quote of every stock that has one."""
        return list(self._sent.values())

    def decode(self, raw: bytes) -> list[wire.Message]:
        """Returns a frame's decoded messages of the types in use; counts a malformed frame or message."""
        frames = decode_each([raw], wire.decode_frame, self._refused)
        rows = (row for frame in frames for row in frame)
        return [message for message in decode_each(rows, wire.decode_message, self._refused) if message]

    def take_messages(self, messages: Iterable[wire.MarketData], received: float) -> list[StockQuote]:
        """Returns the quotes changed by trades and minute bars."""
        ours = [message for message in messages if message.symbol in self._states]
        for message in ours:
            if isinstance(message, wire.Trade):
                self._take_trade(message, received)
            else:
                self._take_minute(message, received)
        return self._update_quotes(dict.fromkeys(message.symbol for message in ours), received)

    def take_bars(self) -> list[VenueBar]:
        """Returns the venue's own bars of minutes in the messages since the last call."""
        bars, self._bars = self._bars, []
        return bars

    def take_daily_history(self, histories: Mapping[str, DailyHistory], received: float) -> list[StockQuote]:
        """Returns the quotes changed by new daily histories, by ticker."""
        for ticker, history in histories.items():
            close, before = history.close_before(history.session), self._histories.get(ticker)
            if close and (before is None or before.close_before(history.session) != close):
                self._judge.refer(ticker, float(close), received)
            self._histories[ticker] = history
        return self._update_quotes((ticker for ticker in histories if ticker in self._states), received)

    def take_unscheduled(self, unscheduled: Unscheduled | None, received: float) -> list[StockQuote]:
        """Returns the quotes changed by the exchange's deviation from its calendar."""
        if unscheduled == self.unscheduled:
            return []
        self.unscheduled = unscheduled
        return self._update_quotes(self._states, received)

    def has_traded(self, now: float) -> bool:
        """Returns whether most stocks have traded since the calendar's last opening.

        True before any snapshot.
        """
        opening = next(EXCHANGE.until(to_utc(now))).open
        traded = sum(state.last.time >= opening for state in self._states.values())
        return 2 * traded > len(self._states) or not self._states

    def take_snapshots(self, rows: Mapping[str, Raw], received: float, asked_at: float) -> list[StockQuote]:
        """Returns the quotes changed by snapshots, by ticker, requested at `asked_at` (Unix time)."""
        settled = asked_at - SETTLING_SECONDS
        for ticker in rows.keys() & self._stocks.keys():
            for snapshot in decode_each([rows[ticker]], wire.decode_snapshot, self._refused):
                state = self._states.get(ticker)
                if last := self._last_price(ticker, snapshot, received, settled):
                    new = StockState(last, self._day_bar(snapshot, last, received))
                    self._states[ticker] = state.merge_snapshot(new) if state else new
        return self._update_quotes((ticker for ticker in rows if ticker in self._states), received)

    def _update_quotes(self, tickers: Iterable[str], received: float) -> list[StockQuote]:
        session = latest_session(to_utc(received), self.unscheduled)
        changed = []
        for ticker in tickers:
            quote = self._states[ticker].to_quote(
                self._stocks[ticker], session, received, self._histories.get(ticker)
            )
            if self._may_be_split(quote, session, received):
                quote = replace(quote, change=None, change_percent=None, previous_close=None, extended=UNSET)
            if quote != self._sent.get(ticker):
                self._sent[ticker] = quote
                changed.append(quote)
        return changed

    def _may_be_split(self, quote: StockQuote, session: TradingSession, received: float) -> bool:
        """Returns whether a change may be a split that the daily bars do not know yet.

        A later reading of the bars decides; an hour after the opening there is none.
        """
        ticker, history, previous = quote.ticker, self._histories.get(quote.ticker), quote.previous_close
        # A split into two or more, or its reverse, changes a price by about a whole factor.
        ratio = max(quote.price / previous, previous / quote.price) if previous else 1.0
        is_whole = round(ratio) > 1 and abs(ratio - round(ratio)) <= _SPLIT_TOLERANCE * ratio
        if history is None or not is_whole:
            self._split_by.pop(ticker, None)
            return False
        is_read_again = to_utc(received) < session.day.open + REFRESH_END
        return is_read_again and self._split_by.setdefault(ticker, history) is history

    def _take_trade(self, trade: wire.Trade, received: float) -> None:
        state, last = self._states[trade.symbol], trade.to_last_price()
        if not trade.sets_price:
            return
        if last is None:
            self._refused.count("unreadable")
        elif last.time < state.last.time:
            self._refused.count("outdated")
        elif self._accepts(trade.symbol, last, received):
            self._states[trade.symbol] = replace(state, last=_clamp_time(last, received))
            self._streamed_at[trade.symbol] = received

    def _take_minute(self, bar: wire.AlpacaBar, received: float) -> None:
        state, last = self._states[bar.symbol], bar.minute_close()
        if last is None or _is_future(last.time, received):
            self._refused.count("unreadable")
        elif self._accepts(bar.symbol, last, received):
            if minute := bar.to_minute_bar(partial(self._price, near=last.price)):
                self._states[bar.symbol] = state.with_minute(minute)
                traded = to_bar(bar, minute.start)
                if traded and traded.volume:
                    own = minute_of_venue(bar.symbol, traded, minute.start, near=traded.close, final=True)
                    if own:
                        self._bars.append(own)
            self._streamed_at[bar.symbol] = received

    def _last_price(
        self, ticker: str, snapshot: wire.StockSnapshot, received: float, settled: float
    ) -> LastPrice | None:
        """Returns the last price after a snapshot.

        That is the snapshot's price, unless it is invalid or the stream has delivered a newer one since the
        request.
        """
        state, new = self._states.get(ticker), snapshot.to_last_price()
        before = state.last if state else None
        if new is None or snapshot.has_unreadable_trade:
            self._refused.count("unreadable")
        if new is None:
            return before
        lags = snapshot.has_unreadable_trade or self._streamed_at.get(ticker, settled) > settled
        if before and new.time < before.time and lags:
            return before
        return _clamp_time(new, received) if self._accepts(ticker, new, received) else before

    def _accepts(self, ticker: str, last: LastPrice, received: float) -> bool:
        """Returns whether the last price is plausible, after split adjustment to the current session."""
        price = StockState(last).price(self._histories.get(ticker))
        reason = self._judge.doubt(ticker, float(price), received)
        if reason and self._repeats(ticker, last, received):
            self._judge.refer(ticker, float(price), received)
            return True
        if reason:
            self._refused.count(reason)
        return reason is None

    def _repeats(self, ticker: str, last: LastPrice, received: float) -> bool:
        """Returns whether enough trades of a session that has no believed price have about this one."""
        state = self._states.get(ticker)
        opened = latest_session(to_utc(received), self.unscheduled).day.pre_open
        if state is None or state.last.time >= opened or last.time < opened:
            return False
        before, count = self._doubted.get(ticker, (None, 0))
        if before and before.time == last.time:
            return False
        is_newer = before and opened <= before.time < last.time
        if not (before and is_newer and is_near(float(last.price), float(before.price), _REPEATED_FACTOR)):
            count = 0
        self._doubted[ticker] = last, count + 1
        return count + 1 >= BELIEVED_TRADES

    def _day_bar(self, snapshot: wire.StockSnapshot, last: LastPrice, received: float) -> DayBar | None:
        if snapshot.daily_bar is None or not self._consolidated:
            return None
        # For an earlier day the split-adjusted daily history applies, since a split may lie between that day
        # and the price.
        if (snapshot.daily_bar.trading_date or date.max) < last.time.astimezone(NEW_YORK).date():
            return None
        read = partial(self._price, near=last.price)
        day = snapshot.daily_bar.to_day_bar(read, snapshot.minute_bar)
        if day is None or day.date > to_utc(received).astimezone(NEW_YORK).date():
            self._refused.count("unreadable")
            return None
        return day

    def _price(self, raw: Number, near: Decimal) -> Decimal | None:
        """Returns a price of a daily or minute bar; None when implausible next to the last price."""
        price = positive(raw)
        if price is None and raw is not None:
            self._refused.count("unreadable")
        if price is None or near / ABSURD_FACTOR <= price <= near * ABSURD_FACTOR:
            return price
        self._refused.count("absurd")
        return None


def _clamp_time(last: LastPrice, received: float) -> LastPrice:
    """Returns the price, dated `received` when its own time lies in the future."""
    return replace(last, time=to_utc(received)) if _is_future(last.time, received) else last


def _is_future(time: datetime, received: float) -> bool:
    return time - to_utc(received) > MAX_SKEW
