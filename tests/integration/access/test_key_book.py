"""A worker's book of API keys, over a real PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, Final

import asyncpg
import pytest

from quotecast.access import key_book as books
from quotecast.access import storage
from quotecast.access.errors import InvalidKey
from quotecast.access.key_book import GRACE_SECONDS, LOOKUPS_PER_MINUTE, POLL_SECONDS, KeyBook
from quotecast.access.keys import Scope
from quotecast.access.plans import UNLIMITED, Plan
from quotecast.database import migrations
from quotecast.database.database import Database
from quotecast.database.tables import ApiKey, StoredPlan, User
from quotecast.errors import DatabaseAway, TooManyRequests
from quotecast.users import users
from support.runs.deadlines import scaled
from support.servers.processes import Postgres
from support.stages.stored_keys import (
    ADDRESS,
    EMAIL,
    USER_ID,
    Clocks,
    ListedEnds,
    StoredKeys,
    id_of,
    wrong_text,
)

BASIC: Final = Plan(sockets=2)
PARTNER: Final = Plan(sockets=50)
MARKET: Final = Scope(feeds=("market",))


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
async def database(accounts_url: str) -> AsyncIterator[Database]:
    async with Database(accounts_url, pool_size=4, deadline_seconds=15) as database:
        yield database


@pytest.fixture
def stored(database: Database, clocks: Clocks) -> StoredKeys:
    return StoredKeys(database, clocks)


@pytest.fixture
def worker(database: Database, clocks: Clocks) -> ListedEnds:
    return ListedEnds(database, clocks, {"basic": BASIC})


@pytest.fixture
def book(worker: ListedEnds) -> KeyBook:
    return worker.book


async def test_key_is_found_once_and_then_known(stored: StoredKeys, book: KeyBook) -> None:
    """A key without a plan has the plan of users, which bounds nothing unless a file defines it."""
    text = await stored.add(scope=MARKET)
    assert book.known(text) is None
    holder = await book.find(text, ADDRESS)
    assert (holder.key.id, holder.plan_name, holder.plan) == (id_of(text), "user", UNLIMITED)
    assert holder.key.scope == MARKET
    assert book.known(text) == holder == book.named(id_of(text))
    assert len(book) == 1


async def test_plan_of_the_file_goes_before_a_stored_one(stored: StoredKeys, book: KeyBook) -> None:
    await stored.store_plan("basic", PARTNER)
    await stored.store_plan("partner", PARTNER)
    plans = [(await book.find(await stored.add(plan=name), ADDRESS)).plan for name in ("basic", "partner")]
    assert plans == [BASIC, PARTNER]


async def test_key_of_a_user_has_the_plan_of_everybody_where_users_have_none(
    database: Database, stored: StoredKeys, clocks: Clocks
) -> None:
    """A user's key opens no more than the login with which it was made."""
    text = await stored.add()
    for plans, expected in (({"anonymous": BASIC}, BASIC), ({"anonymous": BASIC, "user": PARTNER}, PARTNER)):
        book = ListedEnds(database, clocks, plans).book
        assert (await book.find(text, ADDRESS)).plan == expected


async def test_key_of_a_plan_that_does_not_exist_is_invalid(stored: StoredKeys, book: KeyBook) -> None:
    """The key is good as soon as its plan exists."""
    text = await stored.add(plan="later")
    with pytest.raises(InvalidKey):
        await book.find(text, ADDRESS)
    await stored.store_plan("later", PARTNER)
    assert (await book.find(text, ADDRESS)).plan == PARTNER


@pytest.mark.parametrize("text", ["", "qc_live_", "nothing", wrong_text(), "qc_live_x_y", "ü" * 80])
async def test_unknown_key_is_invalid(book: KeyBook, text: str) -> None:
    with pytest.raises(InvalidKey):
        await book.find(text, ADDRESS)
    assert len(book) == 0


async def test_ended_key_leaves_no_trace(stored: StoredKeys, worker: ListedEnds) -> None:
    """A client that goes on with a revoked key takes no place in the book."""
    text, expired = await stored.add(), await stored.add(seconds=-1)
    await stored.revoke(text)
    for each in (text, expired):
        with pytest.raises(InvalidKey):
            await worker.book.find(each, ADDRESS)
    assert (len(worker.book), worker.ended) == (0, [])


async def test_wrong_secret_of_a_known_key_is_invalid(stored: StoredKeys, book: KeyBook) -> None:
    text = await stored.add()
    await book.find(text, ADDRESS)
    wrong = wrong_text(int(id_of(text), 16))
    assert id_of(wrong) == id_of(text)
    assert book.known(wrong) is None
    with pytest.raises(InvalidKey):
        await book.find(wrong, ADDRESS)
    assert book.known(text)


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


async def test_sixty_wrong_keys_of_an_address_are_enough(
    stored: StoredKeys, book: KeyBook, clocks: Clocks
) -> None:
    """A known key of that address works on; good unknown keys of other addresses do not count."""
    known, unknown = await stored.add(), await stored.add()
    await book.find(known, ADDRESS)
    for number in range(LOOKUPS_PER_MINUTE):
        with pytest.raises(InvalidKey):
            await book.find(wrong_text(number + 1000), ADDRESS)
    for text in (wrong_text(), "malformed", unknown):
        with pytest.raises(TooManyRequests) as refused:
            await book.find(text, ADDRESS)
        assert (refused.value.limit, refused.value.retry_after) == (LOOKUPS_PER_MINUTE, 60)
    await book.find(known, ADDRESS)
    await book.find(unknown, "192.0.2.8")
    clocks.passed = 60
    with pytest.raises(InvalidKey):
        await book.find(wrong_text(), ADDRESS)


async def test_good_keys_are_no_failures_of_an_address(stored: StoredKeys, book: KeyBook) -> None:
    for _ in range(LOOKUPS_PER_MINUTE + 5):
        await book.find(await stored.add(), ADDRESS)


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


async def test_keys_used_longest_ago_go_first(
    stored: StoredKeys, worker: ListedEnds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys with open sockets stay; a key that went is no end of its sockets."""
    monkeypatch.setattr(books, "MAX_KEYS", 2)
    book = worker.book
    held, *others = [await stored.add() for _ in range(4)]
    await book.find(held, ADDRESS)
    book.hold(id_of(held))
    for text in others:
        await book.find(text, ADDRESS)
    await book.step()
    assert (len(book), bool(book.known(held)), bool(book.known(others[-1]))) == (2, True, True)
    book.hold(id_of(others[-1]))
    await book.find(others[0], ADDRESS)
    assert (len(book), bool(book.known(others[0]))) == (3, True), "the newest key goes at once"
    book.release(id_of(held))
    await book.find(others[1], ADDRESS)
    assert (len(book), bool(book.known(others[1]))) == (2, True)
    assert (book.known(held), worker.ended) == (None, [])


async def test_key_is_found_by_its_id(stored: StoredKeys, book: KeyBook) -> None:
    """A ticket has the id of its key."""
    text = await stored.add()
    assert (await book.find_named(id_of(text))).key.id == id_of(text)
    assert book.known(text)
    with pytest.raises(InvalidKey):
        await book.find_named("f" * 24)


async def test_known_keys_are_good_for_an_hour_without_postgresql(
    own_postgres: Postgres, clocks: Clocks
) -> None:
    """Then the worker answers that PostgreSQL is away; a key is good again as soon as PostgreSQL is back."""
    await migrations.apply(own_postgres.url)
    async with Database(own_postgres.url, pool_size=2) as database:
        stored, worker = StoredKeys(database, clocks), ListedEnds(database, clocks, {})
        book = worker.book
        text, unknown = await stored.add(), await stored.add()
        await book.find(text, ADDRESS)
        await book.step()
        await asyncio.to_thread(own_postgres.kill)
        assert await book.step() <= 2
        for _ in range(LOOKUPS_PER_MINUTE + 1):
            with pytest.raises(DatabaseAway):
                await book.find(unknown, ADDRESS)
        clocks.passed = GRACE_SECONDS - 1
        await book.step()
        await book.find(text, ADDRESS)
        clocks.passed = GRACE_SECONDS
        with pytest.raises(DatabaseAway):
            await book.find(text, ADDRESS)
        with pytest.raises(DatabaseAway):
            await book.find_named(id_of(text))
        await asyncio.to_thread(own_postgres.start)
        await book.find(text, ADDRESS)
        assert await book.step() == POLL_SECONDS
        assert book.known(text)
        assert worker.ended == []


async def test_key_expires_during_an_outage(own_postgres: Postgres, clocks: Clocks) -> None:
    await migrations.apply(own_postgres.url)
    async with Database(own_postgres.url, pool_size=2) as database:
        stored, worker = StoredKeys(database, clocks), ListedEnds(database, clocks, {})
        text = await stored.add(seconds=10)
        await worker.book.find(text, ADDRESS)
        await asyncio.to_thread(own_postgres.kill)
        clocks.passed = timedelta(seconds=10).total_seconds()
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
