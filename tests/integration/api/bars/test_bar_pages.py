"""Bars by `start`, `end`, `limit` and `order`, over HTTP, page by page."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quotecast.api.answers.answers import cached_for
from quotecast.errors import SymbolNotFound, UpstreamError
from quotecast.market.bars import Bar, Interval, bar_time
from support.stages.bar_service import APPLE, BITCOIN, FRIDAY, BarService, History, bar, new_service

DAY, HOUR = 86_400, 3_600
NOW = int(FRIDAY.timestamp())
WHEN = "2026-11-20T14:30:00Z"
MINUTES = [FRIDAY - timedelta(minutes=n) for n in range(3000, -1, -1) if n % 7]


class Past(History):
    """A history of given bars."""

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        everything = await super().bars(symbol, interval, start, end)
        return [each for each in everything if bar_time(start) <= each.time < bar_time(end)]


@pytest.fixture
def service() -> BarService:
    return new_service()


def given_bars(service: BarService, openings: Sequence[datetime]) -> list[str]:
    """Gives the service a history; returns the times of its bars."""
    service.reset(Past(*(bar(each) for each in openings)))
    return [bar_time(each) for each in openings]


async def pages(service: BarService, path: str) -> list[httpx.Response]:
    """Returns all pages, the first one first."""
    answers = [await service.get(path)]
    while token := answers[-1].headers.get("x-next-page"):
        answers.append(await service.get(f"{path}&page={token}"))
        assert len(answers) < 500
    assert {each.status_code for each in answers} == {200}
    return answers


def times(answers: Sequence[httpx.Response]) -> list[str]:
    return [each["time"] for answer in answers for each in answer.json()]


@pytest.mark.parametrize("interval", ["1m", "1h"])
async def test_years_without_trades_do_not_end_the_pages(service: BarService, interval: str) -> None:
    """A pair may leave its venue, and come back. A page of a gap would be empty: the next bars follow."""
    old = FRIDAY - timedelta(days=800)
    known = given_bars(service, [old - timedelta(hours=n) for n in range(3, -1, -1)])
    present, *found = times(await pages(service, f"{BITCOIN}?timeframe={interval}&order=desc&limit=2"))
    assert (present[:13], found) == (bar_time(FRIDAY)[:13], known[::-1])


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    start=st.integers(NOW - 3000 * 60, NOW),
    length=st.integers(1, 3000 * 60),
    limit=st.integers(37, 1000),
    order=st.sampled_from(["asc", "desc"]),
)
async def test_pages_have_each_bar_of_the_span_once(
    service: BarService, start: int, length: int, limit: int, order: str
) -> None:
    """Pages join to the bars that open in [start, end), in the order that the query names."""
    known = given_bars(service, MINUTES)
    query = f"timeframe=1m&start={start}&end={start + length}&limit={limit}&order={order}"
    answers = await pages(service, f"{BITCOIN}?{query}")
    low, high = (bar_time(datetime.fromtimestamp(each, UTC)) for each in (start, start + length))
    wanted = [each for each in [*known, bar_time(FRIDAY)] if low <= each < high]
    assert times(answers) == (wanted if order == "asc" else wanted[::-1])
    assert all(len(each.json()) <= limit for each in answers)


async def test_pages_go_back_from_the_newest_bar(service: BarService) -> None:
    """Descending pages begin with the bar in progress, which only the first page has.

    Without a start they end where nothing was traded for a long time.
    """
    hour = FRIDAY.replace(minute=0)
    known = given_bars(service, [hour - timedelta(hours=n) for n in range(4000, -1, -1)])
    service.quote("BTC/USDT", 123.0, FRIDAY)
    answers = await pages(service, f"{BITCOIN}?order=desc&limit=700")
    assert answers[0].json()[0]["close"] == 123.0
    assert times(answers) == known[::-1]
    assert len(answers) == 7
    ages = [each.headers["cache-control"] for each in answers]
    assert (ages[0], {*ages[2:]}) == (cached_for(5).decode(), {cached_for(3600).decode()})


async def test_the_newest_bars_before_an_end_are_one_page(service: BarService) -> None:
    known = given_bars(service, MINUTES)
    answer = await service.get(f"{BITCOIN}?timeframe=1m&end={NOW - 60}&limit=10")
    assert times([answer]) == [each for each in known if each < bar_time(FRIDAY - timedelta(minutes=1))][-10:]
    assert "x-next-page" not in answer.headers


@pytest.mark.parametrize("name", ["interval", "timeframe"])
@pytest.mark.parametrize("path", [APPLE, BITCOIN])
async def test_a_limit_alone_has_the_newest_bars_of_the_interval(
    service: BarService, path: str, name: str
) -> None:
    """Of stocks and pairs, by either name of the interval."""
    hour = FRIDAY.replace(minute=0)
    known = given_bars(service, [hour - timedelta(hours=n) for n in range(30, -1, -1)])
    answer = await service.get(f"{path}?{name}=1h&limit=2")
    assert times([answer]) == known[-2:]
    refused = await service.get(f"{path}?interval=1h&timeframe=D&limit=2")
    assert (
        refused.json()["errors"][0]["message"]
        == "Must not be given together with interval, of which it is another name"
    )


async def test_a_pair_that_rests_in_most_minutes_has_as_many_bars_as_wanted(service: BarService) -> None:
    """Its newest hundred bars lie farther back than a hundred minutes; reading them takes no call twice."""
    known = given_bars(service, [FRIDAY - timedelta(minutes=10 * n) for n in range(150, -1, -1)])
    answer = await service.get(f"{BITCOIN}?timeframe=1m&limit=100")
    assert times([answer]) == known[-100:]
    calls = len(service.history.calls)
    assert times([await service.get(f"{BITCOIN}?timeframe=1m&limit=90")]) == known[-90:]
    assert len(service.history.calls) == calls


async def test_a_pair_with_few_bars_has_them_while_the_past_has_no_calls_left(service: BarService) -> None:
    known = given_bars(service, [FRIDAY - timedelta(minutes=10 * n) for n in range(150, -1, -1)])
    service.past_calls = 0
    answer = await service.get(f"{BITCOIN}?timeframe=1m&limit=100")
    assert (answer.headers["x-source"], times([answer])) == ("test", known[-10:])


@pytest.mark.parametrize("name", ["start", "end"])
async def test_a_date_without_hyphens_is_refused(service: BarService, name: str) -> None:
    """As Unix seconds it would be a day of 1970."""
    answer = await service.get(f"{BITCOIN}?{name}=20261120")
    assert answer.json()["errors"] == [{"field": name, "message": "Write 2026-11-20: a date has hyphens"}]


@pytest.mark.parametrize("query", ["range=5D", "range=5D&order=desc", "start=2026-11-16"])
async def test_stocks_have_pages_too(service: BarService, query: str) -> None:
    """A range with a limit is read in pages; it begins with the session's opening."""
    sessions = [datetime(2026, 11, day, 14, 30, tzinfo=UTC) for day in (13, 16, 17, 18, 19, 20)]
    known = given_bars(
        service, [day + timedelta(minutes=n) for day in sessions for n in range(0, 390, 15)][:-21]
    )
    answers = await pages(service, f"{APPLE}?{query}&interval=15m&limit=50")
    wanted = [each for each in known if each >= "2026-11-16"]
    assert times(answers) == (wanted[::-1] if "desc" in query else wanted)
    assert len(answers) == 3


@pytest.mark.parametrize(("span", "days"), [("1D", (19,)), ("5D", (13, 16, 17, 18, 19))])
async def test_a_session_that_opens_at_the_end_counts_in_no_range(
    service: BarService, span: str, days: Sequence[int]
) -> None:
    """A client of live bars asks so in the first minute of a session: for the bars before the first one."""
    sessions = [datetime(2026, 11, day, 14, 30, tzinfo=UTC) for day in (12, 13, 16, 17, 18, 19, 20)]
    given_bars(service, sessions)
    answer = await service.get(f"{APPLE}?range={span}&interval=1m&end=2026-11-20T14:30:00Z")
    assert times([answer]) == [bar_time(each) for each in sessions if each.day in days]


async def test_daily_bars_of_a_range_begin_with_its_first_day(service: BarService) -> None:
    """A daily bar has the time of midnight, before the opening of its range."""
    days = [datetime(2026, 11, day, 5, tzinfo=UTC) for day in (13, 16, 17, 18, 19, 20)]
    given_bars(service, days)
    answer = await service.get(f"{APPLE}?range=5D&interval=D&limit=1000")
    assert times([answer]) == [bar_time(each) for each in days[1:]]


@pytest.mark.parametrize("end", ["05:00:01", "14:30:00"])
async def test_a_range_has_as_many_daily_bars_as_sessions(service: BarService, end: str) -> None:
    """The bar of a day opens before its session, so an end in the morning has that day's bar, too."""
    days = [datetime(2026, 11, day, 5, tzinfo=UTC) for day in (12, 13, 16, 17, 18, 19, 20)]
    given_bars(service, days)
    answer = await service.get(f"{APPLE}?range=5D&interval=D&end=2026-11-20T{end}Z")
    assert times([answer]) == [bar_time(each) for each in days[-5:]]


async def test_a_start_has_daily_bars_by_default(service: BarService) -> None:
    await service.get(f"{APPLE}?start=2026-01-01")
    assert {interval for _, interval, _, _ in service.history.calls} == {"D"}


async def test_spans_share_windows_and_the_past_stays_cached(service: BarService) -> None:
    """Whatever span a client asks for, the upstream is asked for whole windows, once an hour for the past."""
    given_bars(service, MINUTES)
    for second in range(50):
        start, end = NOW - 2 * DAY + second, NOW - DAY - second
        assert (await service.get(f"{BITCOIN}?timeframe=1m&start={start}&end={end}")).status_code == 200
    midnight = FRIDAY.replace(hour=0, minute=0)
    assert [(start, end) for _, _, start, end in service.history.calls] == [
        (midnight - timedelta(days=2), midnight - timedelta(days=1)),
        (midnight - timedelta(days=1), midnight),
    ]
    service.now += 3000
    service.quote("BTC/USDT", 100.0, FRIDAY)
    past = await service.get(f"{BITCOIN}?timeframe=1m&start={NOW - 2 * DAY}&end={NOW - 2 * DAY + HOUR}")
    assert len(service.history.calls) == 2
    assert {name: past.headers[name] for name in ("x-cache", "age", "cache-control", "x-source")} == {
        "x-cache": "HIT",
        "age": "3000",
        "cache-control": cached_for(3600).decode(),
        "x-source": "test",
    }


@pytest.mark.parametrize(
    ("query", "seconds"),
    [
        (f"start={NOW - 4 * HOUR}&limit=60", 3600),  # ends with the 60th bar
        (f"start={NOW - 4 * HOUR}&end={NOW - 2 * HOUR}", 3600),
        (f"end={NOW - 2 * HOUR}&order=desc&limit=60", 3600),
        (f"end={NOW - 2 * HOUR}&limit=60", 3600),
        (f"start={NOW - 4 * HOUR}&end={NOW - HOUR // 2}&limit=300", 5),  # late trades may change its end
        (f"start={NOW - 2 * HOUR}&limit=60", 5),
        (f"start={NOW - 4 * HOUR}&limit=300", 5),
        ("limit=60", 5),
    ],
)
async def test_closed_bars_of_today_are_cached_for_an_hour(
    service: BarService, query: str, seconds: int
) -> None:
    """Whatever says where they end: the end of the query, or the number of bars."""
    given_bars(service, MINUTES)
    alone = await service.get(f"{BITCOIN}?timeframe=1m&{query}")
    batch = await service.get(f"/api/crypto/bars?symbols=BTC-USDT&timeframe=1m&{query}")
    for answer in (alone, batch):
        assert answer.headers["cache-control"] == cached_for(seconds).decode()
    missing = await service.get(f"/api/crypto/bars?symbols=BTC-USDT,NOPE&timeframe=1m&{query}")
    assert missing.headers["cache-control"] == cached_for(5).decode()


async def test_the_last_bar_of_a_pair_that_rests_is_not_closed(service: BarService) -> None:
    """It closes with the price, however old that is."""
    given_bars(service, MINUTES)
    service.now += DAY
    query = f"start={NOW - HOUR}&end={NOW + HOUR}"
    answer = await service.get(f"{BITCOIN}?timeframe=1m&{query}")
    assert answer.headers["cache-control"] == cached_for(5).decode()


async def test_an_older_copy_of_closed_bars_is_not_cached_for_long(service: BarService) -> None:
    """It may lack some of them."""
    given_bars(service, MINUTES)
    path = f"{BITCOIN}?timeframe=1m&start={NOW - 4 * HOUR}&limit=60"
    await service.get(path)
    service.history.error = UpstreamError("refused")
    service.now += 60
    answer = await service.get(path)
    assert (answer.headers["x-cache"], answer.headers["cache-control"]) == ("STALE", cached_for(5).decode())


@pytest.mark.parametrize("path", [APPLE, BITCOIN])
async def test_no_spans_fill_the_cache(service: BarService, path: str) -> None:
    """Any spans of a month of minutes read the same few windows: the cache's keys have a bound."""
    given_bars(service, [])
    service.quote("AAPL" if path == APPLE else "BTC/USDT", 100.0, FRIDAY)
    interval, random = "interval" if path == APPLE else "timeframe", Random(1)
    for _ in range(150):
        start = random.randrange(NOW - 30 * DAY, NOW)
        query = f"start={start}&end={start + random.randrange(1, 3 * DAY)}&limit={random.randrange(1, 1001)}"
        answer = await service.get(f"{path}?{interval}=1m&{query}&order={random.choice(('asc', 'desc'))}")
        assert answer.status_code == 200
    assert len({key for key in service.cache.keys if key.startswith("test:")}) <= (6 if path == APPLE else 31)


async def test_a_page_reads_few_windows(service: BarService) -> None:
    """Years without trades are short pages, so that no request makes many calls."""
    given_bars(service, [datetime(2026, 11, 20, tzinfo=UTC)])
    answer = await service.get(f"{BITCOIN}?timeframe=1h&start=1970-01-01")
    assert (answer.json(), len(service.history.calls)) == ([], 4)
    assert "x-next-page" in answer.headers
    assert min(start for _, _, start, _ in service.history.calls) == datetime(1970, 1, 1, tzinfo=UTC)


async def test_reads_of_the_past_have_a_budget(service: BarService) -> None:
    """Without a call left, pages of the past are unavailable; the present is not."""
    given_bars(service, MINUTES)
    service.past_calls = 0
    past = await service.get(f"{BITCOIN}?timeframe=1m&start={NOW - 2 * DAY}&end={NOW - DAY}")
    assert (past.status_code, past.headers["retry-after"]) == (503, "7")
    assert (await service.get(f"{BITCOIN}?timeframe=1m&start={NOW - HOUR}")).status_code == 200
    assert (await service.get(BITCOIN)).status_code == 200


async def test_a_failing_upstream_leaves_old_pages(service: BarService) -> None:
    given_bars(service, MINUTES)
    path = f"{BITCOIN}?timeframe=1m&start={NOW - HOUR}"
    whole = await service.get(path)
    service.history.error = UpstreamError("refused")
    service.now += 60
    service.quote("BTC/USDT", 100.0, FRIDAY)
    answer = await service.get(path)
    assert (answer.json(), answer.headers["x-cache"]) == (whole.json(), "STALE")
    assert (await service.get(f"{BITCOIN}?timeframe=5m&start={NOW - HOUR}")).status_code == 503
    service.history.error = SymbolNotFound()
    assert (await service.get(f"{BITCOIN}?timeframe=15m&start={NOW - HOUR}")).status_code == 404


async def test_a_client_with_the_current_page_gets_304(service: BarService) -> None:
    path = f"{BITCOIN}?timeframe=1m&start={NOW - HOUR}&limit=3"
    given_bars(service, MINUTES)
    first = await service.get(path)
    same = await service.get(path, **{"if-none-match": first.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    assert same.headers["x-next-page"] == first.headers["x-next-page"]
    exposed = (await service.get(path, origin="https://example.com")).headers["access-control-expose-headers"]
    assert {"X-Next-Page", "X-Source", "X-Tick-Size"} <= {*exposed.split(", ")}


@pytest.mark.parametrize("query", ["", "&order=desc&limit=3"])
async def test_bars_name_the_tick_size(service: BarService, query: str) -> None:
    """Whole ranges and pages name the tick size of the quote and the bars."""
    given_bars(service, MINUTES)
    service.quote("BTC/USDT", 100.125, FRIDAY)
    ticks = [
        (await service.get(f"{path}{query}")).headers["x-tick-size"]
        for path in (f"{APPLE}?interval=5m", f"{BITCOIN}?timeframe=5m")
    ]
    assert ticks == ["0.01", "0.001"]


BAD: list[tuple[str, str, str]] = [
    (f"{APPLE}?start=2026-11-01&range=1D", "range", "Must not be given together with start"),
    (f"{APPLE}?start=2026-11-01&interval=30m", "interval", "Must be one of 1m, 5m"),
    (f"{APPLE}?limit=0", "limit", "Must be a whole number from 1 to 1000"),
    (f"{APPLE}?limit=1001&start=2026-11-01", "limit", "Must be a whole number from 1 to 1000"),
    (f"{APPLE}?range=5D&interval=1m&order=up", "order", "Must be one of asc, desc"),
    *(
        (f"{path}?{field}={quote(text)}", field, WHEN)
        for path in (APPLE, BITCOIN)
        for field in ("start", "end")
        for text in ("", "yesterday", "1969-12-31", "2100-01-01", "-5", "1e9", "2026-11-20T25:00Z")
    ),
    (f"{BITCOIN}?start=2026-11-20T15:30:01Z", "start", "Must not be in the future"),
    (f"{BITCOIN}?start=2026-11-20&end=2026-11-20", "end", "Must be after start"),
    (f"{BITCOIN}?timeframe=1m&start=2026-10-01", "end", "Must be at most 35 days after start"),
    (f"{BITCOIN}?timeframe=30m&start=0&end=1000000000", "end", "Must be at most 370 days after start"),
    (f"{BITCOIN}?page=", "page", "X-Next-Page"),
    (f"{BITCOIN}?page={'A' * 4000}", "page", "X-Next-Page"),
    (f"{BITCOIN}?page=MS4xbS5hc2MuMC45", "page", "X-Next-Page"),
]


@pytest.mark.parametrize(("path", "field", "message"), BAD)
async def test_a_bad_value_names_what_is_allowed(
    service: BarService, path: str, field: str, message: str
) -> None:
    answer = await service.get(path)
    assert answer.status_code == 422
    (problem,) = answer.json()["errors"]
    assert (problem["field"], message in problem["message"]) == (field, True)
    assert service.history.calls == []


async def test_a_token_belongs_to_its_interval_and_order(service: BarService) -> None:
    given_bars(service, MINUTES)
    start = f"start={NOW - HOUR}&limit=3"
    token = (await service.get(f"{BITCOIN}?timeframe=1m&{start}")).headers["x-next-page"]
    for query in ("timeframe=5m", "timeframe=1m&order=desc"):
        answer = await service.get(f"{BITCOIN}?{query}&{start}&page={token}")
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "page")


async def test_parameters_are_described(service: BarService) -> None:
    document: dict[str, Any] = (await service.get("/api/openapi.json")).json()
    for path in ("/api/market/bars/{symbol}", "/api/crypto/bars/{symbol}"):
        operation = document["paths"][path]["get"]
        names = {each["name"] for each in operation["parameters"]}
        assert {"start", "end", "limit", "order", "page"} <= names
        assert {"X-Next-Page", "X-Source", "X-Tick-Size"} <= set(operation["responses"]["200"]["headers"])
