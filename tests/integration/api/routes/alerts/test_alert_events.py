"""Events of a user: newest ones, those after an id, and the long poll."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from quotecast.alerts.events import users_after
from quotecast.api.accounts.alert_waits import Waits, Waker
from support.made.alert_rows import AlertRows
from support.made.factories import alert_parts
from support.runs.waits import until
from support.stages.account_service import AccountService, User, account_service

EVENTS = "/api/alerts/events"


@pytest.fixture
def waits() -> Waits:
    return Waits(per_user=2, per_worker=3)


@pytest.fixture
async def service(accounts_url: str, waits: Waits) -> AsyncIterator[AccountService]:
    async with account_service(accounts_url, alerts=alert_parts(waits=waits)) as service:
        yield service


@pytest.fixture
async def rows(accounts_url: str) -> AsyncIterator[AlertRows]:
    rows = await AlertRows.connect(accounts_url)
    yield rows
    await rows.close()


async def ids_of(user: User, query: str = "") -> tuple[list[int], int]:
    response = await user.get(EVENTS + query)
    assert response.status_code == 200, response.text
    return [each["id"] for each in response.json()["events"]], response.json()["last"]


async def begin_wait(user: User, waits: Waits, after: int) -> asyncio.Task[tuple[list[int], int]]:
    """Returns a request that waits for an event."""
    before = waits.count
    task = asyncio.create_task(ids_of(user, f"?after={after}&wait=25"))
    await until(lambda: waits.count > before or task.done())
    return task


async def test_events_come_in_their_order(user: User, rows: AlertRows) -> None:
    """Without `after` the newest ones; with it those that follow; `last` is the next `after`."""
    assert await ids_of(user) == ([], 0)
    made = [await rows.event(user.id) for _ in range(5)]
    await rows.event(await rows.user(7))
    assert await ids_of(user) == (made, made[-1])
    assert await ids_of(user, "?limit=2") == (made[3:], made[-1])
    assert await ids_of(user, f"?after={made[0]}&limit=2") == (made[1:3], made[2])
    assert await ids_of(user, f"?after={made[-1]}") == ([], made[-1])
    assert await ids_of(user, f"?after={made[-1] + 50}") == ([], made[-1] + 50)


@pytest.mark.parametrize(
    ("choice", "shown"),
    [
        (("price", "down", 250.0), {"condition": "below", "value": 250.0, "window": None}),
        (("15m", "down", -2.5), {"condition": "falls", "value": 2.5, "window": "15m", "measured": -2.5025}),
        (("day", "up", 4.0), {"condition": "rises", "value": 4.0, "window": "day"}),
    ],
)
async def test_event_shows_the_condition_as_the_user_wrote_it(
    user: User, rows: AlertRows, choice: tuple[str, str, float], shown: dict[str, Any]
) -> None:
    measure, direction, threshold = choice
    await rows.event(user.id, measure=measure, direction=direction, threshold=threshold)
    (event,) = (await user.get(EVENTS)).json()["events"]
    event["measured"] = round(event["measured"], 6)
    assert event | {"ticker": "AAPL", "type": "stock", "price": 300.02, **shown} == event


@pytest.mark.parametrize("query", ["?after=-1", "?after=x", "?limit=0", "?limit=501", "?wait=26", "?wait=-1"])
async def test_bad_query_is_refused(user: User, query: str) -> None:
    assert (await user.get(EVENTS + query)).status_code == 422


async def test_waiting_request_is_answered_at_the_hint(user: User, waits: Waits, rows: AlertRows) -> None:
    """A hint for another user does not end the wait."""
    waiting = await begin_wait(user, waits, 0)
    waits.wake(["f" * 24])
    event = await rows.event(user.id)
    waits.wake(["f" * 24, user.id])
    assert await waiting == ([event], event)
    assert waits.count == 0


async def test_event_that_is_there_ends_the_wait_at_once(user: User, rows: AlertRows) -> None:
    event = await rows.event(user.id)
    assert await ids_of(user, "?after=0&wait=25") == ([event], event)


async def test_lost_hint_delays_an_answer_only(
    user: User, service: AccountService, waits: Waits, rows: AlertRows
) -> None:
    """Looks into PostgreSQL find for whom there are events; nobody else is answered."""
    other = await service.register("other@example.com")
    waker = Waker(waits, _no_hints, lambda after: service.accounts.database.session(_look(after)))
    waiting, idle = await begin_wait(user, waits, 0), await begin_wait(other, waits, 0)
    await waker.look()  # learns the newest id; an event may have come before, so all look again
    event = await rows.event(user.id)
    await waker.look()
    assert await waiting == ([event], event)
    assert not idle.done()
    waits.end()
    await idle


async def test_request_beyond_the_user_s_bound_ends_the_oldest(user: User, waits: Waits) -> None:
    first = await begin_wait(user, waits, 0)
    second = await begin_wait(user, waits, 0)
    third = asyncio.create_task(ids_of(user, "?after=0&wait=25"))
    assert await first == ([], 0)
    assert not second.done()
    waits.end()
    assert (await second, await third) == (([], 0), ([], 0))


async def test_full_worker_is_busy(service: AccountService, waits: Waits) -> None:
    """The answer says when to try again."""
    users = [await service.register(f"{number}@example.com") for number in range(3)]
    waiting = [await begin_wait(users[number // 2], waits, 0) for number in range(3)]
    refused = await users[2].get(EVENTS + "?after=0&wait=1")
    assert (refused.status_code, refused.json()["code"], refused.headers["retry-after"]) == (503, "busy", "2")
    assert (waits.count, waits.refused) == (3, 1)
    waits.end()
    await asyncio.gather(*waiting)


async def test_stopping_worker_lets_nobody_wait(user: User, waits: Waits) -> None:
    waiting = await begin_wait(user, waits, 5)
    waits.end()
    assert await waiting == ([], 5)
    assert await ids_of(user, "?after=5&wait=25") == ([], 5)


async def test_ended_session_ends_the_wait_with_401(user: User, waits: Waits) -> None:
    """The token is checked again when the wait ends."""
    task = asyncio.create_task(user.get(EVENTS + "?after=0&wait=25"))
    await until(lambda: waits.count == 1)
    await user.ask("PATCH", "/api/auth/profile", json={"end_sessions": True})
    waits.wake_all()
    assert (await task).status_code == 401


def _no_hints() -> Any:
    raise AssertionError("no hints here")


def _look(after: int | None) -> Any:
    async def work(connection: Any) -> tuple[int, list[str]]:
        return await users_after(connection, after)

    return work
