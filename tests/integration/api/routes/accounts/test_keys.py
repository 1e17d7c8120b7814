"""API keys of users, over a real PostgreSQL."""

import asyncio
import io
import logging
import sys
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

import asyncpg
import httpx
import pytest
import structlog

from quotecast.access import key_text, storage, usage_storage
from quotecast.access.key_text import KeyText
from quotecast.access.keys import Key
from quotecast.access.usage import Taken
from quotecast.access.usage_storage import UsageBatch, Used
from quotecast.api.routes.accounts.keys import KeySecret
from quotecast.observe.logs import configure_logs
from support.made.factories import NOW
from support.stages.account_service import PASSWORD, AccountService, User, count_rows

KEYS = "/api/keys"
#: Fields of every answer.
SHOWN = {
    *("id", "name", "key", "plan", "scope", "created_at", "expires_at", "revoked_at", "previous_until"),
}
DAY = 86_400
UNKNOWN = "0" * 24


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now

    def text(self, seconds: float) -> str:
        """Returns the time so many seconds from now, as requests have it."""
        return (datetime.fromtimestamp(self.now, UTC) + timedelta(seconds=seconds)).isoformat()


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def make(user: User, name: str = "Ticker", **more: object) -> dict[str, Any]:
    response = await user.post(KEYS, {"name": name, **more})
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def rotate(user: User, key_id: str, **body: object) -> httpx.Response:
    return await user.post(f"{KEYS}/{key_id}/rotate", body)


async def change(user: User, key_id: str, **body: object) -> httpx.Response:
    return await user.ask("PATCH", f"{KEYS}/{key_id}", json=body)


async def stored(service: AccountService, key_id: str) -> Key:
    """Returns a key as workers read it."""

    async def read(connection: Any) -> dict[str, Key]:
        return await storage.known_keys(connection, [key_id])

    return (await service.accounts.database.session(read))[key_id]


def secret_of(text: str) -> str:
    parsed = key_text.parse(text)
    assert parsed
    return parsed.secret


def problem(response: httpx.Response) -> tuple[int, str, str]:
    body = response.json()
    return response.status_code, body["code"], body["detail"]


def field_of(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["errors"][0]["field"]


async def test_new_key_has_its_secret_once(user: User, clock: Clock) -> None:
    """The list shows the key's beginning; the newest comes first."""
    made = await make(user, "  Ticker ", scope={"feeds": ["market"]}, expires_at=clock.text(DAY))
    assert set(made) == {*SHOWN, "secret_key"}
    assert made["secret_key"].startswith(f"{made['key']}_")
    assert made["key"] == f"qc_live_{made['id']}"
    assert (made["name"], made["plan"], made["scope"]) == ("Ticker", "user", {"feeds": ["market"]})
    assert (made["revoked_at"], made["previous_until"]) == (None, None)
    clock.now += 1
    second = await make(user, "Second")
    secret = made.pop("secret_key")
    listed = await user.get(KEYS)
    assert listed.json()[1] == made
    assert [each["id"] for each in listed.json()] == [second["id"], made["id"]]
    assert secret_of(secret) not in listed.text


async def test_database_has_the_digest_only(accounts_url: str, user: User) -> None:
    made = await make(user)
    secret = secret_of(made["secret_key"])
    connection = await asyncpg.connect(accounts_url)
    row = await connection.fetchrow("SELECT * FROM api_keys")
    await connection.close()
    assert row
    assert row["secret_hash"] == key_text.digest(secret)
    assert secret not in str(dict(row))


async def test_secret_leaves_by_no_log_and_no_later_answer(
    service: AccountService,
    user: User,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """This holds for answers, logs of any level, and the text of the objects that hold it."""
    logs = io.StringIO()
    monkeypatch.setattr(sys, "stderr", logs)
    configure_logs(level="debug", as_json=True)
    caplog.set_level(logging.DEBUG)
    made = await make(user)
    rotated = (await rotate(user, made["id"])).json()
    later = [
        await change(user, made["id"], name="Other", scope={"feeds": ["crypto"]}),
        await user.get(KEYS),
        await user.get(f"{KEYS}/{made['secret_key']}"),
        await user.delete(f"{KEYS}/{made['secret_key']}"),
        await user.delete(f"{KEYS}/{made['id']}"),
        await rotate(user, made["id"]),
    ]
    structlog.reset_defaults()
    key = await stored(service, made["id"])
    objects = [key, KeyText(made["id"], secret_of(made["secret_key"])), KeySecret(**rotated)]
    said = logs.getvalue() + caplog.text + repr(objects) + str(objects)
    for secret in map(secret_of, (made["secret_key"], rotated["secret_key"])):
        # The answer that refuses a path may name the path of the request itself.
        assert all(secret not in answer.text for answer in later)
        assert secret not in said
        assert key_text.digest(secret) not in said


async def test_answers_with_secrets_are_neither_stored_nor_compressed(user: User) -> None:
    headers = {"accept-encoding": "gzip, br, zstd"}
    made = await user.post(KEYS, {"name": "Ticker"}, headers=headers)
    rotated = await user.post(f"{KEYS}/{made.json()['id']}/rotate", {}, headers=headers)
    for answer in (made, rotated):
        assert answer.headers["cache-control"] == "no-store"
        assert "content-encoding" not in answer.headers


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "a\nb", None, 7])
async def test_bad_name_is_invalid(user: User, name: object) -> None:
    assert field_of(await user.post(KEYS, {"name": name})) == (422, "name")


@pytest.mark.parametrize("seconds", [-1, 0, 3653 * DAY + 1])
async def test_key_ends_within_ten_years(user: User, clock: Clock, seconds: float) -> None:
    refused = await user.post(KEYS, {"name": "Ticker", "expires_at": clock.text(seconds)})
    assert field_of(refused) == (422, "expires_at")


@pytest.mark.parametrize("moment", ["2026-12-01T00:00:00", "2027-12-01", "tomorrow", 1_800_000_000, True])
async def test_end_of_a_key_has_a_time_zone(user: User, moment: object) -> None:
    refused = await user.post(KEYS, {"name": "Ticker", "expires_at": moment})
    assert field_of(refused) == (422, "expires_at")


async def test_end_of_a_key_is_shown_in_utc(user: User) -> None:
    made = await make(user, expires_at="2027-03-02T01:04:05.123456+03:00")
    assert made["expires_at"] == "2027-03-01T22:04:05.123Z"
    assert (await make(user, expires_at=None))["expires_at"] is None


async def test_twenty_good_keys_are_enough(user: User, clock: Clock) -> None:
    """Concurrent requests do not exceed the bound; a revoked or an expired key makes room."""
    bodies = [{"name": f"{number}", "expires_at": clock.text(DAY + number)} for number in range(22)]
    answers = await asyncio.gather(*(user.post(KEYS, body) for body in bodies))
    assert sorted(answer.status_code for answer in answers) == [201] * 20 + [409] * 2
    refused = await user.post(KEYS, {"name": "one more"})
    assert problem(refused) == (409, "full", "You have the maximum of 20 API keys; delete one first")
    first = (await user.get(KEYS)).json()[0]["id"]
    assert (await user.delete(f"{KEYS}/{first}")).status_code == 204
    await make(user, "in its place")
    assert (await user.post(KEYS, {"name": "one more"})).status_code == 409
    clock.now += 2 * DAY
    await make(user, "after their end")


async def test_old_ended_keys_make_room(
    user: User, accounts_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new key removes the oldest ended ones beyond those that a list shows, and no good one."""
    monkeypatch.setattr(storage, "MAX_SHOWN", storage.MAX_KEYS + 2)
    good = await make(user, "good")
    for number in range(6):
        clock.now += 1
        ended = await make(user, f"{number}")
        await user.delete(f"{KEYS}/{ended['id']}")
    names = [each["name"] for each in (await user.get(KEYS)).json()]
    assert names == ["5", "4", "3", "good"]
    assert await count_rows(accounts_url, "api_keys") == 4
    assert (await user.get(KEYS)).json()[-1]["id"] == good["id"]


async def test_ended_keys_with_usage_stay_within_a_bound(
    service: AccountService, user: User, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user cannot remove what a key used by making and revoking newer keys."""
    monkeypatch.setattr(storage, "MAX_SHOWN", storage.MAX_KEYS)
    monkeypatch.setattr(storage, "MAX_STORED", 3)
    names = ["used", "expired", "unused", "good"]
    for number, name in enumerate(names):
        clock.now += 2
        made = await make(user, name, expires_at=clock.text(1) if name == "expired" else None)
        if name in {"used", "expired"}:
            row = Used(made["id"], date(2026, 11, 20), Taken(number + 1, 0, 0, 0, 0))
            batch = UsageBatch("worker", number, [row])
            await service.accounts.database.session(partial(usage_storage.add, batch=batch))
        if name in {"used", "unused"}:
            await user.delete(f"{KEYS}/{made['id']}")
    assert [each["name"] for each in (await user.get(KEYS)).json()] == ["good", "expired", "used"]
    assert [row["name"] for row in (await user.get(f"{KEYS}/usage")).json()] == ["used", "expired"]
    refused = await user.post(KEYS, {"name": "one more"})
    text = "You have the maximum of 3 API keys, ended ones included; one goes 400 days after its last use"
    assert problem(refused) == (409, "full", text)


async def test_rotated_key_works_with_both_secrets_for_a_while(
    service: AccountService, user: User, clock: Clock
) -> None:
    """The old secret ends at `previous_until`; one of an earlier rotation ended at once."""
    first = await make(user)
    second = (await rotate(user, first["id"], overlap_seconds=3600)).json()
    third = (await rotate(user, first["id"], overlap_seconds=60)).json()
    assert {first["id"]} == {second["id"], third["id"]}
    key = await stored(service, first["id"])
    now = datetime.fromtimestamp(clock(), UTC)

    def works(made: dict[str, Any], seconds: float) -> bool:
        digest = key_text.digest(secret_of(made["secret_key"]))
        return key.matches(digest, now + timedelta(seconds=seconds))

    assert [works(each, 0) for each in (first, second, third)] == [False, True, True]
    assert [works(second, seconds) for seconds in (59.999, 60)] == [True, False]
    assert works(third, 10 * DAY)


async def test_rotation_has_an_overlap_of_a_day_by_default(user: User, clock: Clock) -> None:
    made = await make(user)
    rotated = (await rotate(user, made["id"])).json()
    until = datetime.fromisoformat(rotated["previous_until"]).timestamp()
    assert until == pytest.approx(clock() + DAY, abs=0.001)
    assert set(rotated) == set(made)
    assert rotated["secret_key"] != made["secret_key"]


async def test_rotation_without_overlap_ends_the_old_secret_at_once(
    service: AccountService, user: User, clock: Clock
) -> None:
    made = await make(user)
    assert (await rotate(user, made["id"], overlap_seconds=0)).status_code == 200
    key = await stored(service, made["id"])
    old = key_text.digest(secret_of(made["secret_key"]))
    assert not key.matches(old, datetime.fromtimestamp(clock(), UTC))


@pytest.mark.parametrize("seconds", [-1, 604_801, 1.5, "60", None])
async def test_bad_overlap_is_invalid(user: User, seconds: object) -> None:
    made = await make(user)
    assert field_of(await rotate(user, made["id"], overlap_seconds=seconds)) == (422, "overlap_seconds")


async def test_key_is_renamed(user: User) -> None:
    """A missing field changes nothing; null is as missing."""
    made = await make(user, scope={"feeds": ["market"]})
    changed = await change(user, made["id"], name=" Lobby ", scope=None)
    made.pop("secret_key")
    assert (changed.status_code, changed.json()) == (200, {**made, "name": "Lobby"})
    assert (await change(user, made["id"])).json() == {**made, "name": "Lobby"}


async def test_revoked_key_stays_in_the_list_and_changes_no_more(user: User, clock: Clock) -> None:
    """A second revocation keeps the time of the first."""
    made = await make(user)
    assert (await user.delete(f"{KEYS}/{made['id']}")).status_code == 204
    (revoked,) = (await user.get(KEYS)).json()
    assert revoked["revoked_at"] == made["created_at"]
    clock.now += 5
    assert (await user.delete(f"{KEYS}/{made['id']}")).status_code == 204
    assert (await user.get(KEYS)).json() == [revoked]
    for refused in (await change(user, made["id"], name="Other"), await rotate(user, made["id"])):
        assert problem(refused) == (404, "not_found", "API key not found")


async def test_expired_key_changes_no_more(user: User, clock: Clock) -> None:
    made = await make(user, expires_at=clock.text(10))
    clock.now += 10
    for refused in (await change(user, made["id"], name="Other"), await rotate(user, made["id"])):
        assert problem(refused) == (404, "not_found", "API key not found")


async def test_keys_of_others_are_not_found(service: AccountService, user: User) -> None:
    """Every route answers 404 for another user's key, in both directions, and changes nothing."""
    other = await service.register("other@example.com")
    mine, theirs = [await make(each, "Own") for each in (user, other)]
    before = [(await each.get(KEYS)).json() for each in (user, other)]
    for thief, key in ((user, theirs), (other, mine)):
        answers = [
            await change(thief, key["id"], name="Stolen"),
            await change(thief, key["id"], scope={}),
            await change(thief, key["id"]),
            await rotate(thief, key["id"]),
            await thief.delete(f"{KEYS}/{key['id']}"),
        ]
        assert {problem(answer) for answer in answers} == {(404, "not_found", "API key not found")}
    assert [(await each.get(KEYS)).json() for each in (user, other)] == before
    assert [[key["id"] for key in keys] for keys in before] == [[mine["id"]], [theirs["id"]]]


@pytest.mark.parametrize("key_id", [UNKNOWN, "x", "A" * 24, "0" * 25, "%C3%BC"])
async def test_unknown_id_is_not_found(user: User, key_id: str) -> None:
    answers = [
        await change(user, key_id, name="Other"),
        await rotate(user, key_id),
        await user.delete(f"{KEYS}/{key_id}"),
    ]
    assert {problem(answer) for answer in answers} == {(404, "not_found", "API key not found")}


async def test_routes_need_the_token_of_a_login(service: AccountService, user: User) -> None:
    """A key opens no account, not even its own."""
    made = await make(user)
    for headers in ({}, {"x-api-key": made["secret_key"]}):
        refused = await service.client.get(KEYS, headers=headers)
        assert refused.status_code in {401, 403}
    bearer = {"authorization": f"Bearer {made['secret_key']}"}
    assert (await service.client.get(KEYS, headers=bearer)).status_code in {401, 403}


async def test_deleted_account_leaves_no_key(service: AccountService, user: User, accounts_url: str) -> None:
    neighbour = await service.register("other@example.com")
    await make(user)
    kept = await make(neighbour)
    response = await user.ask("DELETE", "/api/auth/profile", json={"password": PASSWORD})
    assert response.status_code == 204
    assert await count_rows(accounts_url, "api_keys") == 1
    assert [each["id"] for each in (await neighbour.get(KEYS)).json()] == [kept["id"]]
