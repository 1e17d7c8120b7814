"""Bars of extended hours, over HTTP."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from quotecast.bus.base import FeedInfo
from quotecast.errors import UpstreamError
from quotecast.market.bars import Bar, Interval, bar_time
from support.stages.bar_service import APPLE, BITCOIN, FRIDAY, BarService, History, bar, new_service

#: 10:30 in New York on a Friday; the pre-market began at 4:00.
EARLY, REGULAR = FRIDAY - timedelta(hours=5), FRIDAY - timedelta(minutes=15)


class ExtendedHistory(History):
    """A history that has bars of extended hours too."""

    async def extended_bars(
        self, symbol: str, interval: Interval, start: datetime, end: datetime
    ) -> Sequence[Bar]:
        known = await self.bars(symbol, interval, start, end)
        return [each for each in [bar(EARLY), *known] if bar_time(start) <= each.time < bar_time(end)]


@pytest.fixture
def service() -> BarService:
    service = new_service()
    service.reset(ExtendedHistory(bar(REGULAR)))
    return service


async def ask(service: BarService, query: str) -> tuple[str, list[str]]:
    """Returns the hours of an answer and the times of its bars, without the one in progress."""
    answer = await service.get(f"{APPLE}?{query}")
    assert answer.status_code == 200, answer.text
    times = [each["time"] for each in answer.json()]
    return answer.headers["x-session"], [time for time in times if time <= bar_time(REGULAR)]


@pytest.mark.parametrize(
    "query", ["range=1D&interval=5m", "range=5D&interval=15m", "range=1D&interval=1m&limit=9"]
)
async def test_an_answer_of_extended_hours_has_the_early_bars(service: BarService, query: str) -> None:
    """A range and a page have bars from before the session if the request asks for them, and only then."""
    early, regular = bar_time(EARLY), bar_time(REGULAR)
    assert await ask(service, query) == ("regular", [regular])
    assert await ask(service, f"{query}&session=extended") == ("extended", [early, regular])
    assert await ask(service, f"{query}&session=Regular") == ("regular", [regular])


async def test_longer_bars_have_regular_hours(service: BarService) -> None:
    """Bars of an hour would begin at other times than those that the feed continues."""
    for interval in ("1h", "4h", "D"):
        hours, _ = await ask(service, f"range=1M&interval={interval}&session=extended")
        assert hours == "regular"


async def test_an_upstream_without_extended_hours_answers_regular_ones(service: BarService) -> None:
    service.reset(History(bar(REGULAR)))
    assert await ask(service, "range=1D&session=extended") == ("regular", [bar_time(REGULAR)])


async def test_a_market_that_never_closes_has_no_extended_hours(service: BarService) -> None:
    """A simulated market that trades around the clock has the same bars in both."""
    service.info = FeedInfo(provider="test", always_open=True)
    service.quote("AAPL", 100.0, FRIDAY)
    hours, _ = await ask(service, "range=1D&session=extended")
    assert hours == "regular"


async def test_no_own_bars_replace_extended_ones(service: BarService) -> None:
    """Own bars have regular hours only, so an outage of the upstream is a 503."""
    service.history.error = UpstreamError("away")
    answer = await service.get(f"{APPLE}?range=1D&session=extended")
    assert answer.status_code == 503


async def test_the_session_is_one_of_two_and_of_stocks_only(service: BarService) -> None:
    answer = await service.get(f"{APPLE}?session=night")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "session")
    assert "x-session" not in (await service.get(f"{BITCOIN}?session=night")).headers
    document = (await service.get("/api/openapi.json")).json()
    operation = document["paths"]["/api/market/bars/{symbol}"]["get"]
    assert "session" in {each["name"] for each in operation["parameters"]}
    assert "X-Session" in operation["responses"]["200"]["headers"]
