"""Several upstreams of one feed: the first that works feeds it, and gives it back to those before it."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from typing import Final

import structlog

from quotecast.ingest.supervise import pump
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from quotecast.providers.base import QuoteProvider, Update

#: How long the one that feeds may say nothing before the next is tried.
PATIENCE_SECONDS: Final = 20.0
#: How long one that comes in may bring quotes before it takes over, so that it begins with many.
GATHERING_SECONDS: Final = 2.0

log = structlog.get_logger()


class _Link:
    """One upstream, kept connected, and what it has told."""

    def __init__(self, provider: QuoteProvider, inbox: asyncio.Queue["_Event"]) -> None:
        self.provider = provider
        self.quotes: dict[str, Quote] = {}
        self.heard_at = asyncio.get_running_loop().time()
        self.first_at = float("inf")
        self._inbox = inbox
        self.task = asyncio.create_task(pump(provider, self._take, self._end))

    def note(self, update: Update) -> None:
        """Keeps what was told; signs of life count once there are quotes."""
        now = asyncio.get_running_loop().time()
        if update.complete:
            self.quotes.clear()
        self.quotes.update((quote.key, quote) for quote in update.quotes)
        for key in update.removed:
            self.quotes.pop(key, None)
        if self.quotes:
            self.first_at = min(self.first_at, now)
            self.heard_at = now

    def forget(self) -> None:
        """Drops the quotes from before a silence or a hang-up: they are too old to take over with."""
        self.quotes.clear()
        self.first_at = float("inf")

    def _take(self, update: Update) -> None:
        self._inbox.put_nowait((self, update))

    def _end(self) -> None:
        self._inbox.put_nowait((self, None))


#: An update of a link; None when its connection has ended.
_Event = tuple[_Link, Update | None]


class Failover:
    """The provider of a feed that others stand behind, as QuoteProvider promises.

    Its name and manner are those of the upstream that feeds it now. The next one takes over when that has
    been silent for `patience` seconds; those before it are tried again all the while, and take over as soon
    as a connection of theirs brings quotes and lasts. The successor begins with all it has: quotes of two
    upstreams are never mixed.
    """

    def __init__(
        self,
        providers: Sequence[QuoteProvider],
        *,
        patience: float = PATIENCE_SECONDS,
        gathering: float = GATHERING_SECONDS,
    ) -> None:
        if len({(provider.feed, provider.simulated) for provider in providers}) != 1:
            raise ValueError("providers that stand in for each other are of one feed, and all real or none")
        self._providers = providers
        self._patience = patience
        self._gathering = gathering
        self._active = providers[0]
        self.feed: Feed = providers[0].feed
        self.simulated = providers[0].simulated

    @property
    def name(self) -> str:
        """Who feeds the feed now."""
        return self._active.name

    @property
    def delay_seconds(self) -> float:
        """How far that one is behind the market."""
        return self._active.delay_seconds

    @property
    def silence_seconds(self) -> float:
        """After how long a silence the feed is stale."""
        return self._active.silence_seconds

    @property
    def always_open(self) -> bool:
        """Whether its venue never closes."""
        return self._active.always_open

    async def updates(self) -> AsyncGenerator[Update, None]:
        """For ever: whatever ends a connection, another follows, here or at the next upstream."""
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
                chosen = self._choose(links, active)
                if chosen is not active:
                    log.warning("feed changes provider", feed=self.feed, provider=chosen.provider.name)
                    active, self._active = chosen, chosen.provider
                    await _close(links[links.index(active) + 1 :])
                    del links[links.index(active) + 1 :]
                    yield Update(list(active.quotes.values()), complete=True)
                elif self._is_silent(links[-1]) and len(links) < len(self._providers):
                    links.append(_Link(self._providers[len(links)], inbox))
        finally:
            await _close(links)

    async def _next_event(self, inbox: asyncio.Queue[_Event]) -> _Event | None:
        """What is told next; None when nothing is for a while, so that silence is noticed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._patience / 20):
                return await inbox.get()
        return None

    def _choose(self, links: Sequence[_Link], active: _Link) -> _Link:
        """The first that has gathered its quotes and still speaks; the present one if there is none."""
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
