"""Liveness and readiness of a worker."""

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final, Literal

from litestar import Router, get
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from quotecast.api.answers.answers import CACHE_NOTHING, JSON, Answer, content_tag
from quotecast.api.market.services import HttpRequest, MarketServices, services_of
from quotecast.api.reference.openapi import Reading, answered, described
from quotecast.feed.mirror import FeedState
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed

CHECK_SECONDS: Final = 1.0


class Health(Struct, frozen=True):
    """The answer of a living process."""

    status: Literal["ok"] = "ok"


class FeedAge(Struct, frozen=True, rename="camel"):
    """The freshness of a feed: seconds since its last message on the bus, null before the first."""

    state: FeedState
    age_seconds: float | None
    #: `unreadable` while the worker cannot read the state on the bus.
    problem: Literal["unreadable"] | UnsetType = UNSET


class Readiness(Struct, frozen=True):
    """The checks and feeds of this worker; `detail` and `code` only while it should get no traffic."""

    status: Literal["ready", "loading", "draining"]
    checks: dict[str, str]
    feeds: dict[Feed, FeedAge]
    detail: str | UnsetType = UNSET
    code: Literal["no_data", "draining", "not_serving"] | UnsetType = UNSET


_FRESH: Final = {feed: FeedAge("live", 0.42) for feed in Feed}
_FINE: Final = {"redis": "ok", "postgres": "ok"}
_READY: Final = Readiness("ready", _FINE, _FRESH)
_DRAINING: Final = Readiness("draining", _FINE, _FRESH, "Draining", "draining")


@get(
    "/health",
    sync_to_thread=False,
    operation_id="getHealth",
    summary="Liveness of the process",
    operation_class=Reading,
    responses=answered(Health, Health(), "The process is alive"),
)
def health() -> Answer:
    """Checks nothing but that the process answers."""
    return _answer(encode_json(Health()), 200)


@get(
    "/ready",
    operation_id="getReadiness",
    summary="Readiness for traffic",
    operation_class=Reading,
    responses=answered(Readiness, _READY, "Send traffic")
    | {503: described(Readiness, _DRAINING, "This worker is draining, or has no data yet")},
)
async def ready(request: HttpRequest) -> Answer:
    """Reports outages of Redis and PostgreSQL in the body only: the worker still serves from memory."""
    found = await readiness(services_of(request), request.app.state.services)
    return _answer(encode_json(found), 200 if found.status == "ready" else 503)


async def readiness(services: MarketServices, worker: MarketServices) -> Readiness:
    """Runs the checks and returns the readiness of a worker, with the feeds of a client's view."""
    outcomes = await asyncio.gather(*map(_outcome, services.checks.values()))
    checks = dict(zip(services.checks, outcomes, strict=True))
    now, feeds = services.monotonic(), {}
    for feed in services.configured():
        mirror = services.mirrors[feed]
        age = now - mirror.heard_at
        shown = None if age == float("inf") else round(age, 3)
        feeds[feed] = FeedAge(mirror.state(now), shown, UNSET if mirror.readable else "unreadable")
    if services.draining():
        return Readiness("draining", checks, feeds, "Draining", "draining")
    # One feed with data is enough: one dead upstream must not take the others out of service. So is one that
    # a client's view lacks: a delayed market has no data yet for a quarter of an hour.
    states = [worker.mirrors[feed].state(worker.monotonic()) for feed in worker.configured()]
    if states and all(state == "down" for state in states):
        return Readiness("loading", checks, feeds, "No data yet", "no_data")
    return Readiness("ready", checks, feeds)


async def readiness_on_private_port(
    services: MarketServices, serves: Callable[[], bool]
) -> tuple[HTTPStatus, bytes]:
    """Returns status and body for the private port: `loading` until the public ports are open."""
    found = await readiness(services, services)
    if found.status == "ready" and not serves():
        found = replace(found, status="loading", detail="Not serving yet", code="not_serving")
    status = HTTPStatus.OK if found.status == "ready" else HTTPStatus.SERVICE_UNAVAILABLE
    return status, encode_json(found)


async def _outcome(check: Callable[[], Awaitable[str]]) -> str:
    """Returns the result of a check; the reason of a failure belongs in logs, not in a public answer."""
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await check()
    except TimeoutError:
        return "timeout"
    except Exception:  # noqa: BLE001 - any error of a client library is a failed check
        return "failed"


def _answer(body: bytes, status: int) -> Answer:
    headers = [(b"content-type", JSON), (b"cache-control", CACHE_NOTHING)]
    if status != 200:
        return Answer(body, [*headers, (b"retry-after", b"1")], tag=None, status=status)
    tag = content_tag(body)
    return Answer(body, [*headers, (b"etag", tag)], tag=tag)


ROUTER: Final = Router(
    "/api",
    route_handlers=[health, ready],
    tags=["Operations"],
    opt={"tag": "For load balancers and operators.", "feed": None},
)
