"""The last days of stocks on the whole tape, from a local Alpaca."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from decimal import Decimal

import pytest

from fakes.alpaca import BAD_GATEWAY, FakeAlpaca, Split
from fakes.alpaca_rows import Trade
from fakes.http import HANGING, Answer, Asked
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
    assert sorted(sizes) == [50, 50, 100, 100, 100, 100]


async def test_stock_without_days_is_not_asked_for_again(fake: FakeAlpaca) -> None:
    asker = closes(fake)
    assert (await asker.refresh(["NEW"], TODAY))["NEW"].close_before(NOW.date()) is None
    assert await asker.refresh(["NEW"], TODAY) == {}
    assert len(fake.requests) == 2


async def test_plan_without_a_whole_tape_has_its_own(fake: FakeAlpaca) -> None:
    """As the bars have it then, and never a mix."""
    fake.trades = {"AAPL": TRADES}
    served = fake.respond

    def respond(asked: Asked) -> Answer:
        refusal = Answer.of({"message": "subscription does not permit querying SIP data"}, 403)
        return refusal if asked.query.get("feed") == "sip" else served(asked)

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


class Refusing:
    """Refuses some of the questions for the whole tape, as a plan without it does."""

    def __init__(self, fake: FakeAlpaca, refused: Callable[[int, Asked], bool]) -> None:
        self.asked: list[tuple[str, str]] = []
        self._served = fake.respond
        self._refused = refused
        fake.respond = self.respond  # type: ignore[method-assign] # a plan that the fake does not know

    def respond(self, asked: Asked) -> Answer:
        number = len(self.asked)
        self.asked.append((asked.query["feed"], asked.query["adjustment"]))
        if asked.query["feed"] == "sip" and self._refused(number, asked):
            return Answer.of({"message": "subscription does not permit querying recent SIP data"}, 403)
        return self._served(asked)


async def test_refusal_of_raw_days_takes_both_from_the_same_tape(fake: FakeAlpaca) -> None:
    """Adjusted days of one tape and raw ones of another would look like a split of 0.995."""
    fake.splits = {}
    fake.trades = {"AAPL": TRADES}
    refusing = Refusing(fake, lambda number, _: number == 1)
    tape = (await closes(fake).refresh(["AAPL"], TODAY))["AAPL"]
    assert (tape.factor, tape.close_before(tape.session)) == (Decimal(1), Decimal(450))
    assert refusing.asked == [("sip", "split"), ("sip", "raw"), ("iex", "split"), ("iex", "raw")]


@pytest.mark.parametrize("moment", ["19 09:50", "19 12:00", "19 16:20"])
async def test_whole_tape_is_asked_for_again_a_quarter_of_an_hour_after_a_refusal(
    fake: FakeAlpaca, moment: str
) -> None:
    """At any time of the day: history asks for it with each request, and the two must agree."""
    fake.trades = {"AAPL": TRADES}
    Refusing(fake, lambda number, _: number == 0)
    begun = new_york(moment)
    moments = [begun, begun + timedelta(minutes=9), begun + timedelta(minutes=15)]
    passing = iter(moments)
    fake.clock = moments[-1].timestamp
    asker = Closes(
        Rest(fake.url, *fake.keys, unlimited, fake.clock), "iex", clock=lambda: next(passing).timestamp()
    )
    found = [await asker.refresh(["AAPL"], TODAY) for _ in moments]
    previous = [tapes["AAPL"].close_before(TODAY.date) if tapes else None for tapes in found]
    assert previous == [Decimal("112.5"), None, Decimal(113)]


@pytest.mark.parametrize("bad", [BAD_GATEWAY, HANGING])
async def test_batch_that_keeps_failing_leaves_the_other_stocks_their_closes(
    fake: FakeAlpaca, bad: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next try asks for the failed batch alone."""
    monkeypatch.setattr("quotecast.providers.alpaca.closes.BATCH", 1)
    monkeypatch.setattr("quotecast.providers.alpaca.closes.DEADLINE_SECONDS", 2.0)
    fake.trades = dict.fromkeys(("AAPL", "MSFT", "NVDA"), TRADES)
    served = fake.respond
    fake.respond = lambda asked: (  # type: ignore[method-assign] # one batch that the fake has no failure for
        bad if asked.query["symbols"] == "AAPL" else served(asked)
    )
    passing = iter([NOW, NOW + timedelta(minutes=1)])
    asker = Closes(
        Rest(fake.url, *fake.keys, unlimited, fake.clock), "iex", clock=lambda: next(passing).timestamp()
    )
    assert (await asker.refresh(fake.trades, TODAY)).keys() == {"MSFT", "NVDA"}
    asked = len(fake.requests)
    assert await asker.refresh(fake.trades, TODAY) == {}
    assert [request.query["symbols"] for request in fake.requests[asked:]] == ["AAPL"]
