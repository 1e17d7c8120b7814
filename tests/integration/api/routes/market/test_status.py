"""The market's state, health and readiness."""

import asyncio
from typing import Any

import pytest
from msgspec import to_builtins

from quotecast.api.market.services import Services
from quotecast.api.routes.market import health
from quotecast.bus.base import FeedInfo
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.providers.offers import TERMS
from support.made.factories import (
    MONOTONIC,
    NOW,
    PAIRS,
    STOCKS,
    client_of,
    empty_mirrors,
    full_mirrors,
    mirror_of,
    services,
)
from support.made.market import wire_epoch


async def answer_of(services: Services, path: str = "/api/market/status") -> tuple[int, Any]:
    async with client_of(services) as client:
        answer = await client.get(path)
        return answer.status_code, answer.json()


def one_stale() -> dict[Feed, Mirror]:
    mirrors = full_mirrors()
    mirrors[Feed.DOVIZ].heard_at = MONOTONIC - 3.5
    return mirrors


async def test_status_tells_of_every_feed() -> None:
    """The status names position, provider, terms and delay of each feed."""
    info = FeedInfo(
        provider="coinbase", delay_seconds=900.0, simulated=True, last_update="2026-11-20T15:29:59.100Z"
    )
    mirrors = full_mirrors() | {Feed.CRYPTO: mirror_of(Feed.CRYPTO, PAIRS, info=info)}
    code, status = await answer_of(services(mirrors))
    assert code == 200
    assert status["status"] == "running"
    assert status["lastUpdate"] == "2026-11-20T15:29:59.100Z"
    assert status["timestamp"] == "2026-11-20T15:30:00.000Z"
    assert list(status["feeds"]) == ["stocks", "crypto", "doviz"]
    assert status["feeds"]["crypto"] == {
        "state": "live",
        "lastUpdate": "2026-11-20T15:29:59.100Z",
        "symbols": 2,
        "provider": "coinbase",
        "terms": {
            "show": "agreement",
            "store": "unknown",
            "redistribute": "agreement",
            "delayMinutes": None,
            "attribution": None,
            "source": "https://www.coinbase.com/legal/market_data",
            "read": "2026-09-21",
            "summary": "for personal use and research; showing it to others needs written consent",
        },
        "simulated": True,
        "delaySeconds": 900.0,
        "epoch": wire_epoch(feed=Feed.CRYPTO),
        "seq": 7,
    }


async def test_a_provider_without_stated_terms_has_null() -> None:
    """A feed may come from a package that says nothing of its terms."""
    mirrors = full_mirrors() | {Feed.CRYPTO: mirror_of(Feed.CRYPTO, PAIRS, info=FeedInfo(provider="acme"))}
    _, status = await answer_of(services(mirrors))
    assert status["feeds"]["crypto"]["terms"] is None


@pytest.mark.parametrize(
    ("mirrors", "providers", "expected"),
    [
        (full_mirrors(), {}, "running"),
        (one_stale(), {}, "degraded"),
        (one_stale(), {Feed.DOVIZ: "none"}, "running"),
        (full_mirrors() | {Feed.CRYPTO: Mirror(Feed.CRYPTO)}, {}, "degraded"),
        (empty_mirrors(), {}, "down"),
        (full_mirrors(), dict.fromkeys(Feed, "none"), "down"),
    ],
    ids=["all live", "one stale", "the stale one switched off", "one without data", "no data", "all off"],
)
async def test_status_sums_up_the_configured_feeds(
    mirrors: dict[Feed, Mirror], providers: dict[Feed, str], expected: str
) -> None:
    """Running: all live; down: none has data; else degraded. Feeds without a provider do not count."""
    _, status = await answer_of(services(mirrors, providers=dict.fromkeys(Feed, "simulator") | providers))
    assert status["status"] == expected


async def test_a_feed_without_data_is_named_by_its_setting() -> None:
    """A feed without data has its provider from the settings, and null for the rest."""
    _, status = await answer_of(services(empty_mirrors()))
    assert status["feeds"]["stocks"] == {
        "state": "down",
        "lastUpdate": None,
        "symbols": 0,
        "provider": "simulator",
        "terms": to_builtins(TERMS["simulator"]),
        "simulated": None,
        "delaySeconds": None,
        "epoch": None,
        "seq": 0,
    }


HOUR = 3600
FRIDAY_OPEN = "2026-11-20T14:30:00.000Z"
FRIDAY_CLOSE = "2026-11-20T21:00:00.000Z"
MONDAY_OPEN = "2026-11-23T14:30:00.000Z"
MONDAY_CLOSE = "2026-11-23T21:00:00.000Z"


@pytest.mark.parametrize(
    ("now", "session", "following"),
    [
        (NOW - 2 * HOUR, "pre", (FRIDAY_OPEN, FRIDAY_CLOSE)),
        (NOW, "regular", (MONDAY_OPEN, FRIDAY_CLOSE)),
        (NOW + 6 * HOUR, "post", (MONDAY_OPEN, MONDAY_CLOSE)),
        (NOW + 24 * HOUR, "closed", (MONDAY_OPEN, MONDAY_CLOSE)),
    ],
)
async def test_status_keeps_the_exchanges_calendar(
    now: float, session: str, following: tuple[str, str]
) -> None:
    _, status = await answer_of(services(full_mirrors(), clock=lambda: now))
    assert status["session"] == session
    assert status["marketOpen"] is (session == "regular")
    assert (status["nextOpen"], status["nextClose"]) == following


async def test_a_simulation_around_the_clock_is_always_open() -> None:
    """A simulation around the clock is open on a Saturday, without a next opening or close."""
    always = FeedInfo(provider="simulator", simulated=True, always_open=True)
    mirrors = full_mirrors() | {Feed.STOCKS: mirror_of(Feed.STOCKS, STOCKS, info=always)}
    _, status = await answer_of(services(mirrors, clock=lambda: NOW + 24 * HOUR))
    assert (status["session"], status["marketOpen"]) == ("regular", True)
    assert (status["nextOpen"], status["nextClose"]) == (None, None)


async def test_health_only_says_that_the_process_answers() -> None:
    """Health is ok without data and while draining."""
    assert await answer_of(services(empty_mirrors(), draining=lambda: True), "/api/health") == (
        200,
        {"status": "ok"},
    )


async def test_ready_tells_of_outages_without_leaving_traffic(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed or hanging check is in the body, without its reason, and the worker stays ready."""
    monkeypatch.setattr(health, "CHECK_SECONDS", 0.01)

    async def fine() -> str:
        return "ok"

    async def broken() -> str:
        raise ConnectionError("redis://:secret@host")

    async def hanging() -> str:
        await asyncio.Event().wait()
        return "never"

    checks = {"redis": broken, "postgres": hanging, "other": fine}
    code, body = await answer_of(services(one_stale(), checks=checks), "/api/ready")
    assert code == 200
    assert body == {
        "status": "ready",
        "checks": {"redis": "failed", "postgres": "timeout", "other": "ok"},
        "feeds": {
            "stocks": {"state": "live", "ageSeconds": 0.0},
            "crypto": {"state": "live", "ageSeconds": 0.0},
            "doviz": {"state": "stale", "ageSeconds": 3.5},
        },
    }


async def test_ready_names_a_feed_that_cannot_be_read() -> None:
    """An unreadable feed is named in the body, and the worker stays ready."""
    mirrors = full_mirrors()
    mirrors[Feed.CRYPTO].readable = False
    code, body = await answer_of(services(mirrors), "/api/ready")
    assert code == 200
    assert body["feeds"]["crypto"] == {"state": "stale", "ageSeconds": 0.0, "problem": "unreadable"}
    assert "problem" not in body["feeds"]["stocks"]


@pytest.mark.parametrize(
    ("mirrors", "draining", "providers", "expected"),
    [
        (full_mirrors(), True, "simulator", (503, "draining", "Draining")),
        (empty_mirrors(), False, "simulator", (503, "loading", "No data yet")),
        (
            empty_mirrors() | {Feed.DOVIZ: full_mirrors()[Feed.DOVIZ]},
            False,
            "simulator",
            (200, "ready", None),
        ),
        (empty_mirrors(), False, "none", (200, "ready", None)),
    ],
    ids=["draining", "before the first load", "one feed is enough", "all switched off"],
)
async def test_only_draining_and_loading_leave_traffic(
    mirrors: dict[Feed, Mirror],
    draining: bool,  # noqa: FBT001 - a case
    providers: str,
    expected: tuple[int, str, str | None],
) -> None:
    given = services(mirrors, draining=lambda: draining, providers=dict.fromkeys(Feed, providers))
    code, body = await answer_of(given, "/api/ready")
    assert (code, body["status"], body.get("detail")) == expected
