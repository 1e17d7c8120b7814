"""The providers that this process reads, as the settings choose them.

Of the upstreams of one feed, the first in the operator's order that works feeds it.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Final

import structlog

from quotecast.ingest.documents import DocumentSource, assets_source, news_source, renames_source
from quotecast.ingest.supervise import pump
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from quotecast.market.sessions import Unscheduled
from quotecast.providers.base import Inheriting, QuoteProvider, Resumable, Update, refusals_of
from quotecast.providers.offer import Budgets
from quotecast.providers.offers import offer_of
from quotecast.settings.model import Settings

#: Seconds of silence of the active upstream before failover tries the next one.
PATIENCE_SECONDS: Final = 20.0
#: Seconds that a new upstream collects quotes before it takes over, so that it starts with many.
GATHERING_SECONDS: Final = 2.0

log = structlog.get_logger()


class _Link:
    """One upstream with its connection, and the quotes that it sent."""

    def __init__(self, provider: QuoteProvider, inbox: asyncio.Queue["_Event"]) -> None:
        self.provider = provider
        self.quotes: dict[str, Quote] = {}
        self.unscheduled: Unscheduled | None = None
        self.heard_at = asyncio.get_running_loop().time()
        self.first_at = float("inf")
        self.task = asyncio.create_task(
            pump(
                provider,
                lambda update: inbox.put_nowait((self, update)),
                lambda: inbox.put_nowait((self, None)),
            )
        )

    def note(self, update: Update) -> None:
        """Applies an update. An empty one counts as a sign of life once there are quotes."""
        now = asyncio.get_running_loop().time()
        self.unscheduled = update.unscheduled
        if update.complete:
            self.quotes.clear()
        self.quotes.update((quote.key, quote) for quote in update.quotes)
        for key in update.removed:
            self.quotes.pop(key, None)
        if self.quotes:
            self.first_at = min(self.first_at, now)
            self.heard_at = now

    def forget(self) -> None:
        """Drops the quotes from before a silence or a disconnect: they are too old for a takeover."""
        self.quotes.clear()
        self.first_at = float("inf")


#: An update of a link; None when its connection has ended.
_Event = tuple[_Link, Update | None]


class Failover:
    """A QuoteProvider made of several: an active one and its fallbacks.

    Its properties are those of the active upstream. After `patience` seconds of silence the next one takes
    over. Those before it in the list keep reconnecting, and the first of them takes over again once it has
    collected quotes for `gathering` seconds. A takeover starts with a complete update: quotes of two
    upstreams never mix.
    """

    def __init__(
        self,
        providers: Sequence[QuoteProvider],
        *,
        patience: float = PATIENCE_SECONDS,
        gathering: float = GATHERING_SECONDS,
    ) -> None:
        if len({(provider.feed, provider.simulated) for provider in providers}) != 1:
            raise ValueError("fallbacks must quote the same feed, and be all real or all simulated")
        self._providers = providers
        self._patience = patience
        self._gathering = gathering
        self._active = providers[0]
        self.feed: Feed = providers[0].feed
        self.simulated = providers[0].simulated

    @property
    def name(self) -> str:
        """Returns the name of the active upstream."""
        return self._active.name

    @property
    def delay_seconds(self) -> float:
        """Returns how many seconds the active upstream is behind the market."""
        return self._active.delay_seconds

    @property
    def silence_seconds(self) -> float:
        """Returns the seconds of silence after which the feed is stale."""
        return self._active.silence_seconds

    @property
    def always_open(self) -> bool:
        """Returns whether the venue of the active upstream never closes."""
        return self._active.always_open

    def statistics(self) -> Mapping[str, int]:
        """See CountsRefusals: of all upstreams together."""
        return sum((Counter(refusals_of(each)) for each in self._providers), Counter())

    def resume(self, unscheduled: Unscheduled | None) -> None:
        """See Resumable: it concerns the upstream that feeds it now."""
        if isinstance(self._active, Resumable):
            self._active.resume(unscheduled)

    def inherit(self, quotes: Sequence[Quote]) -> None:
        """See Inheriting: they are of the upstream that feeds it now."""
        if isinstance(self._active, Inheriting):
            self._active.inherit(quotes)

    async def updates(self) -> AsyncGenerator[Update, None]:
        """Yields updates without end; after each connection another follows, here or at the next upstream."""
        inbox: asyncio.Queue[_Event] = asyncio.Queue()
        links = [_Link(self._providers[0], inbox)]
        active = links[0]
        self._active = active.provider
        try:
            while True:
                event = await self._next_event(inbox)
                if event:
                    link, update = event
                    if link not in links:
                        continue
                    if update:
                        link.note(update)
                        if link is active:
                            yield update
                    elif link is not active:
                        link.forget()
                best = self._choose(links, active)
                if best is not active:
                    log.warning("feed changes provider", feed=self.feed, provider=best.provider.name)
                    active, self._active = best, best.provider
                    await _close(links[links.index(active) + 1 :])
                    del links[links.index(active) + 1 :]
                    quotes = list(active.quotes.values())
                    yield Update(quotes, complete=True, unscheduled=active.unscheduled)
                elif self._is_silent(links[-1]) and len(links) < len(self._providers):
                    links.append(_Link(self._providers[len(links)], inbox))
        finally:
            await _close(links)

    async def _next_event(self, inbox: asyncio.Queue[_Event]) -> _Event | None:
        """Returns the next event, or None after a quiet period, so that the caller checks for silence."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._patience / 20):
                return await inbox.get()
        return None

    def _choose(self, links: Sequence[_Link], active: _Link) -> _Link:
        """Returns the first link with collected quotes and recent messages; the active one if none has."""
        now = asyncio.get_running_loop().time()
        for link in links:
            if self._is_silent(link):
                link.forget()
            elif link is active or now - link.first_at >= self._gathering:
                return link
        return active

    def _is_silent(self, link: _Link) -> bool:
        return asyncio.get_running_loop().time() - link.heard_at > self._patience


async def _close(links: Sequence[_Link]) -> None:
    for link in links:
        link.task.cancel()
    await asyncio.gather(*(link.task for link in links), return_exceptions=True)


def quote_providers(settings: Settings, budgets: Budgets) -> list[QuoteProvider]:
    """Returns a provider for each feed that this ingest leads."""
    followed = followed_feeds(settings)
    chosen: list[QuoteProvider] = []
    for feed in settings.configured_feeds():
        if feed not in followed:
            names = settings.providers_of(feed)
            providers = [quote_provider(name, feed, settings, budgets) for name in names]
            chosen.append(providers[0] if len(providers) == 1 else Failover(providers))
    return chosen


def followed_feeds(settings: Settings) -> list[Feed]:
    """Returns the feeds that another installation leads."""
    feeds = settings.configured_feeds()
    return [feed for feed in feeds if any(offer_of(name).follows for name in settings.providers_of(feed))]


def quote_provider(name: str, feed: Feed, settings: Settings, budgets: Budgets) -> QuoteProvider:
    """Returns one upstream's provider of a feed's quotes."""
    return offer_of(name).quotes[feed](settings.own[name], budgets)


def document_sources(settings: Settings, budgets: Budgets) -> list[DocumentSource]:
    """Returns the sources of news, assets and renames: the upstreams that quote the stocks have them too."""
    feed = Feed.STOCKS
    sources = []
    for name in settings.providers_of(feed):
        offer, own = offer_of(name), settings.own[name]
        if offer.news:
            sources.append(news_source(offer.news(own, budgets), feed))
        if offer.assets:
            sources.append(assets_source(offer.assets(own, budgets), feed))
        if offer.renames:
            sources.append(renames_source(offer.renames(own, budgets), feed))
    return sources
