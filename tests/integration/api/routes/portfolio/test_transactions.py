"""The ledger of a portfolio over HTTP, over a real PostgreSQL: transactions, positions and proposals."""

import json
from collections.abc import AsyncIterator
from datetime import date
from decimal import Decimal
from typing import Any

import httpx
import pytest
import pytest_asyncio
from msgspec import UNSET
from msgspec.structs import replace

from quotecast.feed.mirror import Mirror
from quotecast.market.actions import CorporateAction
from quotecast.market.feeds import Feed
from support.made.corporate_actions import Actions
from support.made.factories import DOVIZ, MONOTONIC, empty_mirrors, full_mirrors, mirror_of
from support.made.holdings import BOUGHT, HOLDINGS
from support.made.market import stock
from support.stages.account_service import AccountService, User, account_service
from support.stages.bar_service import Stored, write_closes
from support.stages.caching import Clock

TRANSACTIONS = "/api/portfolio/transactions"
POSITIONS = "/api/portfolio/positions"
PROPOSALS = "/api/portfolio/proposals"
BUY = {"type": "buy", "ticker": "aapl", "date": "2026-03-02", "shares": 10, "price": 90.1, "fee": 1.5}
SELL = {"type": "sell", "ticker": "AAPL", "date": "2026-05-04", "shares": 4, "price": 110, "fee": 1}

RATIO = {"old_shares": 1, "new_shares": 10_001}


@pytest.fixture
def provider() -> Actions:
    return Actions()


@pytest.fixture
def stored() -> Stored:
    return Stored()


@pytest.fixture
def mirrors() -> dict[Feed, Mirror]:
    return full_mirrors()


@pytest_asyncio.fixture
async def service(
    accounts_url: str, clock: Clock, provider: Actions, stored: Stored, mirrors: dict[Feed, Mirror]
) -> AsyncIterator[AccountService]:
    dollar, *others = DOVIZ
    mirrors[Feed.STOCKS] = mirror_of(
        Feed.STOCKS, [stock("AAPL", 120.0), stock("META", 600.0), stock("MSFT", 500.0)]
    )
    mirrors[Feed.DOVIZ] = mirror_of(Feed.DOVIZ, [replace(dollar, unit="1 USD", price=40.0), *others])
    async with account_service(
        accounts_url, mirrors=mirrors, clock=clock, actions=[provider], stored_bars=stored
    ) as service:
        yield service


def exactly(response: httpx.Response) -> Any:
    """Returns the body with its numbers as decimals."""
    return json.loads(response.text, parse_float=Decimal, parse_int=Decimal)


async def add(user: User, *entries: dict[str, Any]) -> list[Any]:
    found = []
    for each in entries:
        response = await user.post(TRANSACTIONS, each)
        assert response.status_code == 201, response.text
        found.append(response.json())
    return found


async def position(user: User, query: str = "") -> Any:
    response = await user.get(f"{POSITIONS}{query}")
    assert response.status_code == 200, response.text
    (found,) = exactly(response)
    return found


async def test_a_transaction_is_added_listed_and_removed(user: User) -> None:
    (added,) = await add(user, BUY)
    assert added == {
        "id": added["id"],
        "type": "buy",
        "ticker": "AAPL",
        "date": "2026-03-02",
        "currency": "USD",
        "shares": 10,
        "price": 90.1,
        "fee": 1.5,
        "amount": None,
        "old_shares": None,
        "new_shares": None,
        "created_at": "2026-11-20T15:30:00.000Z",
    }
    assert (await user.get(TRANSACTIONS)).json() == [added]
    removed = await user.delete(f"{TRANSACTIONS}/{added['id']}")
    assert (removed.status_code, removed.content) == (204, b"")
    assert (await user.get(TRANSACTIONS)).json() == []
    assert (await user.delete(f"{TRANSACTIONS}/{added['id']}")).status_code == 404
    assert (await user.delete(f"{TRANSACTIONS}/nothing")).status_code == 404


async def test_a_position_adds_up_to_the_last_digit(user: User) -> None:
    """Of ten shares for 902.5 with the fee, six are left."""
    await add(user, BUY, SELL, {"type": "dividend", "ticker": "AAPL", "date": "2026-06-01", "amount": 2.5})
    found = await position(user)
    assert {name: found[name] for name in ("ticker", "type", "currency", "problem")} == {
        "ticker": "AAPL",
        "type": "stock",
        "currency": "USD",
        "problem": None,
    }
    assert (found["shares"], found["cost"], found["average_cost"]) == (6, Decimal("541.5"), Decimal("90.25"))
    assert found["realized_gain"] == 4 * 110 - 1 - Decimal(361)
    assert (found["dividends"], found["fees"]) == (Decimal("2.5"), 0)
    assert (found["price"], found["market_value"], found["unrealized_gain"]) == (
        Decimal("120.0"),
        720,
        Decimal("178.5"),
    )
    assert found["lots"] == [{"date": "2026-03-02", "shares": 6, "cost": Decimal("541.5")}]
    assert found["converted"] is None


async def test_holdings_are_the_first_lots(user: User) -> None:
    """A sale takes from a holding, too; the holding itself stays as it is."""
    assert (await user.post(HOLDINGS, BOUGHT)).status_code == 201
    await add(user, {**SELL, "date": "2026-03-03", "shares": 1})
    found = await position(user)
    assert (found["shares"], found["cost"]) == (1, Decimal("90.5"))
    (holding,) = (await user.get(HOLDINGS)).json()
    assert holding["shares"] == 2


async def test_a_holding_that_is_gone_leaves_a_problem_that_can_be_mended(user: User) -> None:
    holding = (await user.post(HOLDINGS, {**BOUGHT, "shares": 8})).json()
    first, _ = await add(user, *[{**SELL, "date": day, "shares": 4} for day in ("2026-05-04", "2026-05-05")])
    assert (await user.delete(f"{HOLDINGS}/{holding['id']}")).status_code == 204
    assert (await position(user))["problem"] == (
        "2026-05-04: the sale of 4 AAPL takes more than the 0 that are held"
    )
    assert (await user.delete(f"{TRANSACTIONS}/{first['id']}")).status_code == 204
    await add(user, {**BUY, "shares": 1}, {**BUY, "shares": 3})
    assert (await position(user))["problem"] is None


async def test_a_position_is_valued_in_another_currency(user: User) -> None:
    await add(user, BUY)
    converted = (await position(user, "?currency=try"))["converted"]
    assert (converted["currency"], converted["market_value"]) == ("TRY", 48_000)
    assert [each["symbol"] for each in converted["rates"]] == ["USD"]
    assert (await position(user, "?currency=JPY"))["converted"] is None


async def test_rates_count_in_the_state_of_positions_and_holdings(
    user: User, mirrors: dict[Feed, Mirror]
) -> None:
    """A quote in another currency needs the feed of the rate; a feed without data counts in none."""
    mirrors[Feed.CRYPTO] = empty_mirrors()[Feed.CRYPTO]
    assert (await user.post(HOLDINGS, BOUGHT)).status_code == 201
    paths = (POSITIONS, f"{HOLDINGS}?include=quote")
    for currency, silent, expected in (("USD", 1000, "live"), ("TRY", 0, "live"), ("TRY", 1000, "stale")):
        (holding,) = (await user.get(HOLDINGS)).json()
        await user.ask("PATCH", f"{HOLDINGS}/{holding['id']}", json={"currency": currency})
        mirrors[Feed.DOVIZ].heard_at = MONOTONIC - silent
        states = [(await user.get(path)).headers["x-feed-state"] for path in paths]
        assert states == [expected] * 2, (currency, silent)


async def test_a_position_is_booked_at_the_rates_of_its_days(user: User, stored: Stored) -> None:
    """Ten shares for 902.5 at 30, four of them sold for 439 at 35; a weekend has the rate of Friday."""
    await add(user, BUY, SELL, {"type": "dividend", "ticker": "AAPL", "date": "2026-06-06", "amount": 2.5})
    unknown = (await position(user, "?currency=TRY"))["converted"]
    names = ("cost", "realized_gain", "dividends", "fees", "unrealized_gain")
    assert [unknown[name] for name in names] == [None] * 5
    assert unknown["market_value"] == 6 * 120 * 40
    write_closes(stored, Feed.DOVIZ, "USD", {"2026-03-02": 30.0, "2026-05-04": 35.0, "2026-06-05": 36.0})
    found = (await position(user, "?currency=TRY"))["converted"]
    cost = Decimal("541.5") * 30
    assert [found[name] for name in names] == [
        cost,
        Decimal(439) * 35 - Decimal(361) * 30,
        90,
        0,
        6 * 120 * 40 - cost,
    ]
    average = (await position(user, "?currency=TRY&method=average"))["converted"]
    assert (average["cost"], average["realized_gain"]) == (found["cost"], found["realized_gain"])
    own = await position(user, "?currency=USD")
    assert own["converted"].items() >= {name: own[name] for name in (*names, "market_value")}.items()


@pytest.mark.parametrize(
    ("by", "parts"),
    [
        ("symbol", {"AAPL": 28_800, "MSFT": 20_000, "USD": 40}),
        ("type", {"stock": 48_800, "doviz": 40}),
        ("currency", {"USD": 48_800, "TRY": 40}),
        ("sector", {"Energy": 48_800, None: 40}),
    ],
)
async def test_the_value_is_divided(user: User, by: str, parts: dict[str | None, int]) -> None:
    """What is sold has no part; a ticker of no feed, and one without a rate, are missing."""
    trades = [
        {**BUY, "ticker": "usd", "shares": 1, "currency": "TRY"},
        {**BUY, "ticker": "MSFT", "shares": 1},
        {**BUY, "ticker": "SOLD"},
        {**SELL, "ticker": "SOLD", "shares": 10},
        {**BUY, "ticker": "NONE"},
        {**BUY, "ticker": "MSFT", "currency": "JPY"},
    ]
    await add(user, BUY, SELL, *trades)
    response = await user.get(f"/api/portfolio/allocation?by={by}&currency=try")
    found = exactly(response)
    assert response.headers["x-feed-state"] == "live"
    assert (found["currency"], found["by"], found["market_value"]) == ("TRY", by, 48_840)
    assert [(each["name"], each["market_value"]) for each in found["parts"]] == [*parts.items()]
    assert [float(each["weight"]) for each in found["parts"]] == [
        pytest.approx(value / 48_840, abs=1e-6) for value in parts.values()
    ]
    assert {ticker for each in found["parts"] for ticker in each["tickers"]} == {"AAPL", "MSFT", "USD"}
    missing = [{"ticker": "MSFT", "reason": "rate", "since": None}]
    assert found["missing"] == [*missing, {"ticker": "NONE", "reason": "unknown", "since": None}]


async def test_nothing_is_divided_without_positions(user: User) -> None:
    empty = {"currency": "USD", "by": "symbol", "market_value": 0, "parts": [], "missing": []}
    assert (await user.get("/api/portfolio/allocation")).json() == empty


async def test_the_method_chooses_the_shares_that_are_sold(user: User) -> None:
    await add(user, BUY, {**BUY, "date": "2026-04-01", "price": 190.1}, SELL)
    fifo, average = await position(user), await position(user, "?method=average")
    assert (fifo["realized_gain"], average["realized_gain"]) == (Decimal(78), Decimal(-122))
    assert (len(fifo["lots"]), len(average["lots"])) == (2, 1)
    assert fifo["realized_gain"] - fifo["cost"] == average["realized_gain"] - average["cost"]


async def test_a_sale_of_too_many_shares_is_refused(user: User) -> None:
    """Also a purchase cannot go that a sale needs; the ledger stays as it was."""
    bought, _ = await add(user, BUY, {**SELL, "shares": 10})
    for refused in (
        await user.post(TRANSACTIONS, {**SELL, "shares": 0.00000001}),
        await user.post(TRANSACTIONS, {**SELL, "date": "2026-03-01", "shares": 1}),
        await user.delete(f"{TRANSACTIONS}/{bought['id']}"),
    ):
        (problem,) = refused.json()["errors"]
        assert (refused.status_code, problem["field"]) == (422, "shares")
        assert "takes more than" in problem["message"]
    assert len((await user.get(TRANSACTIONS)).json()) == 2


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"type": "gift"}, "type"),
        ({"ticker": "A B"}, "ticker"),
        ({"date": "2026-11-22"}, "date"),
        ({"date": "20260302"}, "date"),
        ({"currency": "GBp"}, "currency"),
        ({"shares": 0}, "shares"),
        ({"shares": 1e-9}, "shares"),
        ({"price": -1}, "price"),
        ({"price": 10**12}, "price"),
        ({"fee": "1"}, "fee"),
        ({"amount": 1}, "amount"),
        ({"type": "dividend"}, "amount"),
        ({"type": "split", "old_shares": 1}, "new_shares"),
        ({"type": "split", "shares": UNSET, "price": UNSET, "fee": UNSET} | RATIO, "new_shares"),
        ({"type": "split", "old_shares": 1, "new_shares": 4}, "shares"),
    ],
)
async def test_a_bad_field_is_named(user: User, change: dict[str, Any], field: str) -> None:
    given = {name: value for name, value in (BUY | change).items() if value is not UNSET}
    response = await user.post(TRANSACTIONS, given)
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, field)
    assert (await user.get(TRANSACTIONS)).json() == []


async def test_a_retry_adds_nothing(user: User) -> None:
    headers = {"Idempotency-Key": "once"}
    first = await user.ask("POST", TRANSACTIONS, json=BUY, headers=headers)
    again = await user.ask("POST", TRANSACTIONS, json=BUY, headers=headers)
    other = await user.ask("POST", TRANSACTIONS, json=BUY | {"fee": 2}, headers=headers)
    assert (again.status_code, again.json()) == (201, first.json())
    assert other.status_code == 422
    assert len((await user.get(TRANSACTIONS)).json()) == 1


async def test_a_retry_after_the_feed_has_loaded_adds_nothing(
    user: User, mirrors: dict[Feed, Mirror]
) -> None:
    """Without its feed a ticker is stored as it was given; then the feed spells it in its own way."""
    pairs = mirrors[Feed.CRYPTO]
    mirrors[Feed.CRYPTO] = empty_mirrors()[Feed.CRYPTO]
    headers, body = {"Idempotency-Key": "once"}, BUY | {"ticker": "btc-usdt"}
    first = await user.post(TRANSACTIONS, body, headers=headers)
    mirrors[Feed.CRYPTO] = pairs
    again = await user.post(TRANSACTIONS, body | {"ticker": " BTC-USDT"}, headers=headers)
    assert (again.status_code, again.content) == (201, first.content)
    assert first.json()["ticker"] == "BTC-USDT"
    assert len((await user.get(TRANSACTIONS)).json()) == 1


async def test_nobody_reads_or_removes_another_s_transactions(service: AccountService, user: User) -> None:
    (added,) = await add(user, BUY)
    other = await service.register("other@example.com")
    assert (await other.get(TRANSACTIONS)).json() == []
    assert (await other.get(POSITIONS)).json() == []
    assert (await other.delete(f"{TRANSACTIONS}/{added['id']}")).status_code == 404
    assert (await user.get(TRANSACTIONS)).json() == [added]


def action(kind: Any, day: str, **terms: Any) -> CorporateAction:
    return CorporateAction(
        id=day, type=kind, symbol="AAPL", ex_day=date.fromisoformat(day), provider="test", **terms
    )


async def test_corporate_actions_propose_what_is_not_entered(user: User, provider: Actions) -> None:
    """A dividend after a split is of the shares after it. Nothing is from before the purchase."""
    provider.given = [
        action("cash_dividend", "2026-03-02", amount=9.0, currency="USD"),
        action("split", "2026-04-01", old_shares=1.0, new_shares=4.0),
        action("cash_dividend", "2026-05-04", amount=0.25, currency="USD"),
        action("rename", "2026-06-01", new_symbol="APL"),
        action("split", "2027-01-04", old_shares=1.0, new_shares=2.0),
    ]
    await add(user, BUY)
    split, dividend = (await user.get(PROPOSALS)).json()
    assert split == {
        "type": "split",
        "ticker": "AAPL",
        "date": "2026-04-01",
        "currency": "USD",
        "old_shares": 1,
        "new_shares": 4,
        "amount": None,
        "held": 10,
        "action": "split",
    }
    assert (dividend["type"], dividend["amount"], dividend["held"]) == ("dividend", 10, 40)
    given = {name: split[name] for name in ("type", "ticker", "date", "old_shares", "new_shares")}
    await add(user, given)
    assert [each["type"] for each in (await user.get(PROPOSALS)).json()] == ["dividend"]
    await add(user, {"type": "dividend", "ticker": "AAPL", "date": "2026-05-05", "amount": 10})
    assert (await user.get(PROPOSALS)).json() == []
    assert (await position(user))["shares"] == 40


async def test_without_a_provider_nothing_is_proposed(user: User) -> None:
    await add(user, BUY)
    assert (await user.get(PROPOSALS)).json() == []


async def test_all_of_it_needs_a_token(service: AccountService) -> None:
    for path in (TRANSACTIONS, POSITIONS, PROPOSALS):
        response = await service.client.get(path)
        assert (response.status_code, response.headers["cache-control"]) == (401, "no-store"), path


async def test_shares_of_a_former_symbol_stay_under_it(user: User, provider: Actions) -> None:
    """They have the present one's price and actions, and can be sold."""
    provider.given = [
        replace(action("split", "2026-06-08", old_shares=1.0, new_shares=2.0), symbol="META", id="1")
    ]
    await add(user, {**BUY, "ticker": "FB"}, {**SELL, "ticker": "fb"})
    found = await position(user)
    assert (found["ticker"], found["shares"], found["price"]) == ("FB", 6, 600)
    (proposal,) = exactly(await user.get(PROPOSALS))
    assert (proposal["ticker"], proposal["type"], proposal["held"]) == ("FB", "split", 6)


async def test_an_entry_before_all_rates_hides_no_other(user: User, stored: Stored) -> None:
    await add(user, BUY, {**BUY, "ticker": "MSFT", "date": "1900-01-01"})
    write_closes(stored, Feed.DOVIZ, "USD", {"2026-03-02": 30.0})
    known, unknown = exactly(await user.get(f"{POSITIONS}?currency=TRY"))
    assert (known["converted"]["cost"], unknown["converted"]["cost"]) == (Decimal("902.5") * 30, None)
