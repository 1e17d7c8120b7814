"""What operators see and change, and its rows in the log, over a real PostgreSQL."""

from datetime import UTC, date, datetime
from typing import Any

import asyncpg
import pytest

from quotecast.access.plans import Plan
from quotecast.history.feed_days import FeedDays, StoredDay
from quotecast.market.feed_days import DayFigures
from quotecast.operators.reports.model import KeyReport
from quotecast.operators.tokens import IDLE_SECONDS
from support.made.factories import NOW
from support.made.reports import report
from support.stages.operators import operations

UNKNOWN = "5f3a9c0e1b2d4f6a8c0e1b2d"


async def key_of(user: Any, name: str = "Lobby") -> str:
    answer = await user.post("/api/keys", {"name": name})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def test_user_is_disabled_and_enabled(accounts_url: str) -> None:
    """The user's sessions end at once, and the user may log in again once enabled."""
    async with operations(accounts_url) as service:
        await service.operator()
        user = await service.service.register()
        session = await service.signed_in()
        assert (await session.post(f"/users/{user.id}/disable")).status_code == 204
        assert (await user.get("/api/auth/profile")).status_code == 401
        [shown] = (await session.get("/users?find=ayse@")).json()
        assert (shown["id"], shown["disabled"], shown["sessions"]) == (user.id, True, 0)
        assert (await session.post(f"/users/{user.id}/enable")).status_code == 204
        assert (await session.post(f"/users/{user.id}/revoke")).status_code == 204
        actions = [row[:2] for row in await service.rows()][1:]
        assert actions == [(f"users.{name}", user.id) for name in ("disable", "enable", "revoke")]


async def test_sessions_on_this_page_count(accounts_url: str) -> None:
    """The number has an operator's sessions of both kinds, so that another operator sees what to end."""
    async with operations(accounts_url) as service:
        user = await service.operator()
        await service.signed_in()
        session = await service.signed_in()
        [shown] = (await session.get(f"/users?find={user.id}")).json()
        assert shown["sessions"] == 3
        service.pass_time(IDLE_SECONDS)
        [shown] = (await (await service.signed_in()).get("/users")).json()
        assert shown["sessions"] == 2
        assert (await session.post(f"/users/{user.id}/revoke")).status_code == 401
        assert (await (await service.signed_in()).post(f"/users/{user.id}/revoke")).status_code == 204
        [shown] = (await (await service.signed_in()).get("/users")).json()
        assert shown["sessions"] == 1


async def test_key_is_revoked(accounts_url: str) -> None:
    """The key is refused after the next look of the worker, and the log names who did it."""
    async with operations(accounts_url) as service:
        await service.operator()
        user = await service.service.register()
        key_id = await key_of(user)
        session = await service.signed_in()
        assert (await session.post(f"/keys/{key_id}/revoke")).status_code == 204
        [shown] = (await session.get("/keys?find=lob")).json()["keys"]
        assert (shown["id"], shown["email"]) == (key_id, user.email)
        assert shown["revoked_at"]
        [newest, _] = (await session.get("/actions")).json()
        assert (newest["action"], newest["target"], newest["actor"]) == (
            "keys.revoke",
            key_id,
            "ops@example.com",
        )
        assert (newest["key_name"], newest["email"]) == ("Lobby", user.email)


async def test_key_gets_another_plan(accounts_url: str) -> None:
    """A plan of the file or a stored one; any other is 422 and leaves no row."""
    async with operations(accounts_url, plans={"silver": Plan(sockets=5)}) as service:
        await service.operator()
        key_id = await key_of(await service.service.register())
        session = await service.signed_in()
        assert (await session.post(f"/keys/{key_id}/plan", {"plan": "silver"})).status_code == 204
        shown = (await session.get(f"/keys?find={key_id}")).json()
        assert (shown["keys"][0]["plan"], shown["plans"]) == ("silver", ["silver", "user"])
        assert (await session.post(f"/keys/{key_id}/plan", {"plan": "gold"})).status_code == 422
        assert (await service.rows())[1:] == [("keys.plan", key_id, "plan silver", "done")]


async def test_plan_of_a_newer_version_hides_no_key(accounts_url: str) -> None:
    """Keys are listed and revoked although a stored plan cannot be read."""
    async with operations(accounts_url) as service:
        await service.operator()
        key_id = await key_of(await service.service.register())
        connection = await asyncpg.connect(accounts_url)
        await connection.execute(
            "INSERT INTO plans (name, definition, updated_at) VALUES ('later', $1, now())",
            '{"sockets": "many"}',
        )
        await connection.close()
        session = await service.signed_in()
        shown = (await session.get("/keys")).json()
        assert ([each["id"] for each in shown["keys"]], shown["plans"]) == ([key_id], ["later", "user"])
        assert (await session.post(f"/keys/{key_id}/plan", {"plan": "user"})).status_code == 204


@pytest.mark.parametrize("what", ["users/{}/disable", "users/{}/enable", "users/{}/revoke", "keys/{}/revoke"])
@pytest.mark.parametrize("given", [UNKNOWN, "x", "..", UNKNOWN.upper()])
async def test_unknown_target_leaves_no_row(accounts_url: str, what: str, given: str) -> None:
    """404, and nothing happened that the log could name."""
    async with operations(accounts_url) as service:
        await service.operator()
        session = await service.signed_in()
        assert (await session.post(f"/{what.format(given)}")).status_code == 404
        assert len(await service.rows()) == 1


async def test_action_without_its_row_does_not_happen(own_accounts_url: str) -> None:
    """When the log takes no row, the user stays as they were: both are one transaction."""
    async with operations(own_accounts_url) as service:
        await service.operator()
        user = await service.service.register()
        session = await service.signed_in()
        connection = await asyncpg.connect(own_accounts_url)
        await connection.execute(
            "ALTER TABLE operator_actions ADD CONSTRAINT refuses CHECK (action <> 'users.disable')"
        )
        assert (await session.post(f"/users/{user.id}/disable")).status_code == 500
        assert not await connection.fetchval("SELECT disabled FROM users WHERE id = $1", user.id)
        await connection.close()


async def test_lists_have_pages(accounts_url: str) -> None:
    """50 rows a page, the newest first; the last id leads to the next page."""
    async with operations(accounts_url) as service:
        await service.operator()
        connection = await asyncpg.connect(accounts_url)
        rows = [(f"{number:024x}", "Bo", f"bo{number}@example.com", "x") for number in range(1, 61)]
        await connection.executemany(
            "INSERT INTO users (id, name, email, password_hash) VALUES ($1, $2, $3, $4)", rows
        )
        await connection.close()
        session = await service.signed_in()
        first = (await session.get("/users?find=bo")).json()
        second = (await session.get(f"/users?find=bo&before={first[-1]['id']}")).json()
        assert [user["id"] for user in first + second] == [row[0] for row in reversed(rows)]
        assert (await session.get("/users?find=%25")).json() == []


async def test_usage_is_summed(accounts_url: str) -> None:
    """The keys with the most bytes of the last days come first."""
    async with operations(accounts_url) as service:
        await service.operator()
        user = await service.service.register()
        small, large = await key_of(user, "small"), await key_of(user, "large")
        today = datetime.fromtimestamp(NOW, UTC).date()
        connection = await asyncpg.connect(accounts_url)
        for key, size in ((small, 10), (large, 20)):
            await connection.execute(
                "INSERT INTO api_key_usage (key_id, day, requests, bytes) VALUES ($1, $2, 3, $3)",
                key,
                today,
                size,
            )
        await connection.close()
        session = await service.signed_in()
        used = (await session.get("/usage?days=1")).json()
        assert [(row["name"], row["bytes"], row["requests"]) for row in used] == [
            ("large", 20, 3),
            ("small", 10, 3),
        ]
        assert (await session.get("/usage?days=0")).status_code == 422


async def test_overview_names_keys(accounts_url: str) -> None:
    """Reports name keys by id; the answer has their names beside them."""
    async with operations(accounts_url) as service:
        await service.operator()
        key_id = await key_of(await service.service.register())
        service.reports.reports = [report("1-a", keys=[KeyReport(key_id, 1, 0)])]
        session = await service.signed_in()
        shown = (await session.get("/overview")).json()
        assert shown["keys"] == {key_id: "Lobby"}
        assert shown["processes"][0]["worker"]["keys"] == [{"key": key_id, "sockets": 1, "requests": 0}]


@pytest.mark.parametrize("key", ["\0", "x" * 1000, "\U0001f600", ""])
async def test_forged_id_of_a_key_harms_nothing(accounts_url: str, key: str) -> None:
    """Who writes to Redis may invent keys: PostgreSQL is asked for ids only."""
    async with operations(accounts_url) as service:
        await service.operator()
        key_id = await key_of(await service.service.register())
        service.reports.reports = [report("1-a", keys=[KeyReport(key, 1, 0), KeyReport(key_id, 1, 0)])]
        session = await service.signed_in()
        answer = await session.get("/overview")
        assert (answer.status_code, answer.json()["keys"]) == (200, {key_id: "Lobby"})


async def test_page_works_without_redis(accounts_url: str) -> None:
    """Users and keys can be changed during an outage of Redis; the overview says that it lacks reports."""
    async with operations(accounts_url) as service:
        await service.operator()
        service.reports.reports = None
        session = await service.signed_in()
        shown = (await session.get("/overview")).json()
        assert (shown["available"], shown["processes"]) == (False, [])


async def test_nobody_gets_in_without_postgresql(accounts_url: str) -> None:
    """503 at the login and for a session that lasts; no answer lets anybody in."""
    async with operations(accounts_url) as service:
        await service.operator()
        token = (await service.signed_in()).token
    async with operations("postgresql://nobody@127.0.0.1:1/none") as service:
        assert (await service.login()).status_code == 503
        for method, path in (("GET", "overview"), ("GET", "actions"), ("POST", f"users/{UNKNOWN}/disable")):
            headers = {"authorization": f"Bearer {token}"}
            answer = await service.client.request(method, f"/api/admin/{path}", headers=headers)
            assert answer.status_code == 503


async def test_answers_are_never_stored(accounts_url: str) -> None:
    """Every answer of these routes is `no-store`, refusals too."""
    async with operations(accounts_url) as service:
        await service.operator()
        session = await service.signed_in()
        for path in ("/session", "/overview", "/users", "/keys", "/actions", "/usage", "/quality"):
            assert (await session.get(path)).headers["cache-control"] == "no-store"
        assert (await service.login(password="wrong")).headers["cache-control"] == "no-store"


async def test_days_of_feeds(accounts_url: str) -> None:
    """Of all feeds, whatever plans say; the session of today ends with the last stored minute.

    The first asked day is the earliest of all feeds, whose times differ by a year where one is a recording.
    """
    figures = DayFigures(minutes=380, stale_seconds=4.04, refused={"absurd": 2, "halted": 1})
    figures.add_age(100.0)
    stored = {
        (series, date(2026, 11, day)): StoredDay(figures, datetime.fromtimestamp(NOW, UTC))
        for series, day in (("stocks", 13), ("crypto", 19), ("stocks", 19), ("stocks", 20))
    }

    class Days(FeedDays):
        def __init__(self) -> None:
            self.minute_days = 30

        async def read(self, *asked: object) -> dict[tuple[str, date], StoredDay]:
            assert asked == (["stocks", "crypto", "doviz"], date(2026, 11, 14), date(2026, 11, 20))
            return stored

    nothing = Plan(feeds=(), doors=())
    async with operations(accounts_url, plans={"anonymous": nothing}, feed_days=Days()) as service:
        await service.operator()
        rows = (await (await service.signed_in()).get("/quality")).json()
    assert rows[0] == {
        "feed": "stocks",
        "date": "2026-11-20",
        "minutes": 59,
        "figures": {
            "covered": 380,
            "updates": 0,
            "ageP50Ms": 106.7,
            "ageP90Ms": 106.7,
            "ageP99Ms": 106.7,
            "staleSeconds": 4.0,
            "ledSeconds": 0.0,
            "refused": {"absurd": 2, "halted": 1},
            "corrections": 0,
            "writtenAt": "2026-11-20T15:30:00.000Z",
        },
    }
    assert [(row["feed"], row["date"], row["minutes"]) for row in rows[1:]] == [
        ("crypto", "2026-11-19", 1440),
        ("stocks", "2026-11-19", 390),
    ]


async def test_log_has_pages(accounts_url: str) -> None:
    """50 rows a page, the newest first."""
    async with operations(accounts_url) as service:
        await service.operator()
        for _ in range(60):
            session = await service.signed_in()
        newest = (await session.get("/actions")).json()
        older = (await session.get(f"/actions?before={newest[-1]['id']}")).json()
        ids = [row["id"] for row in newest + older]
        assert (len(newest), ids) == (50, [*range(60, 0, -1)])
