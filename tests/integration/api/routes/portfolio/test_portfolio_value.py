"""The value of holdings over time, over a real PostgreSQL and stored bars in memory."""

import asyncio
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
import pytest_asyncio
from msgspec.structs import replace

from quotecast.api.routes.portfolio import worth_history
from quotecast.errors import UpstreamError
from quotecast.history.known_bars import KnownBars, KnownDay, KnownDays
from quotecast.market.feeds import Feed
from quotecast.market.worth_history import value_history
from support.made.factories import DOVIZ, full_mirrors, mirror_of
from support.made.holdings import BOUGHT, HOLDINGS
from support.made.memory_cache import MemoryCache
from support.runs.deadlines import scaled
from support.stages.account_service import AccountService, User, account_service
from support.stages.bar_service import History, Stored, write_closes
from support.stages.bar_service import bar as daily_bar
from support.stages.caching import Clock

VALUE = "/api/portfolio/value"


@pytest.fixture
def stored() -> Stored:
    return Stored()


@pytest.fixture
def history() -> History:
    return History()


@pytest_asyncio.fixture
async def service(
    accounts_url: str, stored: Stored, history: History, clock: Clock
) -> AsyncIterator[AccountService]:
    dollar, *others = DOVIZ
    mirrors = full_mirrors()
    mirrors[Feed.DOVIZ] = mirror_of(Feed.DOVIZ, [replace(dollar, unit="1 USD"), *others])
    async with account_service(
        accounts_url,
        mirrors=mirrors,
        clock=clock,
        stored_bars=stored,
        cache=MemoryCache(clock),
        history={Feed.STOCKS: {"test": history}},
    ) as service:
        yield service


async def hold(user: User, ticker: str, shares: float, bought_at: str) -> None:
    body = BOUGHT | {"ticker": ticker, "shares": shares, "bought_at": bought_at}
    assert (await user.post(HOLDINGS, body)).status_code == 201


async def values(user: User, query: str = "") -> Any:
    response = await user.get(VALUE + query)
    assert response.status_code == 200, response.text
    return response.json()


def by_day(answer: Any) -> dict[str, float | None]:
    return {each["date"]: each["value"] for each in answer["points"]}


async def test_lots_count_from_their_day_on(user: User, stored: Stored) -> None:
    """The series begins with the first purchase; a weekend has the close of Friday."""
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-13": 10.0, "2026-11-16": 11.0, "2026-11-17": 12.0})
    await hold(user, "AAPL", 2, "2026-11-14")
    await hold(user, "AAPL", 1, "2026-11-17")
    answer = await values(user, "?range=1M&currency=usd")
    assert (answer["currency"], answer["range"], answer["missing"]) == ("USD", "1M", [])
    assert [*by_day(answer).values()][:5] == [20.0, 20.0, 22.0, 36.0, 36.0]
    assert next(iter(by_day(answer))) == "2026-11-14"
    assert [*by_day(answer)][-1] == "2026-11-20"


@pytest.mark.parametrize(
    "case",
    [(22, "gram-altin", "2026-11-21"), (22, "AAPL", "2026-11-20"), (26, "AAPL", "2026-11-20")],
)
async def test_the_last_day_is_the_venue_s(
    user: User, stored: Stored, clock: Clock, case: tuple[int, str, str]
) -> None:
    """Istanbul begins a day three hours before UTC, and New York five hours after it."""
    hours, ticker, last = case
    clock.now = (datetime(2026, 11, 20, tzinfo=UTC) + timedelta(hours=hours)).timestamp()
    for feed, symbol in ((Feed.DOVIZ, "gram-altin"), (Feed.STOCKS, "AAPL")):
        write_closes(stored, feed, symbol, {"2026-11-19": 10.0, "2026-11-20": 11.0})
    await hold(user, ticker, 1, "2026-11-19")
    currency = "TRY" if ticker == "gram-altin" else "USD"
    days = [*by_day(await values(user, f"?currency={currency}"))]
    assert (days[0], days[-1]) == ("2026-11-19", last)


async def test_rates_are_those_of_the_day(user: User, stored: Stored) -> None:
    """Gold in lira becomes dollars by the inverse of that day's rate, and a stock lira by the rate."""
    write_closes(stored, Feed.DOVIZ, "gram-altin", {"2026-11-17": 4000.0, "2026-11-18": 4200.0})
    write_closes(stored, Feed.DOVIZ, "USD", {"2026-11-17": 40.0, "2026-11-18": 42.0})
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-17": 10.0, "2026-11-18": 20.0})
    await hold(user, "gram-altin", 1, "2026-11-17")
    dollars = by_day(await values(user))
    assert (dollars["2026-11-17"], dollars["2026-11-18"]) == (100.0, 100.0)
    await hold(user, "AAPL", 1, "2026-11-18")
    lira = by_day(await values(user, "?currency=TRY"))
    assert (lira["2026-11-17"], lira["2026-11-18"]) == (4000.0, 5040.0)


async def test_what_is_missing_is_named_and_left_out(user: User, stored: Stored) -> None:
    """The rest has its value; a day on which a close is unknown has none."""
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-18": 10.0})
    write_closes(stored, Feed.STOCKS, "MSFT", {"2026-11-19": 20.0})
    write_closes(stored, Feed.DOVIZ, "gumus", {"2026-11-18": 50.0})
    for ticker in ("AAPL", "MSFT", "NOPE", "gumus", "BTC/USDT"):
        await hold(user, ticker, 1, "2026-11-16")
    answer = await values(user)
    assert {each["ticker"]: each["reason"] for each in answer["missing"]} == {
        "AAPL": "late",
        "BTC/USDT": "rate",
        "MSFT": "late",
        "NOPE": "unknown",
        "gumus": "rate",
    }
    assert (by_day(answer)["2026-11-18"], by_day(answer)["2026-11-20"]) == (None, 30.0)
    assert {each["ticker"]: each["since"] for each in answer["missing"] if each["since"]} == {
        "AAPL": "2026-11-18",
        "MSFT": "2026-11-19",
    }


async def test_computation_leaves_the_event_loop_to_others(
    user: User, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred symbols with rates take a fifth of a second."""
    loop, turned = asyncio.get_running_loop(), threading.Event()

    def compute(*given: Any) -> list[float | None]:
        loop.call_soon_threadsafe(turned.set)
        assert turned.wait(scaled(10))
        return value_history(*given)

    monkeypatch.setattr(worth_history, "value_history", compute)
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-18": 10.0})
    await hold(user, "AAPL", 1, "2026-11-18")
    assert by_day(await values(user))["2026-11-18"] == 10.0


@pytest.mark.parametrize(("error", "close"), [(None, 50.0), (UpstreamError("away"), 10.0)])
async def test_an_upstream_comes_first(
    user: User, stored: Stored, history: History, error: Exception | None, close: float
) -> None:
    """Own bars replace those of an upstream that fails."""
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-18": 10.0})
    history.answer = [daily_bar(datetime(2026, 11, 18, 5, tzinfo=UTC), 50.0)]
    history.error = error
    await hold(user, "AAPL", 1, "2026-11-18")
    assert by_day(await values(user))["2026-11-18"] == close


async def test_an_answer_is_cached_until_holdings_change(user: User, stored: Stored) -> None:
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-18": 10.0})
    await hold(user, "AAPL", 1, "2026-11-18")
    first = await values(user)
    reads = stored.reads
    assert (await values(user), stored.reads) == (first, reads)
    await hold(user, "AAPL", 1, "2026-11-18")
    assert by_day(await values(user))["2026-11-18"] == 20.0


async def test_a_narrow_key_shares_no_cached_value_with_the_whole_market(user: User, stored: Stored) -> None:
    """A key for stocks alone finds no rate to the lira; the token alone finds it, in either order."""
    made = await user.post("/api/keys", {"name": "Stocks", "scope": {"feeds": ["market"]}})
    narrow = {"x-api-key": made.json()["secret_key"]}
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-18": 10.0})
    write_closes(stored, Feed.DOVIZ, "USD", {"2026-11-18": 40.0})
    for shares, total, order in ((1, 400.0, (narrow, {})), (2, 1200.0, ({}, narrow))):
        await hold(user, "AAPL", shares, "2026-11-18")
        for headers in order:
            answer = (await user.get(f"{VALUE}?currency=TRY", headers=headers)).json()
            reasons = [each["reason"] for each in answer["missing"]]
            assert (by_day(answer)["2026-11-18"], reasons) == ((None, ["rate"]) if headers else (total, []))


async def test_a_hundred_symbols_are_read_at_most(
    user: User, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quotecast.api.routes.portfolio.worth_history.MAX_SYMBOLS", 1)
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-18": 10.0})
    write_closes(stored, Feed.STOCKS, "MSFT", {"2026-11-18": 10.0})
    await hold(user, "MSFT", 1, "2026-11-18")
    await hold(user, "AAPL", 1, "2026-11-18")
    answer = await values(user)
    assert [each["reason"] for each in answer["missing"]] == ["limit"]
    assert by_day(answer)["2026-11-18"] == 10.0


async def test_an_empty_portfolio_has_no_points(user: User) -> None:
    answer = await values(user, "?range=5Y")
    assert (answer["points"], answer["missing"]) == ([{"date": "2026-11-20", "value": None}], [])


async def test_five_years_have_a_point_a_week(user: User, stored: Stored) -> None:
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-18": 10.0})
    await hold(user, "AAPL", 1, "2020-01-01")
    days = [datetime.fromisoformat(day) for day in by_day(await values(user, "?range=5Y"))]
    assert len(days) == 261
    assert {later - earlier for earlier, later in pairwise(days)} == {timedelta(days=7)}
    assert days[-1].replace(tzinfo=UTC).date().isoformat() == "2026-11-20"


@pytest.mark.parametrize(("query", "field"), [("range=2Y", "range"), ("currency=XXX", "currency")])
async def test_a_bad_parameter_is_named(user: User, query: str, field: str) -> None:
    response = await user.get(f"{VALUE}?{query}")
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, field)


async def test_values_are_private(service: AccountService, user: User, stored: Stored) -> None:
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-18": 10.0})
    await hold(user, "AAPL", 1, "2026-11-18")
    other = await service.register("other@example.com")
    assert (await values(other))["points"][-1]["value"] is None
    assert (await service.client.get(VALUE)).status_code == 401


async def trade(user: User, kind: str, day: str, **amounts: float | str) -> None:
    body = {"type": kind, "ticker": "AAPL", "date": day} | amounts
    assert (await user.post("/api/portfolio/transactions", body)).status_code == 201


async def returns(user: User, query: str = "") -> Any:
    response = await user.get(f"/api/portfolio/performance?range=1M{query}")
    assert response.status_code == 200, response.text
    return response.json()


async def test_transactions_count_in_the_value(user: User, stored: Stored) -> None:
    """Shares that were sold are gone; a split of the ledger counts for the shares before it."""
    write_closes(stored, Feed.STOCKS, "AAPL", dict.fromkeys(("2026-11-16", "2026-11-18", "2026-11-19"), 10.0))
    await hold(user, "AAPL", 1, "2026-11-16")
    await trade(user, "buy", "2026-11-16", shares=1, price=40)
    await trade(user, "split", "2026-11-18", old_shares=1, new_shares=4)
    await trade(user, "sell", "2026-11-19", shares=6, price=11, fee=1)
    assert [*by_day(await values(user)).values()][:4] == [80.0, 80.0, 80.0, 20.0]


async def test_a_sale_whose_holding_is_gone_counts_nowhere(user: User, stored: Stored) -> None:
    """The position has a problem from the sale on: nothing later counts in the value or the returns."""
    write_closes(stored, Feed.STOCKS, "AAPL", dict.fromkeys(("2026-11-16", "2026-11-18", "2026-11-19"), 10.0))
    body = BOUGHT | {"ticker": "AAPL", "shares": 9, "bought_at": "2026-11-16"}
    holding = (await user.post(HOLDINGS, body)).json()
    await hold(user, "AAPL", 1, "2026-11-16")
    await trade(user, "sell", "2026-11-18", shares=10, price=10)
    await trade(user, "buy", "2026-11-19", shares=4, price=10)
    assert (await user.delete(f"{HOLDINGS}/{holding['id']}")).status_code == 204
    assert {*by_day(await values(user)).values()} == {10.0}
    found = await returns(user)
    assert (found["end_value"], found["taken_out"]) == (10.0, 0.0)


async def test_a_purchase_of_a_day_that_its_venue_does_not_have_yet_is_no_fault(user: User) -> None:
    """In Istanbul it is tomorrow before New York has its first trade."""
    await trade(user, "buy", "2026-11-21", shares=1, price=10)
    found = await returns(user)
    assert (found["start"], found["end"]) == ("2026-11-20", "2026-11-20")
    assert (found["paid_in"], found["gain"], found["time_weighted_return"]) == (None, None, None)
    assert (await values(user))["points"] == [{"date": "2026-11-20", "value": 0.0}]


async def test_a_fee_before_the_first_purchase_hides_no_payment(user: User, stored: Stored) -> None:
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-19": 20.0, "2026-11-20": 20.0})
    await trade(user, "fee", "2026-11-02", amount=5)
    await trade(user, "buy", "2026-11-19", shares=1, price=10)
    found = await returns(user)
    assert (found["start_value"], found["paid_in"], found["gain"]) == (0.0, 15.0, 5.0)
    assert found["time_weighted_return"] == pytest.approx(0.5)


async def test_returns_of_a_portfolio_that_begins_in_the_range(user: User, stored: Stored) -> None:
    """Two shares for 21 rise to 15 each; one brings 14, the other is left."""
    closes = {
        "2026-11-16": 10.0,
        "2026-11-17": 12.0,
        "2026-11-18": 15.0,
        "2026-11-19": 15.0,
        "2026-11-20": 15.0,
    }
    write_closes(stored, Feed.STOCKS, "AAPL", closes)
    await trade(user, "buy", "2026-11-16", shares=2, price=10, fee=1)
    await trade(user, "sell", "2026-11-18", shares=1, price=15, fee=1)
    await trade(user, "dividend", "2026-11-19", amount=0.5)
    found = await returns(user)
    assert (found["start"], found["end"], found["missing"]) == ("2026-11-16", "2026-11-20", [])
    assert (found["start_value"], found["end_value"]) == (0.0, 15.0)
    assert (found["paid_in"], found["taken_out"], found["gain"]) == (21.0, 14.5, 8.5)
    expected = 20 / 21 * (24 / 20) * (29 / 24) * (15.5 / 15) - 1
    assert found["time_weighted_return"] == pytest.approx(expected)
    assert 0.4 < found["money_weighted_return"] < 0.6


async def test_payments_are_converted_at_the_rates_of_their_days(user: User, stored: Stored) -> None:
    write_closes(stored, Feed.STOCKS, "AAPL", dict.fromkeys(("2026-11-16", "2026-11-19", "2026-11-20"), 10.0))
    write_closes(stored, Feed.DOVIZ, "USD", {"2026-11-16": 30.0, "2026-11-19": 40.0, "2026-11-20": 50.0})
    await trade(user, "buy", "2026-11-16", shares=2, price=10)
    await trade(user, "sell", "2026-11-19", shares=1, price=10)
    found = await returns(user, "&currency=TRY")
    assert (found["paid_in"], found["taken_out"]) == (600.0, 400.0)


async def test_returns_of_shares_held_before_the_range_begin_with_their_value(
    user: User, stored: Stored
) -> None:
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-10-19": 10.0, "2026-10-28": 10.0, "2026-11-06": 10.0})
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-13": 11.0, "2026-11-20": 12.0})
    await trade(user, "buy", "2026-03-02", shares=3, price=1)
    found = await returns(user)
    assert (found["start_value"], found["paid_in"], found["gain"]) == (30.0, 0.0, 6.0)
    assert found["time_weighted_return"] == pytest.approx(0.2)


async def test_returns_without_a_close_or_a_rate_are_null(user: User, stored: Stored) -> None:
    write_closes(stored, Feed.STOCKS, "AAPL", {"2026-11-18": 10.0})
    await trade(user, "buy", "2026-11-16", shares=2, price=10)
    found = await returns(user)
    assert [each["reason"] for each in found["missing"]] == ["late"]
    assert (found["end_value"], found["time_weighted_return"], found["gain"]) == (20.0, None, None)
    nothing = await returns(user, "&currency=JPY")
    assert (nothing["gain"], nothing["missing"][0]["reason"]) == (None, "rate")


async def test_an_empty_portfolio_has_no_returns(user: User) -> None:
    found = await returns(user)
    assert (found["gain"], found["time_weighted_return"], found["start"]) == (None, None, "2026-11-20")


class _Known(KnownBars):
    """Has read one close, and an hour later its correction."""

    def __init__(self, clock: Clock) -> None:
        self._corrected = datetime.fromtimestamp(clock.now, UTC) + timedelta(hours=1)

    async def read(self, feed: str, symbol: str, at: datetime) -> KnownDays:
        assert (feed, symbol) == ("stocks", "AAPL")
        close = 10.0 if at < self._corrected else 11.0
        return KnownDays("test", [KnownDay(daily_bar(datetime(2026, 11, 19, 5, tzinfo=UTC), close), at)])


async def test_a_value_is_of_what_was_known(accounts_url: str, clock: Clock) -> None:
    """Entries that had been made count, at the closes that had been read; later ones change nothing."""
    history = {Feed.STOCKS: {"test": History()}}
    async with account_service(
        accounts_url, clock=clock, known_bars=_Known(clock), history=history
    ) as service:
        user = await service.register()
        began = clock.now
        await hold(user, "AAPL", 2, "2026-11-19")
        clock.now += 7200
        await trade(user, "buy", "2026-11-19", shares=1, price=10)
        for hours, value in ((0, 20.0), (1, 22.0), (2, 33.0)):
            answer = await values(user, f"?as_of={began + hours * 3600:.0f}")
            assert by_day(answer) == {"2026-11-19": value, "2026-11-20": value}
        assert [*by_day(await values(user, "?as_of=0"))] == ["1970-01-01"]
        refused = await user.get(f"{VALUE}?as_of={clock.now + 60:.0f}")
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "as_of")
