"""`quotecast keys usage`, as the real command on a real PostgreSQL."""

import json
from datetime import UTC, date, datetime, timedelta
from functools import partial

import pytest

from quotecast.access import key_text, usage_storage
from quotecast.access.usage import Taken
from quotecast.access.usage_storage import UsageBatch, Used
from quotecast.database.database import Database
from quotecast.stream.client import connection_id
from support.servers.users_command import command

UNKNOWN = "0" * 24


def today() -> date:
    return datetime.now(UTC).date()


async def usage(url: str, *arguments: str) -> tuple[int | None, str, str]:
    return await command("usage", *arguments, of="keys", database_url=url, plans="")


async def made_key(url: str) -> str:
    """Makes a key; returns its id."""
    code, printed, said = await command("create", "--name", "=Lobby", of="keys", database_url=url)
    assert code == 0, said
    parsed = key_text.parse(printed.strip())
    assert parsed
    return parsed.id


async def store(url: str, day: date, *used: tuple[str, int]) -> None:
    """Stores usage of keys so many days before a day."""
    counts = Taken(1843, 12, 90_000, 981_204, 143_002_551)
    rows = [Used(key_id, day - timedelta(days=days), counts) for key_id, days in used]
    async with Database(url, pool_size=1) as database:
        await database.session(partial(usage_storage.add, batch=UsageBatch(connection_id(), 1, rows)))


async def test_newest_day_comes_first(accounts_url: str) -> None:
    """All keys, or one by its id or the beginning of its text, over the last days."""
    one, two = await made_key(accounts_url), await made_key(accounts_url)
    day = today()
    await store(accounts_url, day, (one, 0), (two, 0), (one, 29), (one, 30))
    code, printed, _ = await usage(accounts_url)
    head, *lines = printed.splitlines()
    assert code == 0
    assert head.split() == [
        *("day", "key", "requests", "refused", "minutes", "quotes", "bytes", "name"),
    ]
    assert lines[0].split() == [str(day), one, "1843", "12", "1.5", "981204", "143002551", "=Lobby"]
    shown = [line.split()[1] for line in lines]
    # The command may run after midnight, when the oldest day is the thirty-first.
    assert shown == [one, two, one] or (today() != day and shown == [one, two])
    _, printed, _ = await usage(accounts_url, "--key", f"{key_text.PREFIX}{two}", "--days", "400")
    assert [line.split()[1] for line in printed.splitlines()[1:]] == [two]
    _, printed, _ = await usage(accounts_url, "--days", "400")
    assert len(printed.splitlines()) == 1 + 4


async def test_table_for_spreadsheets(accounts_url: str) -> None:
    """The columns of the route; a name that a spreadsheet would run gets an apostrophe."""
    key = await made_key(accounts_url)
    day = today()
    await store(accounts_url, day, (key, 0), (key, 1))
    code, printed, _ = await usage(accounts_url, "--csv", "--key", key)
    assert code == 0
    head, first, second = printed.splitlines()
    assert head == "key_id,name,day,requests,refused,socket_minutes,quotes,bytes"
    assert first == f"{key},'=Lobby,{day},1843,12,1.5,981204,143002551"
    assert str(day - timedelta(days=1)) in second
    _, printed, _ = await usage(accounts_url, "--json", "--days", "2")
    row, *_ = map(json.loads, printed.splitlines())
    assert (row["key_id"], row["name"], row["day"], row["requests"]) == (key, "=Lobby", str(day), 1843)


@pytest.mark.parametrize("key", [UNKNOWN, "nonsense"])
async def test_unknown_key_is_an_error(accounts_url: str, key: str) -> None:
    code, _, said = await usage(accounts_url, "--key", key)
    assert (code, said) == (1, "quotecast: API key not found\n")


@pytest.mark.parametrize("days", ["0", "401", "x"])
async def test_days_are_bounded(accounts_url: str, days: str) -> None:
    """The service has the usage of 400 days."""
    code, _, said = await usage(accounts_url, "--days", days)
    assert code == 2
    assert "must be from 1 to 400" in said
