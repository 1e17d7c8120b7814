"""Daily histories of stocks from the consolidated tape, against a local Alpaca."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from decimal import Decimal

import pytest

from fakes.alpaca import BAD_GATEWAY, FakeAlpaca, Split
from fakes.alpaca_rows import Trade
from fakes.http import HANGING, Answer, HttpRequest
from quotecast.providers.alpaca.closes import PreviousCloses
from quotecast.providers.alpaca.rest import AlpacaRest
from quotecast.providers.alpaca.stock_state import latest_session
from support.made.alpaca_rest import NOW, new_york

TODAY = latest_session(NOW).day
#: Three days before the session of the 19th; only the last has trades on IEX.
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


def closes(fake: FakeAlpaca) -> PreviousCloses:
    return PreviousCloses(AlpacaRest(fake.url, *fake.keys, clock=fake.clock), "iex")


async def test_free_plan_has_the_closes_of_the_consolidated_tape(fake: FakeAlpaca) -> None:
    """The free plan's history has the consolidated closes, split-adjusted, and the split ratio."""
    fake.trades = {"AAPL": TRADES}
    history = (await closes(fake).refresh(["AAPL"], TODAY))["AAPL"]
    assert [day.close for day in history.days] == [110, 112, 113]
    assert (history.split_ratio, history.close_before(history.session)) == (Decimal(4), Decimal(113))
    [request, _] = fake.requests
    assert request.query == {
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
    """A request covers a hundred stocks, and a page may end within one stock's rows."""
    letters = [f"{chr(65 + number // 26)}{chr(65 + number % 26)}" for number in range(150)]
    fake.trades = dict.fromkeys(letters, TRADES)
    fake.rows_per_page = 200
    histories = await closes(fake).refresh(letters, TODAY)
    assert {len(history.days) for history in histories.values()} == {3}
    assert len(histories) == 150
    sizes = [request.query["symbols"].count(",") + 1 for request in fake.requests]
    assert sorted(sizes) == [50, 50, 100, 100, 100, 100]


async def test_stock_without_days_is_not_asked_for_again(fake: FakeAlpaca) -> None:
    asker = closes(fake)
    assert (await asker.refresh(["NEW"], TODAY))["NEW"].close_before(NOW.date()) is None
    assert await asker.refresh(["NEW"], TODAY) == {}
    assert len(fake.requests) == 2


async def test_plan_without_the_consolidated_tape_has_iex(fake: FakeAlpaca) -> None:
    """Without the consolidated tape, all daily bars come from IEX, as bars do."""
    fake.trades = {"AAPL": TRADES}
    served = fake.respond

    def respond(request: HttpRequest) -> Answer:
        refusal = Answer.of({"message": "subscription does not permit querying SIP data"}, 403)
        return refusal if request.query.get("feed") == "sip" else served(request)

    fake.respond = respond  # type: ignore[method-assign] # a plan that the fake does not know
    history = (await closes(fake).refresh(["AAPL"], TODAY))["AAPL"]
    assert [day.close for day in history.days] == [Decimal("112.5")]


async def test_day_is_added_when_it_has_settled(fake: FakeAlpaca) -> None:
    """The day's own bar follows after the close and after extended hours, with trades of all exchanges."""
    fake.trades = {"AAPL": TRADES}
    moments = [new_york(text) for text in ("19 15:59", "19 16:15", "19 16:16", "19 16:20", "19 20:16")]
    passing = iter(moments)
    fake.clock = moments[-1].timestamp
    rest = AlpacaRest(fake.url, *fake.keys, clock=lambda: next(passing).timestamp())
    asker = PreviousCloses(rest, "iex")
    found = [await asker.refresh(["AAPL"], TODAY) for _ in moments]
    days = [[day.date.day for day in histories["AAPL"].days] if histories else None for histories in found]
    assert days == [[16, 17, 18], None, [16, 17, 18, 19], None, [16, 17, 18, 19]]


class PlanRefusals:
    """Makes the fake refuse some requests for the consolidated tape, as a plan without it does."""

    def __init__(self, fake: FakeAlpaca, is_refused: Callable[[int], bool]) -> None:
        self.request: list[tuple[str, str]] = []
        self._serve = fake.respond
        self._is_refused = is_refused
        fake.respond = self.respond  # type: ignore[method-assign] # a plan that the fake does not know

    def respond(self, request: HttpRequest) -> Answer:
        number = len(self.request)
        self.request.append((request.query["feed"], request.query["adjustment"]))
        if request.query["feed"] == "sip" and self._is_refused(number):
            return Answer.of({"message": "subscription does not permit querying recent SIP data"}, 403)
        return self._serve(request)


async def test_refusal_of_raw_days_takes_both_adjustments_from_iex(fake: FakeAlpaca) -> None:
    """Adjusted days of one feed and unadjusted days of another would look like a split of 0.995."""
    fake.splits = {}
    fake.trades = {"AAPL": TRADES}
    refusals = PlanRefusals(fake, lambda number: number == 1)
    history = (await closes(fake).refresh(["AAPL"], TODAY))["AAPL"]
    assert (history.split_ratio, history.close_before(history.session)) == (Decimal(1), Decimal(450))
    assert refusals.request == [("sip", "split"), ("sip", "raw"), ("iex", "split"), ("iex", "raw")]


@pytest.mark.parametrize("moment", ["19 09:50", "19 12:00", "19 16:20"])
async def test_consolidated_tape_is_asked_for_again_15_minutes_after_a_refusal(
    fake: FakeAlpaca, moment: str
) -> None:
    """The retry happens at any time of day, so that quotes agree with history, which asks each time."""
    fake.trades = {"AAPL": TRADES}
    PlanRefusals(fake, lambda number: number == 0)
    start = new_york(moment)
    moments = [start, start + timedelta(minutes=9), start + timedelta(minutes=15)]
    passing = iter(moments)
    fake.clock = moments[-1].timestamp
    rest = AlpacaRest(fake.url, *fake.keys, clock=lambda: next(passing).timestamp())
    asker = PreviousCloses(rest, "iex")
    found = [await asker.refresh(["AAPL"], TODAY) for _ in moments]
    previous = [histories["AAPL"].close_before(TODAY.date) if histories else None for histories in found]
    assert previous == [Decimal("112.5"), None, Decimal(113)]


@pytest.mark.parametrize("bad", [BAD_GATEWAY, HANGING])
async def test_failing_batch_does_not_affect_the_other_batches(
    fake: FakeAlpaca, bad: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stocks of the other batches have their closes, and the retry requests only the failed batch."""
    monkeypatch.setattr("quotecast.providers.alpaca.closes.BATCH", 1)
    monkeypatch.setattr("quotecast.providers.alpaca.closes.DEADLINE_SECONDS", 2.0)
    fake.trades = dict.fromkeys(("AAPL", "MSFT", "NVDA"), TRADES)
    serve = fake.respond
    fake.respond = lambda request: (  # type: ignore[method-assign] # one batch that the fake has no failure for
        bad if request.query["symbols"] == "AAPL" else serve(request)
    )
    passing = iter([NOW, NOW + timedelta(minutes=1)])
    rest = AlpacaRest(fake.url, *fake.keys, clock=lambda: next(passing).timestamp())
    asker = PreviousCloses(rest, "iex")
    assert (await asker.refresh(fake.trades, TODAY)).keys() == {"MSFT", "NVDA"}
    request = len(fake.requests)
    assert await asker.refresh(fake.trades, TODAY) == {}
    assert [request.query["symbols"] for request in fake.requests[request:]] == ["AAPL"]
