"""The last days of stocks on the whole tape, from a local Alpaca."""

from collections.abc import AsyncIterator
from decimal import Decimal

import pytest

from fakes.alpaca import FakeAlpaca, Split
from fakes.alpaca_rows import Trade
from fakes.http import Answer, HttpRequest
from quotecast.providers.alpaca.closes import Closes
from quotecast.providers.alpaca.known import session_of
from quotecast.providers.alpaca.rest import Rest
from quotecast.providers.base import unlimited
from support.alpaca_rest_made import NOW, new_york

TODAY = session_of(NOW).day
#: Three days before the session of the 19th, all of them off IEX but the last.
TRADES = [
    Trade(new_york("16 15:59"), 440, on_iex=False),
    Trade(new_york("17 15:59"), 448, on_iex=False),
    Trade(new_york("18 15:58"), 450),
    Trade(new_york("18 15:59"), 452, on_iex=False),
    Trade(new_york("19 10:00"), 113),
]


@pytest.fixture
async def fake() -> AsyncIterator[FakeAlpaca]:
    async with FakeAlpaca() as fake:
        fake.clock = NOW.timestamp
        fake.splits = {"AAPL": [Split(new_york("19 12:00").date(), 4)]}
        yield fake


def closes(fake: FakeAlpaca) -> Closes:
    return Closes(Rest(fake.url, *fake.keys, unlimited, fake.clock), "iex", clock=fake.clock)


async def test_free_plan_has_the_closes_of_the_whole_tape(fake: FakeAlpaca) -> None:
    """The daily bars of days that are over; the split of the session is in them, and its factor is known."""
    fake.trades = {"AAPL": TRADES}
    tape = (await closes(fake).refresh(["AAPL"], TODAY))["AAPL"]
    assert [day.close for day in tape.days] == [110, 112, 113]
    assert (tape.factor, tape.close_before(tape.session)) == (Decimal(4), Decimal(113))
    [asked, _] = fake.requests
    assert asked.query == {
        "symbols": "AAPL",
        "timeframe": "1Day",
        "start": "2026-11-05T05:00:00Z",
        "end": "2026-11-19T04:59:59Z",
        "adjustment": "split",
        "feed": "sip",
        "sort": "asc",
        "limit": "10000",
    }


async def test_many_stocks_are_asked_for_together_page_by_page(fake: FakeAlpaca) -> None:
    """A hundred in a question; a page may end within a stock."""
    letters = [f"{chr(65 + number // 26)}{chr(65 + number % 26)}" for number in range(150)]
    fake.trades = dict.fromkeys(letters, TRADES)
    fake.rows_per_page = 200
    tapes = await closes(fake).refresh(letters, TODAY)
    assert {len(tape.days) for tape in tapes.values()} == {3}
    assert len(tapes) == 150
    sizes = [request.query["symbols"].count(",") + 1 for request in fake.requests]
    assert sizes == [100, 100, 100, 100, 50, 50]


async def test_stock_without_days_is_not_asked_for_again(fake: FakeAlpaca) -> None:
    asker = closes(fake)
    assert (await asker.refresh(["NEW"], TODAY))["NEW"].close_before(NOW.date()) is None
    assert await asker.refresh(["NEW"], TODAY) == {}
    assert len(fake.requests) == 2


async def test_plan_without_a_whole_tape_has_its_own(fake: FakeAlpaca) -> None:
    """As the bars have it then, and never a mix."""
    fake.trades = {"AAPL": TRADES}
    served = fake.respond

    def respond(request: HttpRequest) -> Answer:
        refusal = Answer.of({"message": "subscription does not permit querying SIP data"}, 403)
        return refusal if request.query.get("feed") == "sip" else served(request)

    fake.respond = respond  # type: ignore[method-assign] # a plan that the fake does not know
    tape = (await closes(fake).refresh(["AAPL"], TODAY))["AAPL"]
    assert [day.close for day in tape.days] == [Decimal("112.5")]


async def test_day_is_added_when_it_has_settled(fake: FakeAlpaca) -> None:
    """After the close, and after the last hours; what another exchange saw counts too."""
    fake.trades = {"AAPL": TRADES}
    moments = [new_york(text) for text in ("19 15:59", "19 16:15", "19 16:16", "19 16:20", "19 20:16")]
    passing = iter(moments)
    fake.clock = moments[-1].timestamp
    asker = Closes(
        Rest(fake.url, *fake.keys, unlimited, fake.clock), "iex", clock=lambda: next(passing).timestamp()
    )
    found = [await asker.refresh(["AAPL"], TODAY) for _ in moments]
    days = [[day.date.day for day in tapes["AAPL"].days] if tapes else None for tapes in found]
    assert days == [[16, 17, 18], None, [16, 17, 18, 19], None, [16, 17, 18, 19]]
