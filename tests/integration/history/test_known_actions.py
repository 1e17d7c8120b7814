"""Corporate actions as they were known at a moment, over a real PostgreSQL."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, date, datetime, timedelta

import pytest
from msgspec.structs import replace

from quotecast.database.database import Database
from quotecast.errors import DatabaseAway
from quotecast.history.known_actions import KnownActions
from quotecast.market.actions import CorporateAction
from quotecast.market.feeds import Feed
from support.made.factories import client_of, full_mirrors, mirror_of, services
from support.made.market import stock
from support.oracles.transactions import open_database

FIRST = datetime(2026, 11, 18, 14, tzinfo=UTC)
HOUR = timedelta(hours=1)
SPLIT = CorporateAction(
    id="1",
    type="split",
    symbol="AAPL",
    ex_day=date(2026, 11, 20),
    old_shares=1.0,
    new_shares=4.0,
    provider="test",
)
CORRECTED = replace(SPLIT, new_shares=5.0)
DIVIDEND = replace(SPLIT, id="2", type="cash_dividend", old_shares=None, new_shares=None, amount=0.25)


@pytest.fixture
async def database(own_accounts_url: str) -> AsyncIterator[Database]:
    async with open_database(own_accounts_url) as database:
        yield database


@pytest.fixture
async def known(database: Database) -> KnownActions:
    """Has heard of a split, two hours later of its correction and a dividend, and then of no dividend."""
    known = KnownActions(database)
    for hours, said in ((0, [SPLIT]), (1, [SPLIT]), (2, [CORRECTED, DIVIDEND]), (3, [CORRECTED])):
        await known.record("test", "AAPL", said, FIRST + hours * HOUR)
    await known.record("test", "MSFT", [], FIRST + HOUR)
    return known


async def at(known: KnownActions, hours: float) -> Sequence[CorporateAction]:
    found = await known.read("test", ["AAPL"], FIRST + hours * HOUR)
    assert found.unread == []
    return found.actions


async def test_a_correction_does_not_rewrite_what_was_known(known: KnownActions) -> None:
    first, third = (f"2026-11-18T{hour}:00:00.000Z" for hour in (14, 16))
    assert await at(known, 0) == await at(known, 1.9) == [replace(SPLIT, known_at=first)]
    corrected, dividend = (replace(each, known_at=third) for each in (CORRECTED, DIVIDEND))
    assert await at(known, 2.5) == [corrected, dividend]
    assert await at(known, 3) == await at(known, 1000) == [corrected]


async def test_nothing_is_known_before_the_first_reading(known: KnownActions) -> None:
    """A stock without actions is known, too; another provider is another source."""
    before = await known.read("test", ["AAPL", "MSFT"], FIRST + HOUR / 2)
    assert before.unread == ["MSFT"]
    assert (await known.read("test", ["MSFT"], FIRST + HOUR)) == ([], [])
    assert (await known.read("other", ["AAPL"], FIRST + HOUR)).unread == ["AAPL"]


async def test_an_earlier_reading_that_comes_late_changes_nothing(known: KnownActions) -> None:
    await known.record("test", "AAPL", [SPLIT], FIRST + HOUR)
    assert [each.new_shares for each in await at(known, 4)] == [5.0]


async def test_the_moment_of_an_answer_is_within_it(known: KnownActions) -> None:
    """Answers have whole milliseconds."""
    await known.record("test", "AAPL", [SPLIT], FIRST + 4 * HOUR + timedelta(microseconds=1900))
    (action,) = await at(known, 5)
    assert action.known_at is not None
    moment = datetime.fromisoformat(action.known_at)
    assert (await known.read("test", ["AAPL"], moment)).actions == [action]


async def test_a_request_reads_what_was_known(known: KnownActions) -> None:
    class Provider:
        name = "test"

    mirrors = full_mirrors()
    mirrors[Feed.STOCKS] = mirror_of(Feed.STOCKS, [stock("AAPL"), stock("META")])
    parts = services(mirrors, known_actions=known, actions=[Provider()])
    path = "/api/market/actions?symbols=AAPL&as_of=2026-11-18T"
    async with client_of(parts) as client:
        (found,) = (await client.get(f"{path}14:30:00Z")).json()
        assert (found["newShares"], found["knownAt"]) == (4.0, "2026-11-18T14:00:00.000Z")
        refused = [await client.get(f"{path}{rest}") for rest in ("13:59:59Z", "14:30:00")]
        refused += [
            await client.get("/api/market/actions?symbols=META,AAPL&as_of=1795176000"),
            await client.get("/api/market/actions?symbols=AAPL&as_of=2126-01-01T00:00:00Z"),
        ]
    async with client_of(services(mirrors, known_actions=known)) as client:
        assert (await client.get(f"{path}14:30:00Z")).json()["code"] == "no_provider"
    problems = [(each.status_code, each.json()["errors"][0]) for each in refused]
    assert {(status, problem["field"]) for status, problem in problems} == {(422, "as_of")}
    assert problems[0][1]["message"] == "Must not be before the actions of AAPL were first read"
    assert problems[2][1]["message"] == "Must not be before the actions of META were first read"


async def test_a_reading_needs_no_database() -> None:
    """Only a question about the past does."""
    async with open_database("postgresql://nobody@127.0.0.1:1/nothing") as away:
        known = KnownActions(away)
        await known.record("test", "AAPL", [SPLIT], FIRST)
        with pytest.raises(DatabaseAway):
            await known.read("test", ["AAPL"], FIRST)
