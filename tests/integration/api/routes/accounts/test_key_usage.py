"""The usage of a user's API keys over HTTP, on a real PostgreSQL."""

from datetime import date, timedelta
from functools import partial

import pytest

from quotecast.access import usage_storage
from quotecast.access.usage import Taken
from quotecast.access.usage_storage import UsageBatch, Used
from quotecast.stream.client import connection_id
from support.stages.account_service import AccountService, User

USAGE = "/api/keys/usage"
TODAY = date(2026, 11, 20)
UNKNOWN = "0" * 24


async def key_of(user: User, name: str = "Ticker") -> str:
    response = await user.post("/api/keys", {"name": name})
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


async def store(service: AccountService, *rows: Used) -> None:
    """Adds rows as a worker of their own does."""
    batch = UsageBatch(connection_id(), 1, [*rows])
    await service.accounts.database.session(partial(usage_storage.add, batch=batch))


def used(key_id: str, days_ago: int, requests: int = 1) -> Used:
    return Used(key_id, TODAY - timedelta(days=days_ago), Taken(requests, 1, 123_456, 40, 9000))


async def test_newest_day_first_with_names(service: AccountService, user: User) -> None:
    """A row for each key and day; minutes have one decimal."""
    one, two = await key_of(user, "One"), await key_of(user, "Two")
    await store(service, used(one, 1), used(one, 0, 7), used(two, 0))
    rows = (await user.get(USAGE)).json()
    assert {row["key_id"] for row in rows[:2]} == {one, two}
    assert [row["day"] for row in rows] == ["2026-11-20", "2026-11-20", "2026-11-19"]
    assert rows[2] == {
        "key_id": one,
        "name": "One",
        "day": "2026-11-19",
        "requests": 1,
        "refused": 1,
        "socket_minutes": 2.1,
        "quotes": 40,
        "bytes": 9000,
    }
    assert [row["name"] for row in (await user.get(f"{USAGE}?key_id={two}")).json()] == ["Two"]


async def test_thirty_days_by_default(service: AccountService, user: User) -> None:
    """`from` and `to` name other days, both included."""
    key = await key_of(user)
    await store(service, *(used(key, number, number + 1) for number in (0, 29, 30, 399)))

    async def days(query: str) -> list[int]:
        response = await user.get(f"{USAGE}?{query}")
        assert response.status_code == 200, response.text
        return [row["requests"] - 1 for row in response.json()]

    assert await days("") == [0, 29]
    assert await days("from=2026-10-21") == [0, 29, 30]
    assert await days("from=2026-10-21&to=2026-10-22") == [29, 30]
    assert await days("to=2026-10-21") == [30]
    assert await days(f"from={TODAY - timedelta(days=399)}") == [0, 29, 30, 399]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=2026-11-21", "from"),
        ("from=2025-10-16", "from"),
        ("to=0001-01-01", "to"),
        ("from=yesterday", "from"),
        ("to=2026-13-01", "to"),
        ("format=xml", "format"),
    ],
)
async def test_wrong_days_are_422(user: User, query: str, field: str) -> None:
    """The answer names the parameter."""
    response = await user.get(f"{USAGE}?{query}")
    assert response.status_code == 422, response.text
    assert [each["field"] for each in response.json()["errors"]] == [field]


async def test_keys_of_others_are_not_found(service: AccountService, user: User) -> None:
    """They look like keys that do not exist, and no list has them."""
    theirs = await key_of(await service.register("other@example.com"))
    await store(service, used(theirs, 0))
    for key_id in (theirs, UNKNOWN, "x"):
        assert (await user.get(f"{USAGE}?key_id={key_id}")).status_code == 404
    assert (await user.get(USAGE)).json() == []
    assert (await service.client.get(USAGE)).status_code == 401


async def test_table_for_spreadsheets(service: AccountService, user: User) -> None:
    """A name that a spreadsheet would run gets an apostrophe."""
    key = await key_of(user, "=1+1")
    await store(service, used(key, 0))
    response = await user.get(f"{USAGE}?format=csv")
    assert response.headers["content-type"].startswith("text/csv")
    head, row, end = response.text.split("\r\n")
    assert head == "key_id,name,day,requests,refused,socket_minutes,quotes,bytes"
    assert row == f"{key},'=1+1,2026-11-20,1,1,2.1,40,9000"
    assert end == ""
