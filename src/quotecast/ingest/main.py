"""The ingest process: it publishes each feed whose lease it holds, from upstream to bus."""

import argparse
import asyncio
import contextlib
import os
import secrets
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

import msgspec
import uvloop

from quotecast import parent
from quotecast.alerts.statistics import DeliveryStatistics, delivery_families
from quotecast.alerts.writer import FeedAlerts
from quotecast.background import run_beside
from quotecast.bus.base import BusWriter
from quotecast.bus.redis import RedisBus
from quotecast.bus.remote import RemoteBus
from quotecast.errors import BusError, SettingsError
from quotecast.garbage import freeze_after
from quotecast.history.recorder import SegmentRecorder
from quotecast.history.writer import BarWriter
from quotecast.ingest import delaying, lease, recording, sources
from quotecast.ingest.alerts import alerts_of_feeds, deliver_events
from quotecast.ingest.bars import FollowedBars, bar_writers, market_of
from quotecast.ingest.delaying import Delaying
from quotecast.ingest.documents import DocumentSource, publish_documents
from quotecast.ingest.follow import Follower
from quotecast.ingest.metrics import families
from quotecast.ingest.publish import FeedPublisher, IngestStatistics
from quotecast.ingest.report import reporting
from quotecast.ingest.sinks import Sink
from quotecast.limits.budget import budget
from quotecast.limits.window import Window
from quotecast.market.feeds import Feed
from quotecast.observe import metrics
from quotecast.observe.logs import configure_logs
from quotecast.providers.base import QuoteProvider
from quotecast.redis import counts
from quotecast.settings.model import Settings
from quotecast.settings.plans import users_are_delayed


def run(settings: Settings, _: argparse.Namespace) -> int:
    """Runs until a stop signal. Returns the exit code."""
    if not settings.redis_url:
        raise SettingsError("QUOTECAST_REDIS_URL: name a Redis; `quotecast up` starts one of its own")
    configure_logs(level=settings.log_level, as_json=settings.mode == "production")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings))
    return 0


async def _serve(settings: Settings) -> None:
    async with Window(settings.redis_url, prefix=f"{settings.redis_prefix}:budgets") as window:
        calls_left: dict[str, int] = {}
        budgets = partial(budget, window.check, left=calls_left)
        providers = sources.quote_providers(settings, budgets)
        statistics = {feed: IngestStatistics() for feed in Feed}
        deliveries = DeliveryStatistics()
        own = {feed: statistics[feed] for feed in settings.configured_feeds()}

        async def ready() -> tuple[HTTPStatus, bytes]:
            return readiness(own)

        bus = RedisBus(settings.redis_url, settings.redis_prefix)
        owner = f"{os.getpid()}-{secrets.token_hex(8)}"
        async with (
            contextlib.AsyncExitStack() as stack,
            recording.recording(settings) as recorder,
            delaying.delaying(settings, bus, owner) as delayed,
            metrics.serve_metrics(
                settings.metrics_host,
                settings.metrics_port,
                partial(families, statistics, calls_left),
                counts.families,
                partial(recording.families, recorder),
                partial(delaying.families, delayed),
                partial(delivery_families, deliveries),
                readiness=ready,
            ) as scraped,
            deliver_events(settings, deliveries),
            reporting(settings, own, delayed.statistics, calls_left),
        ):
            stack.push_async_callback(bus.close)
            documents = sources.document_sources(settings, budgets)
            kept = f"; history of {settings.history}" if recorder else ""
            late = f"; delayed feeds, {settings.delay_seconds} s late" if delayed.keepers else ""
            late += "; no alerts, for users see delayed quotes" if users_are_delayed(settings) else ""
            await _lead_all(
                settings,
                providers,
                documents,
                statistics,
                bus=bus,
                owner=owner,
                sinks=partial(_sinks_of, recorder, delayed),
                loops=delayed.loops,
                notes=kept + late + scraped,
            )


def _sinks_of(recorder: SegmentRecorder | None, delayed: Delaying, feed: Feed) -> list[Sink]:
    """Returns what takes the messages that a feed has published."""
    sinks: list[Sink] = [delayed.keepers[feed]] if feed in delayed.keepers else []
    return [recorder.feeds[feed], *sinks] if recorder else sinks


async def _lead_all(
    settings: Settings,
    providers: list[QuoteProvider],
    documents: list[DocumentSource],
    statistics: Mapping[Feed, IngestStatistics],
    *,
    bus: RedisBus,
    owner: str,
    sinks: Callable[[Feed], Sequence[Sink]],
    loops: Iterable[Coroutine[Any, Any, None]],
    notes: str,
) -> None:
    lead = partial(_lead, spacing_seconds=settings.bus_spacing_ms / 1000)
    async with contextlib.AsyncExitStack() as stack:
        writers = await stack.enter_async_context(bar_writers(settings, bus, statistics))
        alerts = await stack.enter_async_context(alerts_of_feeds(settings, providers, bus, statistics))
        tasks = [asyncio.create_task(each) for each in loops]
        tasks += [
            asyncio.create_task(
                lead(
                    provider,
                    documents,
                    bus,
                    owner,
                    statistics=statistics[feed],
                    bars=writers(feed, market_of(provider)) if writers else None,
                    alerts=alerts.get(feed),
                    sinks=sinks(feed),
                )
            )
            for provider in providers
            for feed in [provider.feed]
        ]
        followed = sources.followed_feeds(settings)
        tasks += [
            asyncio.create_task(
                _follow(
                    feed,
                    settings,
                    bus,
                    owner,
                    statistics=statistics[feed],
                    bars=FollowedBars(partial(writers, feed) if writers else None),
                    sinks=sinks(feed),
                )
            )
            for feed in followed
        ]
        followed_from = f"; follows {', '.join(followed)} of {settings.origin}, where their alerts are judged"
        following = followed_from if followed else ""
        parent.announce(_introduction(providers, with_bars=bool(writers)) + following + notes)
        try:
            await parent.run_until_stopped([*tasks, asyncio.create_task(parent.beat())])
        finally:
            for feed in settings.configured_feeds():
                # A standby takes over at once instead of waiting for the lease to expire.
                with contextlib.suppress(BusError):
                    await bus.release(feed, owner)


async def _lead(
    provider: QuoteProvider,
    documents: list[DocumentSource],
    bus: BusWriter,
    owner: str,
    *,
    statistics: IngestStatistics,
    bars: BarWriter | None,
    alerts: FeedAlerts | None,
    spacing_seconds: float,
    sinks: Sequence[Sink],
) -> None:
    """Leads the feed, and writes its documents, bars and events of alerts, whenever no other ingest does."""
    own = [each for each in documents if each.feed is provider.feed]

    async def term() -> None:
        publisher = FeedPublisher(
            provider,
            bus,
            owner,
            statistics=statistics,
            spacing_seconds=spacing_seconds,
            sinks=sinks,
            recall=bars.recall if bars else None,
            alerts=alerts,
        )
        beside = [freeze_after(publisher.begun)]
        beside += [bars.run_after(publisher.begun)] if bars else []
        beside += [alerts.writer.run()] if alerts else []
        async with publish_documents(own, bus, owner), run_beside(*beside):
            await publisher.run()

    await lease.lead(bus, provider.feed, owner, term, statistics.set_standing)


async def _follow(
    feed: Feed,
    settings: Settings,
    bus: BusWriter,
    owner: str,
    *,
    statistics: IngestStatistics,
    bars: FollowedBars,
    sinks: Sequence[Sink],
) -> None:
    """Follows the feed of another installation whenever no other ingest does."""

    async def term() -> None:
        origin = RemoteBus(settings.origin, settings.origin_secret)
        follower = Follower(feed, origin, bus, owner, bars=bars, statistics=statistics, sinks=sinks)
        async with run_beside(freeze_after(follower.begun)):
            await follower.run()

    await lease.lead(bus, feed, owner, term, statistics.set_standing)


def _introduction(providers: list[QuoteProvider], *, with_bars: bool) -> str:
    feeds = ", ".join(f"{provider.feed} from {provider.name}" for provider in providers) or "no feed"
    simulated = [provider.feed for provider in providers if provider.simulated]
    note = f"; simulated data: {', '.join(simulated)}" if simulated else ""
    bars = "" if with_bars else "; bars are live only, and no alerts, without QUOTECAST_DATABASE_URL"
    return f"ingest of {feeds}{note}{bars}"


def readiness(statistics: Mapping[Feed, IngestStatistics]) -> tuple[HTTPStatus, bytes]:
    """Returns 200, or 503 while the bus does not say who leads; the body has its role in each feed."""
    feeds = {feed: each.standing for feed, each in statistics.items()}
    waiting = "unknown" in feeds.values()
    body = msgspec.json.encode({"status": "waiting" if waiting else "ready", "feeds": feeds})
    return HTTPStatus.SERVICE_UNAVAILABLE if waiting else HTTPStatus.OK, body
