"""Reports of the processes, usage of keys, and the log of operators' actions."""

from datetime import date, timedelta
from typing import Annotated, Final

import structlog
from litestar import get
from litestar.params import QueryParameter
from msgspec import Struct
from msgspec.structs import asdict

from quotecast.api.answers.answers import Answer
from quotecast.api.gate.operators import admin_of, with_operator
from quotecast.api.market.services import HttpRequest, Services, series_of, services_of
from quotecast.api.reference.account_operations import AccountOperation, answer
from quotecast.api.routes.admin.operations import operator_outcomes
from quotecast.api.routes.market.quality import FIGURES, FeedDay, feed_day_of, span_of, today_at_venue
from quotecast.database.database import Run
from quotecast.market.codec import iso_utc
from quotecast.market.own_bars import MINUTE
from quotecast.operators import actions, lists
from quotecast.operators.lists import KeyUsage
from quotecast.operators.reports.model import Report
from quotecast.operators.sessions import OperatorSeen

Days = Annotated[int, QueryParameter(ge=1, le=400, description="The last days, today included")]
Before = Annotated[
    int,
    QueryParameter(ge=0, le=2**62, description="Rows before this id; the newest rows with 0 or without it"),
]

log = structlog.get_logger()


class Overview(Struct, frozen=True, kw_only=True):
    """The reports of all processes; `available` is false while Redis does not answer."""

    at: str
    available: bool
    processes: list[Report]
    #: Names of the keys in the reports, by id.
    keys: dict[str, str]


class FeedDayShown(Struct, frozen=True, kw_only=True):
    """A feed's day: the minutes of its session, and what the ingests counted."""

    feed: str
    date: date
    minutes: int
    figures: FeedDay


class ActionShown(Struct, frozen=True, kw_only=True):
    """A row of the log; `email` and `key_name` are those of the target now, empty once it is gone."""

    id: int
    happened_at: str
    via: str
    actor: str
    address: str
    action: str
    target: str
    detail: str
    outcome: str
    email: str
    key_name: str


_REPORT: Final = Report(
    id="4242-0011223344556677", kind="api", host="worker-1", pid=4242, version="0.1.0", started_at=0.0, at=0.0
)
_OVERVIEW: Final = Overview(
    at="2026-11-20T15:30:00.000Z",
    available=True,
    processes=[_REPORT],
    keys={"01a1fc87e0c47a905dd5d088": "Price ticker"},
)
_USED: Final = KeyUsage(
    key_id="01a1fc87e0c47a905dd5d088",
    name="Price ticker",
    email="ayse@example.com",
    requests=1843,
    refused=12,
    socket_minutes=1439.9,
    quotes=981_204,
    bytes=143_002_551,
)
_DAY: Final = FeedDayShown(feed="stocks", date=date(2026, 11, 20), minutes=390, figures=FIGURES)
_ACTION: Final = ActionShown(
    id=7,
    happened_at="2026-11-20T15:30:00.000Z",
    via="page",
    actor="ayse@example.com",
    address="203.0.113.7",
    action="keys.revoke",
    target="01a1fc87e0c47a905dd5d088",
    detail="",
    outcome="done",
    email="bo@example.com",
    key_name="Price ticker",
)


@get(
    "/overview",
    operation_id="getOverview",
    summary="What the processes report",
    operation_class=AccountOperation,
    responses=operator_outcomes(Overview, _OVERVIEW, "Reports of the last ten seconds"),
)
async def overview(request: HttpRequest) -> Answer:
    """Does not count as a use of the session: the page asks every few seconds by itself."""
    await with_operator(request, _operator, renewing=False)
    reports, available = await _reports(request)
    used = {each.key for report in reports if report.worker for each in report.worker.keys}
    slow = {each.key for report in reports if report.worker for each in report.worker.slow}
    services = services_of(request)
    named = await services.accounts.database.transaction(lambda run: lists.names_of_keys(run, used | slow))
    at = iso_utc(services.clock())
    return answer(Overview(at=at, available=available, processes=reports, keys=named))


@get(
    "/usage",
    operation_id="listUsageOfKeys",
    summary="What API keys used",
    operation_class=AccountOperation,
    responses=operator_outcomes(list[KeyUsage], [_USED], "The 50 keys with the most bytes", 422),
)
async def usage(request: HttpRequest, days: Days = 7) -> Answer:
    """Sums of the last days in UTC. Counts appear within 15 seconds of their use."""
    first = services_of(request).wall_time().date() - timedelta(days=days - 1)
    return answer(await with_operator(request, lambda run, _: lists.usage(run, first)))


@get(
    "/quality",
    operation_id="listQualityOfDays",
    summary="Quality of the feeds' last days",
    operation_class=AccountOperation,
    responses=operator_outcomes(list[FeedDayShown], [_DAY], "The days with figures, the newest first", 422),
)
async def quality(request: HttpRequest, days: Days = 7) -> Answer:
    """Days are dates at each feed's venue. Like the reports, this does not count as a use of the session."""
    await with_operator(request, _operator, renewing=False)
    # Operators see all feeds, whatever the plan of clients without a key.
    whole: Services = request.app.state.services
    return answer(await _last_days(whole, days))


@get(
    "/actions",
    operation_id="listOperatorActions",
    summary="What operators did",
    operation_class=AccountOperation,
    responses=operator_outcomes(list[ActionShown], [_ACTION], "At most 50, the newest first", 422),
)
async def list_actions(request: HttpRequest, before: Before = 0) -> Answer:
    """Every action of operators on the page and in the shell, with failed logins; no row is ever deleted."""

    async def read(run: Run, _: OperatorSeen) -> list[ActionShown]:
        return [
            ActionShown(**asdict(each) | {"happened_at": iso_utc(each.happened_at.timestamp())})
            for each in await actions.page(run, before=before or None)
        ]

    return answer(await with_operator(request, read))


async def _operator(_: Run, operator: OperatorSeen) -> OperatorSeen:
    return operator


async def _last_days(services: Services, count: int) -> list[FeedDayShown]:
    """Returns the stored days of all feeds that have data."""
    mirrors = {series_of(each): each for each in services.mirrors.values() if each.loaded}
    todays = {series: today_at_venue(services, mirror) for series, mirror in mirrors.items()}
    if not todays:
        return []
    first = min(todays.values()) - timedelta(days=count - 1)
    stored = await services.feed_days.read([*mirrors], first, max(todays.values()))
    found = []
    for (series, day), each in stored.items():
        if (todays[series] - day).days < count:
            start, end = span_of(services, mirrors[series], day)
            minutes, feed = (end - start) // MINUTE, mirrors[series].feed
            found.append(FeedDayShown(feed=feed, date=day, minutes=minutes, figures=feed_day_of(each)))
    return sorted(found, key=lambda each: (-each.date.toordinal(), each.feed))


async def _reports(request: HttpRequest) -> tuple[list[Report], bool]:
    """Returns the reports, workers first, and whether Redis answered."""
    try:
        reports = await admin_of(request).reports.all()
    except Exception as error:  # noqa: BLE001 - the page must work during an outage of Redis
        log.warning("could not read reports", error=str(error))
        return [], False
    return sorted(reports, key=lambda each: (each.kind, each.host, each.pid, each.id)), True
