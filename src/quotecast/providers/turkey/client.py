"""The Turkish market from several free sources, each at its own pace; the others suffice without any one."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

import structlog
from msgspec.structs import replace

from quotecast.backoff import Backoff, without_jitter
from quotecast.errors import UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.numbers import instant
from quotecast.market.quotes import DovizQuote
from quotecast.providers.base import Update
from quotecast.providers.tcmb.client import Tcmb
from quotecast.providers.turkey.dealing import Dealing, RatesAnswer

#: The age up to which a bulletin judges the market's rates: longer than holidays, shorter than a broken site.
LONGEST_REFERENCE: Final = timedelta(days=30)
#: The longest pause after failures of a source, unless it asks for a longer one.
LONGEST_BACKOFF_SECONDS: Final = 600.0

log = structlog.get_logger()


class RateSource(Protocol):
    """A source of the market's rates."""

    name: str
    every_seconds: float

    async def read(self) -> RatesAnswer:
        """Returns the present rates. Raises UpstreamError."""
        ...


class _Turn:
    """The time of a source's next poll: after its usual pause, and with backoff after failures."""

    def __init__(self, every_seconds: float, clock: Callable[[], float]) -> None:
        self._every_seconds = every_seconds
        self._clock = clock
        self._backoff = Backoff(every_seconds, LONGEST_BACKOFF_SECONDS, chance=without_jitter)
        self.due = 0.0

    def is_healthy(self) -> bool:
        return self._backoff.tries == 0 and self.due > 0

    def note_success(self) -> None:
        self._backoff.reset()
        self.due = self._clock() + self._every_seconds

    def note_failure(self, error: UpstreamError) -> None:
        wait = self._backoff.delay()
        self.due = self._clock() + max(wait, self._every_seconds, error.retry_after or 0.0)


class TurkeyProvider:
    """Quotes of the market, from the first of `sources` that answers, and from `tcmb`.

    The bank's rates judge those of the sources, the first ones too; a later bulletin removes quotes that are
    far from it. A source that fails keeps its last quotes, and its polls continue with backoff. A successful
    poll is a sign of life, with or without new prices: a quiet weekend is live.
    """

    feed = Feed.DOVIZ
    simulated = False
    delay_seconds = 0.0
    always_open = False

    def __init__(
        self,
        sources: Sequence[RateSource],
        tcmb: Tcmb,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = sources[0].name if sources else "tcmb"
        paces = [source.every_seconds for source in sources] or [tcmb.every_seconds]
        #: Two polls of the slowest source.
        self.silence_seconds = 2 * max(paces)
        self._sources = {source: _Turn(source.every_seconds, clock) for source in sources}
        self._tcmb = tcmb
        self._tcmb_turn = _Turn(tcmb.every_seconds, clock)
        self._clock = clock
        self._sleep = sleep
        self._dealing = Dealing()
        self._bulletin: dict[str, DovizQuote] = {}

    def statistics(self) -> Mapping[str, int]:
        """Returns how many rates it refused since the start, by reason."""
        return self._dealing.statistics()

    async def updates(self) -> AsyncGenerator[Update, None]:
        """See QuoteProvider; polls as long as any source answers. The first update has all last good quotes.

        Raises UpstreamError when no source answers for longer than `silence_seconds`, and at once if none
        ever did.
        """
        last_success, is_first = self._clock(), True
        while True:
            update, failures = await self._poll()
            if update is not None:
                last_success = self._clock()
                # Not before a source answers: an update says that the upstream lives.
                known = [*self._dealing.quotes(), *self._bulletin.values()]
                yield replace(update, quotes=known) if is_first else update
                is_first = False
            elif failures and not (self._bulletin or self._dealing.quotes()):
                raise failures[-1]
            elif self._clock() - last_success > self.silence_seconds:
                raise failures[-1] if failures else UpstreamError("no source of doviz answers")
            await self._sleep(max(0.0, self._next_due() - self._clock()))

    async def _poll(self) -> tuple[Update | None, list[UpstreamError]]:
        """Returns the changes, None if no source answered; and the failures.

        The central bank comes first: its rates judge the market's.
        """
        failures: list[UpstreamError] = []
        bulletin = await self._poll_tcmb(failures)
        # The bank's prices in lira for one unit; none of an old bulletin.
        oldest = datetime.fromtimestamp(self._clock(), UTC) - LONGEST_REFERENCE
        dated = ((quote, instant(quote.timestamp)) for quote in self._bulletin.values())
        references = {
            quote.symbol.removeprefix("tcmb-"): quote.price for quote, made in dated if made and made > oldest
        }
        far = self._dealing.judge_by(references)
        market = await self._poll_market(failures)
        if market is None and bulletin is None:
            return None, failures
        back = {quote.key for quote in market or ()}
        return Update([*(market or ()), *(bulletin or ())], [key for key in far if key not in back]), failures

    async def _poll_market(self, failures: list[UpstreamError]) -> list[DovizQuote] | None:
        """Polls the first source that is due and answers; leaves out those behind a healthy one."""
        for source, turn in self._sources.items():
            if turn.due > self._clock():
                if turn.is_healthy():
                    return None
                continue
            try:
                answer = await source.read()
            except UpstreamError as error:
                self._note_failure(source.name, turn, error, failures)
                continue
            turn.note_success()
            return self._dealing.take(answer.rates, source.name, self._clock(), answer.made)
        return None

    async def _poll_tcmb(self, failures: list[UpstreamError]) -> list[DovizQuote] | None:
        if self._tcmb_turn.due > self._clock():
            return None
        try:
            quotes = await self._tcmb.read()
        except UpstreamError as error:
            self._note_failure("tcmb", self._tcmb_turn, error, failures)
            return None
        self._tcmb_turn.note_success()
        changed = [quote for quote in quotes if self._bulletin.get(quote.key) != quote]
        self._bulletin |= {quote.key: quote for quote in changed}
        return changed

    def _note_failure(
        self, name: str, turn: _Turn, error: UpstreamError, failures: list[UpstreamError]
    ) -> None:
        turn.note_failure(error)
        failures.append(error)
        log.warning("doviz source failed", source=name, problem=str(error))

    def _next_due(self) -> float:
        """Returns the time of the next poll; a source behind a healthy one has none."""
        turns = [self._tcmb_turn]
        for turn in self._sources.values():
            turns.append(turn)
            if turn.is_healthy():
                break
        return min(turn.due for turn in turns)
