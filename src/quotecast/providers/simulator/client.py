"""The simulated market as a provider of quotes, with the checks that a vendor's quotes pass."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import cycle, islice
from math import isfinite
from typing import Final

from quotecast.errors import UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.numbers import MAX_SKEW
from quotecast.market.own_bars import VenueBar
from quotecast.market.quotes import CryptoQuote, DovizQuote, Quote
from quotecast.market.reference import doviz_instruments, pairs
from quotecast.providers.base import Update
from quotecast.providers.refusals import Reason, RefusalCounter
from quotecast.providers.validation.judgement import Judge
from quotecast.simulation.market.arrivals import Arrival, Arrivals
from quotecast.simulation.market.candles import MINUTE
from quotecast.simulation.market.invented import TABLE_STOCKS, listed_stocks
from quotecast.simulation.market.quoters import NAME, Quoter, iso
from quotecast.simulation.market.scenarios.base import Listed
from quotecast.simulation.market.scenarios.schedule import Schedule
from quotecast.simulation.market.special_days import SpecialExchange
from quotecast.simulation.market.trades import PAUSE
from quotecast.simulation.market.venues import hours_of, quoters

#: Seconds between two updates: the shortest interval a client can choose. Shorter when the rate needs it.
_TICK_SECONDS: Final = 0.1
#: Seconds after which an update is sent even if it is empty.
_HEARTBEAT_SECONDS: Final = 1.0
#: Seconds of the rate that a late tick makes up for; older quotes are skipped.
_CATCH_UP_SECONDS: Final = 0.25
#: Maximum share of the instruments in one tick, because not all of them trade between two ticks.
_SHARE_PER_TICK: Final = 0.4
#: Maximum quotes of one tick, so that the event loop serves others in between.
_QUOTES_PER_TICK: Final = 1000
#: Simulated milliseconds after a minute's end in which its bars come: the feed closes it after two seconds.
_IN_TIME: Final = 1500
#: Quotes of the first update computed before the event loop runs other tasks.
_SLICE: Final = 25
_SKEW_MS: Final = int(MAX_SKEW.total_seconds() * 1000)


class SimulatorProvider:
    """Quotes of one feed's simulated instruments, a pure function of seed and time.

    Two providers with the same seed return the same quotes at the same time. Simulated time starts with the
    provider and runs `speed` times as fast as the clock. The provider sends `rate` quotes per second on
    average, as long as enough of them change: an instrument trades 500 times per simulated second. The
    scenarios of `schedule` change the quotes and how they arrive; the provider checks what arrives as it
    would check a vendor's messages.
    """

    name = NAME
    simulated = True
    delay_seconds = 0.0
    silence_seconds = 5.0

    def __init__(
        self,
        feed: Feed,
        *,
        seed: int,
        rate: float,
        speed: float,
        always_open: bool,
        schedule: Schedule | None = None,
        stocks: int = TABLE_STOCKS,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.feed = feed
        self.always_open = always_open or feed is not Feed.STOCKS
        self._seed = seed
        self._stocks = stocks
        self._rate = rate
        self._speed = speed
        self._clock = clock
        self._sleep = sleep
        self._start = clock()
        self._hours = hours_of(feed, always_open=always_open)
        self._schedule = schedule or Schedule()
        self._checks = Checks()
        self._removals = _Removals(feed, self._schedule, stocks)
        self._exchange = SpecialExchange(() if self.always_open else self._schedule.special_days())
        self._unscheduled_at = lru_cache(1)(self._exchange.unscheduled_at)

    def statistics(self) -> Mapping[str, int]:
        """See CountsRefusals."""
        return self._checks.statistics()

    async def updates(self) -> AsyncGenerator[Update, None]:
        """Yields all quotes, then the changed ones; an empty update after a second without changes.

        Raises UpstreamError when a scenario refuses or breaks the connection.
        """
        all_quoters = quoters(
            self.feed,
            self._seed,
            self._hours,
            self._schedule if self._schedule.planned else None,
            stocks=self._stocks,
        )
        self._schedule.admit(self._moment(self._clock()))
        yield self._update(await self._first_quotes(all_quoters), complete=True)
        turn, arrivals = cycle(all_quoters), Arrivals(self._schedule)
        updated_at = self._clock()
        credit, pause = _Credit(updated_at), _tick_seconds(len(all_quoters), self._rate)
        while True:
            behind = credit.quotes >= _QUOTES_PER_TICK
            await self._sleep(0 if behind else _seconds_to_next(pause, self._clock()))
            now = self._clock()
            moment = self._moment(now)
            before = self._moment(credit.grown_at)
            if self._schedule.refusal(moment) == "maintenance":
                self._schedule.admit(moment)
            if self._schedule.drops(before, moment):
                raise UpstreamError("The simulator lost the connection")
            rate = self._rate * self._schedule.rate(moment)
            credit.grow(now, rate)
            pause = _tick_seconds(len(all_quoters), rate)
            if self._schedule.is_silent(moment):
                continue
            bars = [] if self._schedule.planned else _ended_minutes(all_quoters, before, moment)
            quotes = _new_quotes(
                islice(turn, len(all_quoters)), moment, min(int(credit.quotes), _QUOTES_PER_TICK)
            )
            credit.quotes -= len(quotes)
            quotes = self._receive(arrivals, quotes, moment)
            removed = self._removals.next_removed(moment)
            if quotes or removed or bars or abs(now - updated_at) >= _HEARTBEAT_SECONDS:
                updated_at = now
                yield self._update(quotes, removed, bars=bars)
            if not quotes and moment >= self._hours.latest(moment).end:
                pause = _HEARTBEAT_SECONDS

    def _update(
        self,
        quotes: Sequence[Quote],
        removed: Sequence[str] = (),
        *,
        complete: bool = False,
        bars: Sequence[VenueBar] = (),
    ) -> Update:
        minute = self._moment(self._clock()) // MINUTE * MINUTE / 1000
        unscheduled = self._unscheduled_at(datetime.fromtimestamp(minute, UTC))
        return Update(quotes, removed, complete=complete, unscheduled=unscheduled, bars=bars)

    async def _first_quotes(self, all_quoters: list[Quoter]) -> list[Quote]:
        while self._schedule.is_silent(moment := self._moment(self._clock())):
            await self._sleep(_TICK_SECONDS)
        quotes: list[Quote] = []
        turn = iter(all_quoters)
        while some := list(islice(turn, _SLICE)):
            quotes += _new_quotes(iter(some), moment, _SLICE)
            await self._sleep(0)
        self._checks.believe(quotes, moment)
        return quotes

    def _receive(self, arrivals: Arrivals, quotes: list[Quote], moment: int) -> list[Quote]:
        """Sends quotes on their way; returns the believable ones of those that arrive now."""
        if not self._schedule.planned:
            return quotes
        arrivals.send(quotes, moment)
        arrived = self._checks.take(arrivals.receive(moment), moment)
        return [quote for quote in arrived if quote.key not in self._removals.gone]

    def _moment(self, now: float) -> int:
        return int((self._start + (now - self._start) * self._speed) * 1000)


class _Credit:
    """The quotes that may be sent now; they grow with the clock at a rate."""

    def __init__(self, now: float) -> None:
        self.quotes = 0.0
        self.grown_at = now

    def grow(self, now: float, rate: float) -> None:
        """Adds the quotes since the last call; after a late tick not all of them."""
        more = max(0.0, now - self.grown_at) * rate
        self.quotes = min(self.quotes + more, max(1.0, _CATCH_UP_SECONDS * rate))
        self.grown_at = now


class _Removals:
    """Reports each instrument once when its listing ends; `gone` are the keys of those without one."""

    def __init__(self, feed: Feed, schedule: Schedule, stocks: int) -> None:
        self._schedule = schedule
        self._symbols = {
            key: symbol
            for key, symbol in _instruments(feed, stocks).items()
            if any(isinstance(each, Listed) for each in schedule.alterations(symbol))
        }
        self.gone: set[str] = set()

    def next_removed(self, moment: int) -> list[str]:
        """Returns the keys of the instruments that left since the last call, up to a moment."""
        before = self.gone
        self.gone = {
            key for key, symbol in self._symbols.items() if not self._schedule.is_listed(symbol, moment)
        }
        return sorted(self.gone - before)


def _instruments(feed: Feed, stocks: int) -> dict[str, str]:
    """Returns the market's symbol of each key; a bank's instrument is listed as long as its underlying."""
    match feed:
        case Feed.STOCKS:
            return {stock.ticker: stock.ticker for stock in listed_stocks(stocks)}
        case Feed.CRYPTO:
            return {pair.ticker: pair.ticker for pair in pairs()}
        case Feed.DOVIZ:
            return {each.symbol: each.underlying or each.symbol for each in doviz_instruments()}


def _ended_minutes(all_quoters: Sequence[Quoter], before: int, moment: int) -> list[VenueBar]:
    """Returns the bars of the minute that ended between two ticks, of the instruments asked in it.

    A bar that would come after the feed has closed the minute is left out.
    """
    opened, ended = before - before % MINUTE, moment - moment % MINUTE
    if opened + MINUTE != ended or moment - ended >= _IN_TIME:
        return []
    bars = (quoter.minute() for quoter in all_quoters)
    return [each for each in bars if each.bar.opened * 1000 == opened]


def _tick_seconds(instruments: int, rate: float) -> float:
    enough = max(
        PAUSE / 1000, min(_TICK_SECONDS, _SHARE_PER_TICK * instruments / rate, _QUOTES_PER_TICK / rate)
    )
    return min(_HEARTBEAT_SECONDS, max(enough, 1 / rate))


def _seconds_to_next(pause: float, now: float) -> float:
    """Returns the seconds to the next multiple of `pause`, or to the one after if the next is imminent.

    All feeds then tick at the same time, so a worker process wakes once for all of them.
    """
    wait = pause - now % pause
    return wait if wait > pause / 4 else wait + pause


def _new_quotes(turn: Iterator[Quoter], moment: int, limit: int) -> list[Quote]:
    quotes: list[Quote] = []
    while len(quotes) < limit and (quoter := next(turn, None)):
        quote = quoter.next_quote(moment)
        if quote is not None:
            quotes.append(quote)
    return quotes


class Checks:
    """The believable quotes of one feed, over all its connections.

    It refuses, and counts by reason, a quote without a price above zero or from the future (`unreadable`),
    older than one already taken (`outdated`), and one whose price is far from the last good one, or whose bid
    is above its ask (`absurd`). A new previous close judges the price with it: a split may change both by
    more than a crash. Its times are Unix milliseconds of the market.
    """

    def __init__(self) -> None:
        self._refused = RefusalCounter(NAME)
        self._judge = Judge()
        #: The newest previous close of each instrument, and when it was sent.
        self._closes: dict[str, tuple[int, float]] = {}

    def statistics(self) -> Mapping[str, int]:
        """Returns how many quotes it refused since the start, by reason."""
        return self._refused.by_reason()

    def believe(self, quotes: Iterable[Quote], moment: int) -> None:
        """Takes quotes that are right; they judge later ones."""
        for quote in quotes:
            self._judge.refer(quote.key, quote.price, moment / 1000)

    def take(self, arrivals: Iterable[Arrival], moment: int) -> list[Quote]:
        """Returns the newest believable quote of each instrument."""
        quotes: dict[str, Quote] = {}
        latest = iso(moment + _SKEW_MS)
        for arrival in arrivals:
            if reason := self._doubt(arrival, moment, latest):
                self._refused.count(reason)
            else:
                quotes[arrival.quote.key] = arrival.quote
        return [*quotes.values()]

    def _doubt(self, arrival: Arrival, moment: int, latest: str) -> Reason | None:
        quote = arrival.quote
        if not isfinite(quote.price) or quote.price <= 0 or (quote.timestamp or "") > latest:
            return "unreadable"
        if _is_crossed(quote):
            return "absurd"
        close = None if isinstance(quote, CryptoQuote) else quote.previous_close
        sent, before = self._closes.get(quote.key, (0, None))
        if close is not None and arrival.sent >= sent:
            self._closes[quote.key] = (arrival.sent, close)
            if before is not None and close != before:
                self._judge.refer(quote.key, close, moment / 1000)
        return self._judge.doubt(quote.key, quote.price, moment / 1000, arrival.sent)


def _is_crossed(quote: Quote) -> bool:
    match quote:
        case CryptoQuote(bid=float(bid), ask=float(ask)):
            return bid > ask
        case DovizQuote():
            return quote.buying > quote.selling
        case _:
            return False
