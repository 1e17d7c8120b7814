"""Watches an upstream through its adapter, with the settings of this process."""

import asyncio
import contextlib
from collections.abc import Mapping

from quotecast.commands.auditing.figures import Moment, QuoteFigures, Silence
from quotecast.commands.auditing.report import (
    QUIETEST,
    AuditReport,
    BackwardsReport,
    FeedAuditReport,
    SilenceReport,
    age_report,
    note_progress,
    rate,
    rounded,
)
from quotecast.environment import PREFIX
from quotecast.errors import SettingsError
from quotecast.ingest import sources
from quotecast.ingest.supervise import pump
from quotecast.providers import refusals
from quotecast.providers.base import QuoteProvider, Update, unlimited
from quotecast.providers.offers import offer_of
from quotecast.settings.model import Settings
from quotecast.settings.providers import key_variables


class UpstreamAudit:
    """Takes the updates of one upstream's provider of a feed; no I/O."""

    def __init__(self, start: Moment) -> None:
        self.quotes = QuoteFigures()
        self.updates = Silence(start.steady)
        #: Numbers of updates, signs of life among them, and of ends of the connection.
        self.messages = self.ends = 0
        self._start = start
        self._symbols: set[str] = set()

    def take(self, update: Update, now: Moment) -> None:
        """Takes an update of the adapter."""
        self.messages += 1
        self.updates.note(now.steady)
        for quote in update.quotes:
            self._symbols.add(quote.key)
            self.quotes.take(quote.key, quote.timestamp, now)
        gone = set(update.removed)
        if update.complete:
            gone |= self._symbols - {quote.key for quote in update.quotes}
        for symbol in gone:
            self._symbols.discard(symbol)
            self.quotes.forget(symbol)

    def report(self, refused: Mapping[str, int], now: Moment) -> FeedAuditReport:
        """Returns the figures up to now; `refused` are the numbers of refused rows by reason."""
        seconds = now.steady - self._start.steady
        self.quotes.ages.settle()
        return FeedAuditReport(
            messages=self.messages,
            quotes=self.quotes.count,
            messages_per_second=rate(self.messages, seconds),
            quotes_per_second=rate(self.quotes.count, seconds),
            symbols=len(self._symbols),
            ages=age_report(self.quotes.ages),
            silences=SilenceReport(
                round(self.updates.longest(now.steady), 3),
                None,
                0,
                rounded(self.quotes.quietest(QUIETEST, now.steady)),
            ),
            backwards=BackwardsReport(self.quotes.backwards),
            refused=dict(refused),
        )


def providers_of(name: str, settings: Settings) -> list[QuoteProvider]:
    """Returns the vendor's provider of each feed. Raises SettingsError for a vendor without quotes."""
    if name not in settings.own or not offer_of(name).quotes:
        known = sorted(each for each in settings.own if offer_of(each).quotes)
        raise SettingsError(f"--vendor: {name} has no quotes; name one of {', '.join(known)}")
    offer = offer_of(name)
    for problem in offer.problems(settings.own[name]):
        raise SettingsError(f"{PREFIX}{name.upper()}_{problem}")
    if not all(getattr(settings.own[name], key) for key in offer.keys):
        raise SettingsError(f"--vendor: {name} needs its keys in {' and '.join(key_variables(name))}")
    return [sources.quote_provider(name, feed, settings, lambda *_: unlimited) for feed in offer.quotes]


def audit_vendor(name: str, providers: list[QuoteProvider], seconds: float) -> AuditReport:
    """Watches for some seconds, or until Ctrl-C."""
    start = Moment.now()
    audits = {provider.feed.spec.name: UpstreamAudit(start) for provider in providers}
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_watch(providers, audits, seconds))
    refused = {reason: count for (_, reason), count in refusals.totals().items()}
    now = Moment.now()
    return AuditReport(
        source=name,
        seconds=round(now.steady - start.steady, 3),
        clock=None,
        reconnects=sum(audit.ends for audit in audits.values()),
        feeds={feed: audit.report(refused, now) for feed, audit in audits.items()},
    )


async def _watch(providers: list[QuoteProvider], audits: Mapping[str, UpstreamAudit], seconds: float) -> None:
    def count() -> str:
        updates = sum(audit.messages for audit in audits.values())
        quotes = sum(audit.quotes.count for audit in audits.values())
        return f"{updates} updates, {quotes} quotes"

    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as tasks:
            for provider in providers:
                tasks.create_task(_pump(provider, audits[provider.feed.spec.name]))
            tasks.create_task(note_progress(seconds, count))


async def _pump(provider: QuoteProvider, audit: UpstreamAudit) -> None:
    def take(update: Update) -> None:
        audit.take(update, Moment.now())

    def end() -> None:
        audit.ends += 1

    await pump(provider, take, end)
