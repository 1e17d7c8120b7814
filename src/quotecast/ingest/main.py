"""The ingest process: it publishes each feed whose lease it holds, from upstream to bus."""

import asyncio
import contextlib
import os
import secrets
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus

import uvloop

from quotecast import parent
from quotecast.bus.base import BusWriter
from quotecast.bus.redis import RedisBus
from quotecast.errors import BusError, SettingsError
from quotecast.history.recorder import FeedRecorder, Recorder
from quotecast.history.writer import BarWriter, write_bars
from quotecast.ingest import lease, recording, sources
from quotecast.ingest.bars import bar_writers
from quotecast.ingest.documents import DocumentSource, publish_documents
from quotecast.ingest.health import readiness
from quotecast.ingest.metrics import families
from quotecast.ingest.publish import SPACING_SECONDS, FeedPublisher, IngestStatistics
from quotecast.limits.budget import budget
from quotecast.limits.window import Window
from quotecast.market.feeds import Feed
from quotecast.observe import metrics
from quotecast.observe.logs import configure_logs
from quotecast.providers.base import QuoteProvider
from quotecast.redis import counts
from quotecast.settings.model import Settings


def run(settings: Settings) -> int:
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
        own = {provider.feed: statistics[provider.feed] for provider in providers}

        async def ready() -> tuple[HTTPStatus, bytes]:
            return readiness(own)

        async with (
            recording.recording(settings) as recorder,
            metrics.serve_metrics(
                settings.metrics_host,
                settings.metrics_port,
                partial(families, statistics, calls_left),
                counts.families,
                partial(recording.families, recorder),
                readiness=ready,
            ) as scraped,
        ):
            documents = sources.document_sources(settings, budgets)
            await _lead_all(settings, providers, documents, statistics, recorder=recorder, scraped=scraped)


async def _lead_all(
    settings: Settings,
    providers: list[QuoteProvider],
    documents: list[DocumentSource],
    statistics: Mapping[Feed, IngestStatistics],
    *,
    recorder: Recorder | None,
    scraped: str,
) -> None:
    bus = RedisBus(settings.redis_url, settings.redis_prefix)
    owner = f"{os.getpid()}-{secrets.token_hex(8)}"
    lead = partial(_lead, spacing_seconds=settings.bus_spacing_ms / 1000)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(bus.close)
        writers = await stack.enter_async_context(bar_writers(settings, providers, bus, statistics))
        tasks = [
            asyncio.create_task(
                lead(
                    provider,
                    documents,
                    bus,
                    owner,
                    statistics=statistics[feed],
                    bars=writers.get(feed),
                    recorder=recorder.feeds[feed] if recorder else None,
                )
            )
            for provider in providers
            for feed in [provider.feed]
        ]
        kept = f"; history of {settings.history}" if recorder else ""
        parent.announce(_introduction(providers, with_bars=bool(writers)) + kept + scraped)
        try:
            await _until_stopped(tasks)
        finally:
            for provider in providers:
                # A standby takes over at once instead of waiting for the lease to expire.
                with contextlib.suppress(BusError):
                    await bus.release(provider.feed, owner)


async def _until_stopped(tasks: list[asyncio.Task[None]]) -> None:
    """Runs the tasks until a signal, or until one of them fails."""
    stop = asyncio.create_task(parent.wait_for_stop())
    tasks.append(asyncio.create_task(parent.beat()))
    try:
        ended, _ = await asyncio.wait([stop, *tasks], return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _lead(
    provider: QuoteProvider,
    documents: list[DocumentSource],
    bus: BusWriter,
    owner: str,
    *,
    statistics: IngestStatistics | None = None,
    bars: BarWriter | None = None,
    spacing_seconds: float = SPACING_SECONDS,
    recorder: FeedRecorder | None = None,
) -> None:
    """Leads the feed, publishes its documents and writes its bars whenever no other ingest does."""
    own = [each for each in documents if each.feed is provider.feed]
    statistics = statistics or IngestStatistics()
    while True:
        await lease.acquire(bus, provider.feed, owner, report=statistics.set_standing)
        publisher = FeedPublisher(
            provider,
            bus,
            owner,
            statistics=statistics,
            spacing_seconds=spacing_seconds,
            recorder=recorder,
            recall=bars.recall if bars else None,
        )
        async with publish_documents(own, bus, owner), write_bars(bars, publisher.begun):
            # A task of its own: before Python 3.13 a failing TaskGroup loses a cancellation.
            await asyncio.create_task(publisher.run())
            _raise_if_cancelled()


def _raise_if_cancelled() -> None:
    task = asyncio.current_task()
    if task and task.cancelling():
        raise asyncio.CancelledError


def _introduction(providers: list[QuoteProvider], *, with_bars: bool) -> str:
    feeds = ", ".join(f"{provider.feed} from {provider.name}" for provider in providers) or "no feed"
    simulated = [provider.feed for provider in providers if provider.simulated]
    note = f"; simulated data: {', '.join(simulated)}" if simulated else ""
    bars = "" if with_bars else "; bars are live only, without QUOTECAST_DATABASE_URL"
    return f"ingest of {feeds}{note}{bars}"
