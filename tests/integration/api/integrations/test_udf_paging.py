"""Histories of charts: spans without bars, counts, and paging back to the first bar."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quotecast.api.integrations.udf.history import MAX_BARS
from quotecast.api.market.services import series_of
from quotecast.errors import UpstreamError
from quotecast.market.bars import Bar, Interval, bar_time
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing, OwnBar
from support.clients.chart_requests import ask, judge, url
from support.made.factories import DOVIZ, NOW
from support.stages.bar_service import BarService, History, bar, new_service

END = int(NOW)
MINUTE, DAY = 60, 86_400


class Past(History):
    """A history of given bars."""

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        everything = await super().bars(symbol, interval, start, end)
        first, following = bar_time(start), bar_time(end)
        return [each for each in everything if first <= each.time < following]


@pytest.fixture
def service() -> BarService:
    return new_service()


def give(service: BarService, times: Sequence[int]) -> list[int]:
    """Gives the service a history of bars at Unix times, which end with the bar in progress."""
    service.reset(Past(*(bar(datetime.fromtimestamp(each, UTC)) for each in times)))
    return [*times, END]


#: Minutes with a bar: with gaps of minutes, of days and, longer than one answer reads, of weeks.
MINUTES = [
    END - (minute + days * 24 * 60) * MINUTE
    for days in (30, 3, 0)
    for minute in range(900, 0, -1)
    if minute % 7
]


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(count=st.integers(150, 2500), to=st.integers(END - 2 * DAY, END + DAY))
async def test_paging_back_has_each_bar_once(service: BarService, count: int, to: int) -> None:
    """A chart asks for the bars before the oldest that it has, until there are none."""
    known = [time for time in give(service, MINUTES) if time < to]
    found: list[int] = []
    while True:
        answer = await ask(
            service, "history", symbol="BTC/USDT", resolution="1", start=0, to=to, countback=count
        )
        times = judge(answer)
        if not times:
            break
        assert len(times) <= min(count, MAX_BARS)
        assert times[-1] < to
        found, to = [*times, *found], times[0]
    assert found == known
    assert answer == {"s": "no_data"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(to=st.integers(END - 35 * DAY, END + DAY), length=st.integers(1, 3 * DAY))
async def test_a_span_has_its_bars_or_the_time_of_the_last_before_it(
    service: BarService, to: int, length: int
) -> None:
    """Without a count, the answer has the newest bars of the span, and never one outside."""
    known = give(service, MINUTES)
    answer = await ask(service, "history", symbol="BTC/USDT", resolution="1", start=to - length, to=to)
    wanted = [time for time in known if to - length <= time < to]
    assert judge(answer) == wanted[-MAX_BARS:]
    if not wanted:
        before = [time for time in known if time < to - length]
        assert answer.get("nextTime") == (before[-1] if before else None)


async def test_spans_join_without_a_gap(service: BarService) -> None:
    """A chart without counts follows `nextTime` over the gaps."""
    known = give(service, MINUTES)
    found: list[int] = []
    to = END + MINUTE
    for _ in range(200):
        answer = await ask(service, "history", symbol="BTC/USDT", resolution="1", start=to - 36_000, to=to)
        times = judge(answer)
        found = [*times, *found]
        if times:
            to -= 36_000
        elif "nextTime" in answer:
            to = answer["nextTime"] + 1
        else:
            break
    assert found == known


async def test_days_page_back_over_a_daylight_saving_change(service: BarService) -> None:
    """Days of New York are at midnight UTC of their date; a bound is one too."""
    days = [datetime(2026, 10, 1, tzinfo=UTC) + timedelta(days=n) for n in range(51)]
    trading = [each for each in days if each.weekday() < 5]
    hours = {each: 4 if each < datetime(2026, 11, 2, tzinfo=UTC) else 5 for each in trading}
    service.reset(Past(*(bar(each + timedelta(hours=hours[each])) for each in trading)))
    known = [int(each.timestamp()) for each in trading]
    found: list[int] = []
    to = END
    while times := judge(
        await ask(service, "history", symbol="AAPL", resolution="D", start=0, to=to, countback=7)
    ):
        found, to = [*times, *found], times[0]
    assert found == known


async def test_the_day_in_progress_is_there_before_its_midnight_in_utc(service: BarService) -> None:
    """At 23:00 UTC the day of Istanbul is the next one: a chart that asks up to the present gets it."""
    service.now = datetime(2026, 11, 20, 23, 0, tzinfo=UTC).timestamp() + 0.7
    service.quotes(Feed.DOVIZ, DOVIZ)
    # Midnight in Istanbul of the 20th and of the 21st.
    openings = [int(datetime(2026, 11, day, 21, tzinfo=UTC).timestamp()) for day in (19, 20)]
    series = series_of(service.mirrors[Feed.DOVIZ])
    for opened in openings:
        own = OwnBar(opened, 1.0, 2.0, 0.5, 1.5, None, 3)
        service.stored.write(series, Closing(opened + DAY, {"D": {"gram-altin": own}}, {}))
    asked = {"symbol": "gram-altin", "resolution": "1D", "start": 0, "countback": 2}
    midnights = [datetime(2026, 11, day, tzinfo=UTC).timestamp() for day in (20, 21)]
    for late in (0, 1, 90):
        answer = await ask(service, "history", to=int(service.now) - late, **asked)
        assert judge(answer) == midnights
    assert judge(await ask(service, "history", to=int(service.now) - 4 * 3600, **asked)) == midnights[:1]
    assert "v" not in answer


async def test_a_span_in_the_future_names_the_newest_bar(service: BarService) -> None:
    give(service, MINUTES)
    span = {"start": END + DAY, "to": END + 2 * DAY}
    answer = await ask(service, "history", symbol="BTC/USDT", resolution="1", **span)
    assert answer == {"s": "no_data", "nextTime": END}


async def test_a_span_that_ends_before_it_begins_names_a_bar_before_its_end(service: BarService) -> None:
    known = give(service, MINUTES)
    answer = await ask(service, "history", symbol="BTC/USDT", resolution="1", start=END, to=END - DAY)
    assert answer == {"s": "no_data", "nextTime": max(time for time in known if time < END - DAY)}


async def test_a_span_of_decades_has_the_newest_bars(service: BarService) -> None:
    """Charts ask for more than a query of fine bars may; they get the newest, and ask again."""
    known = give(service, MINUTES)
    answer = await ask(service, "history", symbol="BTC/USDT", resolution="1", start=-1e9, to=END + 1)
    times = judge(answer)
    assert len(times) > 1000
    assert times == known[-len(times) :]


@pytest.mark.parametrize("to", [-5, 0, 1, 86_400])
async def test_nothing_is_before_1970(service: BarService, to: int) -> None:
    give(service, MINUTES)
    for more in ({"start": -86_400}, {"start": 0, "countback": 10}):
        answer = await ask(service, "history", symbol="AAPL", resolution="1D", to=to, **more)
        assert answer == {"s": "no_data"}


async def test_a_count_of_nothing_is_no_count(service: BarService) -> None:
    known = give(service, MINUTES)
    span = {"start": END - 600, "to": END, "countback": 0}
    answer = await ask(service, "history", symbol="BTC/USDT", resolution="1", **span)
    assert judge(answer) == [time for time in known if END - 600 <= time < END]


async def test_an_upstream_that_fails_is_an_error_to_the_chart(service: BarService) -> None:
    """The status and Retry-After are the service's own; the body has what the chart reads."""
    service.history.error = UpstreamError("down", retry_after=7)
    answer = await service.get(url("history", {"symbol": "AAPL", "resolution": "5", "from": 0, "to": END}))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")
    assert (answer.json()["s"], answer.json()["errmsg"]) == ("error", "Upstream unavailable")
