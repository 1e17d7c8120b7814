"""Whether the process lives, and whether it should get traffic."""

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final, Literal

from litestar import Router, get
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from quotecast.api.answers import CACHE_NOTHING, JSON, Answer
from quotecast.api.negotiation import content_tag
from quotecast.api.reference.openapi import TAG, Reading, answered, described
from quotecast.api.services import HttpRequest, Services, services_of
from quotecast.feed.mirror import FeedState, Mirror
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed

CHECK_SECONDS: Final = 1.0


class Health(Struct, frozen=True):
    """A sign of life."""

    status: Literal["ok"] = "ok"


class FeedAge(Struct, frozen=True, rename="camel"):
    """How fresh a feed is; seconds since the bus last spoke of it, null if it never did."""

    state: FeedState
    age_seconds: float | None
    #: `unreadable` while the state on the bus cannot be read.
    problem: Literal["unreadable"] | UnsetType = UNSET


class Readiness(Struct, frozen=True):
    """What this worker depends on; `detail` is there when it should get no traffic."""

    status: Literal["ready", "loading", "draining"]
    checks: dict[str, str]
    feeds: dict[Feed, FeedAge]
    detail: str | UnsetType = UNSET
    code: str | UnsetType = UNSET


_FRESH: Final = {feed: FeedAge("live", 0.42) for feed in Feed}
_FINE: Final = {"redis": "ok", "postgres": "ok"}
_READY: Final = Readiness("ready", _FINE, _FRESH)
_DRAINING: Final = Readiness("draining", _FINE, _FRESH, "Draining", "draining")


@get(
    "/health",
    sync_to_thread=False,
    summary="Whether the process answers",
    operation_class=Reading,
    responses=answered(Health, Health(), "It does"),
)
def health() -> Answer:
    """Checks nothing else."""
    return _answer(encode_json(Health()), 200)


@get(
    "/ready",
    summary="Whether to send traffic here",
    operation_class=Reading,
    responses=answered(Readiness, _READY, "Send traffic")
    | {503: described(Readiness, _DRAINING, "This worker drains, or no feed was loaded yet")},
)
async def ready(request: HttpRequest) -> Answer:
    """Outages of Redis and PostgreSQL show in the body only: a worker serves from memory meanwhile."""
    found = await readiness(services_of(request))
    return _answer(encode_json(found), 200 if found.status == "ready" else 503)


async def readiness(services: Services) -> Readiness:
    """Runs the checks, and looks at the feeds."""
    outcomes = await asyncio.gather(*map(_outcome, services.checks.values()))
    return _readiness(services, dict(zip(services.checks, outcomes, strict=True)))


async def readiness_on_private_port(
    services: Services, serves: Callable[[], bool]
) -> tuple[HTTPStatus, bytes]:
    """Says the same, but `loading` until the public ports are open: the private one opens earlier."""
    found = await readiness(services)
    if found.status == "ready" and not serves():
        found = replace(found, status="loading", detail="Not serving yet", code="not_serving")
    status = HTTPStatus.OK if found.status == "ready" else HTTPStatus.SERVICE_UNAVAILABLE
    return status, encode_json(found)


async def _outcome(check: Callable[[], Awaitable[str]]) -> str:
    """What a check says; how it failed is for the log of whoever owns it, not for the public."""
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await check()
    except TimeoutError:
        return "timeout"
    except Exception:  # noqa: BLE001 - whatever a client library raises means the same
        return "failed"


def _readiness(services: Services, checks: dict[str, str]) -> Readiness:
    feeds = {feed: _age(services.mirrors[feed], services.monotonic()) for feed in services.configured()}
    if services.draining():
        return Readiness("draining", checks, feeds, "Draining", "draining")
    # One feed is enough: an upstream that never delivered must not keep the others from being served.
    if feeds and all(age.state == "down" for age in feeds.values()):
        return Readiness("loading", checks, feeds, "No data yet", "no_data")
    return Readiness("ready", checks, feeds)


def _age(mirror: Mirror, now: float) -> FeedAge:
    age = now - mirror.heard_at
    return FeedAge(mirror.state(now), round(age, 3) if age != float("inf") else None, _problem(mirror))


def _problem(mirror: Mirror) -> Literal["unreadable"] | UnsetType:
    return UNSET if mirror.readable else "unreadable"


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
    opt={TAG: "For load balancers and operators."},
)
