"""Keys, users and sessions that end or change, as a worker's book of API keys learns it from PostgreSQL."""

import asyncio
from typing import Any

import asyncpg
import pytest

from quotecast.access import storage
from quotecast.access.errors import InvalidKey
from quotecast.access.key_book import POLL_SECONDS, KeyBook
from quotecast.access.keys import Scope
from quotecast.access.plans import UNLIMITED
from quotecast.database.database import Database
from quotecast.database.tables import ApiKey, StoredPlan, User
from quotecast.errors import DatabaseAway
from quotecast.users import users
from support.runs.deadlines import scaled
from support.stages.stored_keys import (
    ADDRESS,
    BASIC,
    EMAIL,
    MARKET,
    PARTNER,
    USER_ID,
    Clocks,
    ListedEnds,
    StoredKeys,
    id_of,
    wrong_text,
)


async def test_revoked_key_ends_with_the_next_step(stored: StoredKeys, worker: ListedEnds) -> None:
    """The next look is due within a second of the last one."""
    text, other = await stored.add(), await stored.add()
    for each in (text, other):
        await worker.book.find(each, ADDRESS)
    assert await worker.book.step() == POLL_SECONDS
    await stored.revoke(text)
    assert worker.book.known(text)
    assert await worker.book.step() == POLL_SECONDS <= 1
    assert worker.ended == [id_of(text)]
    assert worker.book.known(text) is None
    with pytest.raises(InvalidKey):
        await worker.book.find(text, ADDRESS)
    assert worker.book.known(other)
    await worker.book.step()
    assert worker.ended == [id_of(text)]


async def test_key_that_was_revoked_before_its_first_look_is_noticed(
    stored: StoredKeys, worker: ListedEnds
) -> None:
    """The last look may have counted the revocation that an earlier look-up of the key missed."""
    first, text = await stored.add(), await stored.add()
    await worker.book.find(first, ADDRESS)
    await worker.book.step()
    await worker.book.find(text, ADDRESS)
    await stored.revoke(text)
    # As if the look that counted this change had come before the look-up ended.
    worker.book._number = await stored.run(number_of_changes)
    await worker.book.step()
    assert worker.ended == [id_of(text)]


async def number_of_changes(run: Any) -> int:
    (row,) = await run(ApiKey.raw("SELECT number FROM key_changes"))
    return int(row["number"])


async def test_new_key_stays_new_while_no_look_succeeds(
    stored: StoredKeys, worker: ListedEnds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look that fails after its first query has not covered the key."""
    first, text = await stored.add(), await stored.add()
    await worker.book.find(first, ADDRESS)
    await worker.book.step()
    await worker.book.find(text, ADDRESS)
    await stored.revoke(text)
    worker.book._number = await stored.run(number_of_changes)
    with monkeypatch.context() as patched:
        patched.setattr(storage, "known_keys", fail)
        await worker.book.step()
    assert worker.ended == []
    await worker.book.step()
    assert worker.ended == [id_of(text)]


async def fail(*_: object) -> dict[str, Any]:
    raise DatabaseAway


async def test_expired_key_ends_without_a_change(
    stored: StoredKeys, worker: ListedEnds, clocks: Clocks
) -> None:
    text = await stored.add(seconds=10)
    await worker.book.find(text, ADDRESS)
    await worker.book.step()
    clocks.passed = 9.9
    await worker.book.step()
    assert (worker.ended, worker.book.known(text) is None) == ([], False)
    clocks.passed = 10
    assert worker.book.known(text) is None
    await worker.book.step()
    assert worker.ended == [id_of(text)]
    with pytest.raises(InvalidKey):
        await worker.book.find(text, ADDRESS)


async def test_other_rights_end_the_sockets_of_a_key(stored: StoredKeys, worker: ListedEnds) -> None:
    """Its scope, its plan, and what its plan contains are rights."""
    await stored.store_plan("partner", PARTNER)
    text, other = await stored.add(plan="partner"), await stored.add()
    for each in (text, other):
        await worker.book.find(each, ADDRESS)
    await worker.book.step()
    for change in (
        stored.change(text, {ApiKey.scope: '{"feeds":["market"]}'}),
        stored.change(text, {ApiKey.plan: "basic"}),
        stored.change(text, {ApiKey.plan: "partner"}),
        stored.store_plan("partner", BASIC),
        stored.delete_plan("partner"),
    ):
        worker.ended.clear()
        await change
        await worker.book.step()
        assert worker.ended == [id_of(text)]
    assert worker.book.known(text) is None
    await stored.store_plan("partner", PARTNER)
    await worker.book.step()
    holder = worker.book.known(text)
    assert holder
    assert (holder.plan, holder.key.scope) == (PARTNER, MARKET)


async def test_look_up_between_a_change_and_the_next_look_hides_no_change(
    stored: StoredKeys, worker: ListedEnds
) -> None:
    """The look-up reads all plans, and may read a known key again."""
    await stored.store_plan("partner", PARTNER)
    text = await stored.add(plan="partner")
    await worker.book.find(text, ADDRESS)
    await worker.book.step()
    await stored.store_plan("partner", BASIC)
    await worker.book.find(await stored.add(), ADDRESS)
    await worker.book.step()
    assert worker.ended == [id_of(text)]
    await stored.change(text, {ApiKey.scope: '{"feeds":["market"]}'})
    with pytest.raises(InvalidKey):
        await worker.book.find(wrong_text(int(id_of(text), 16)), ADDRESS)
    await worker.book.step()
    assert worker.ended == [id_of(text)] * 2


async def test_row_of_a_newer_version_hides_no_other(stored: StoredKeys, worker: ListedEnds) -> None:
    """A key or a plan with an unknown bound is as missing; changes of other keys arrive."""
    newer, planned = await stored.add(), await stored.add(plan="newer")
    text = await stored.add()
    await stored.store_plan("newer", PARTNER)
    for each in (newer, planned, text):
        await worker.book.find(each, ADDRESS)
    await worker.book.step()
    await stored.change(newer, {ApiKey.scope: '{"hours":["regular"]}'})
    await stored.run(lambda run: run(StoredPlan.update({StoredPlan.definition: '{"hours":1}'}, force=True)))
    await stored.revoke(text)
    await worker.book.step()
    assert sorted(worker.ended) == sorted(map(id_of, (newer, planned, text)))


async def test_new_name_and_new_secret_end_no_socket(
    stored: StoredKeys, worker: ListedEnds, clocks: Clocks
) -> None:
    """Both secrets work until the overlap ends, on a worker that knew the key and on another one."""
    text = await stored.add()
    await worker.book.find(text, ADDRESS)
    await worker.book.step()
    await stored.change(text, {ApiKey.name: "Lobby"})
    rotated = await stored.rotate(text, seconds=60)
    assert (await worker.book.find(rotated, ADDRESS)).key.name == "Lobby"
    await worker.book.step()
    clocks.passed = 59.9
    assert worker.book.known(text)
    assert worker.book.known(rotated)
    clocks.passed = 60
    assert worker.book.known(text) is None
    assert worker.book.known(rotated)
    assert worker.ended == []
    with pytest.raises(InvalidKey):
        await worker.book.find(text, ADDRESS)


@pytest.mark.parametrize("action", ["disable", "delete"])
async def test_keys_end_with_their_user(stored: StoredKeys, worker: ListedEnds, action: str) -> None:
    """A key of the operator has no user, and stays."""
    await stored.add_user()
    text, other = await stored.add(email=EMAIL), await stored.add()
    for each in (text, other):
        await worker.book.find(each, ADDRESS)
    await worker.book.step()
    if action == "disable":
        await stored.run(lambda run: users.set_disabled(run, EMAIL, disabled=True))
    else:
        await stored.run(lambda run: users.delete(run, EMAIL))
    await worker.book.step()
    assert worker.ended == [id_of(text)]
    with pytest.raises(InvalidKey):
        await worker.book.find(text, ADDRESS)
    assert worker.book.known(other)


async def test_restored_backup_is_noticed(
    stored: StoredKeys, worker: ListedEnds, clocks: Clocks, accounts_url: str
) -> None:
    """Its number of changes says nothing; the worker reads all keys once a minute."""
    text = await stored.add()
    await worker.book.find(text, ADDRESS)
    await worker.book.step()
    connection = await asyncpg.connect(accounts_url)
    await connection.execute("ALTER TABLE api_keys DISABLE TRIGGER USER")
    await connection.execute("DELETE FROM api_keys")
    await connection.execute("ALTER TABLE api_keys ENABLE TRIGGER USER")
    await connection.close()
    clocks.passed = 59
    await worker.book.step()
    assert worker.ended == []
    clocks.passed = 60
    await worker.book.step()
    assert worker.ended == [id_of(text)]


async def test_book_follows_without_end(stored: StoredKeys, database: Database, clocks: Clocks) -> None:
    """It looks every POLL_SECONDS, and asks nothing while no key is in use."""
    naps: list[float] = []
    looked = asyncio.Event()

    async def sleep(seconds: float) -> None:
        naps.append(seconds)
        looked.set()
        await asyncio.sleep(0)

    book = KeyBook(database, {}, clock=clocks.monotonic, wall_clock=clocks.wall, sleep=sleep)
    ended: list[str] = []
    seen = asyncio.Event()

    def note(key_id: str) -> None:
        ended.append(key_id)
        seen.set()

    book.on_end = note
    text = await stored.add()
    running = asyncio.create_task(book.run())
    await looked.wait()
    assert database.statistics()["transactions"] == 0
    await book.find(text, ADDRESS)
    await stored.revoke(text)
    async with asyncio.timeout(scaled(10)):
        await seen.wait()
    running.cancel()
    assert (ended, set(naps)) == ([id_of(text)], {POLL_SECONDS})


async def test_session_is_known_with_the_plan_of_users_until_it_ends(
    stored: StoredKeys, worker: ListedEnds, clocks: Clocks
) -> None:
    """A key that ends beside it leaves it alone; no text of a key names it."""
    await stored.add_user()
    first, second = [await stored.add_session(seconds) for seconds in (60, 120)]
    text = await stored.add()
    await worker.book.find(text, ADDRESS)
    holder = await worker.book.find_named(first)
    assert (holder.plan_name, holder.plan, holder.key.scope) == ("user", UNLIMITED, Scope())
    assert holder.key.is_session
    await worker.book.find_named(second)
    await stored.revoke(text)
    await worker.book.step()
    assert worker.ended == [id_of(text)]
    clocks.passed = 61
    await worker.book.step()
    assert worker.ended == [id_of(text), first]
    await stored.end_sessions()
    await worker.book.step()
    assert worker.ended == [id_of(text), first, second]
    with pytest.raises(InvalidKey):
        await worker.book.find_named(second)


async def test_session_of_a_disabled_user_is_invalid(stored: StoredKeys, book: KeyBook) -> None:
    await stored.add_user()
    session = await stored.add_session(60)
    await stored.run(lambda run: run(User.update({User.disabled: True}).where(User.id == USER_ID)))
    with pytest.raises(InvalidKey):
        await book.find_named(session)
