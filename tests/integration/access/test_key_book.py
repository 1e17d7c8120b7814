"""A worker's book of API keys, over a real PostgreSQL."""

import asyncio
from datetime import timedelta

import pytest

from quotecast.access import key_book as books
from quotecast.access.errors import InvalidKey
from quotecast.access.key_book import GRACE_SECONDS, LOOKUPS_PER_MINUTE, POLL_SECONDS, KeyBook
from quotecast.access.plans import UNLIMITED
from quotecast.database import migrations
from quotecast.database.database import Database
from quotecast.errors import DatabaseAway, TooManyRequests
from support.servers.processes import Postgres
from support.stages.stored_keys import (
    ADDRESS,
    BASIC,
    MARKET,
    PARTNER,
    Clocks,
    ListedEnds,
    StoredKeys,
    id_of,
    wrong_text,
)


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
