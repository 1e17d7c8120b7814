"""Holdings, over a real PostgreSQL."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.made.factories import NOW, empty_mirrors
from support.made.holdings import BOUGHT, HOLDINGS, send
from support.stages.account_service import AccountService, User, account_service
from support.stages.caching import Clock


def exactly(response: httpx.Response) -> Any:
    """Returns the body with its numbers as text."""
    return json.loads(response.text, parse_float=Decimal, parse_int=Decimal)


async def test_a_holding_is_added_listed_and_removed(user: User) -> None:
    """A holding can be added, listed and removed."""
    response = await user.post(HOLDINGS, BOUGHT)
    assert response.status_code == 201
    holding = response.json()
    assert holding == BOUGHT | {
        "id": holding["id"],
        "created_at": "2026-11-20T15:30:00.000Z",
        "type": "stock",
    }
    assert (await user.get(HOLDINGS)).json() == [holding]
    removed = await user.delete(f"{HOLDINGS}/{holding['id']}")
    assert (removed.status_code, removed.content) == (204, b"")
    assert (await user.get(HOLDINGS)).json() == []


async def test_the_newest_is_first(user: User, clock: Clock) -> None:
    for ticker in ("A", "B", "C"):
        clock.now += 1
        await user.post(HOLDINGS, BOUGHT | {"ticker": ticker})
    assert [each["ticker"] for each in (await user.get(HOLDINGS)).json()] == ["C", "B", "A"]


async def test_only_three_fields_are_needed(user: User) -> None:
    """The defaults are today and US dollars."""
    response = await user.post(HOLDINGS, {"ticker": "AAPL", "shares": 1, "avg_cost": 0})
    assert response.status_code == 201
    assert response.json()["bought_at"] == "2026-11-20"
    assert response.json()["currency"] == "USD"


@pytest.mark.parametrize(
    ("given", "spelling"),
    [
        ("aapl", "AAPL"),
        (" brk.b ", "BRK.B"),
        ("btc-usdt", "BTC/USDT"),
        ("GRAM-ALTIN", "gram-altin"),
        ("AKBANK-usd", "akbank-USD"),
        ("unknown", "UNKNOWN"),
        ("xxx/yyy", "XXX/YYY"),
    ],
)
async def test_a_ticker_is_spelled_as_its_feed_does(user: User, given: str, spelling: str) -> None:
    """A ticker has the feed's spelling, or upper case if no feed has it."""
    assert (await user.post(HOLDINGS, BOUGHT | {"ticker": given})).json()["ticker"] == spelling


OUT_OF_BOUNDS: dict[str, list[object]] = {
    "ticker": ["", " ", "A B", "../x", "A" * 41, "AAPL\0", "<b>", 5, None],
    "shares": [0, -1, 10**12, "1", True, None, [], 1e-9, 10**70],
    "avg_cost": [-0.01, 10**12, "1", False, None, {}],
    "bought_at": ["2026-13-01", "20260302", "2026-W10-1", "1899-12-31", "2026-11-22", "", 5],
    "currency": ["", "US", "XXX", "DOLLAR", "TL", "GBp", "ZAc", "GBX", 5, None],
}


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in OUT_OF_BOUNDS.items() for value in values]
)
async def test_a_value_out_of_bounds_is_named(user: User, field: str, value: object) -> None:
    """A bad value is 422 that names the field; nothing is stored."""
    response = await user.post(HOLDINGS, BOUGHT | {field: value})
    assert response.status_code == 422
    assert [each["field"] for each in response.json()["errors"]] == [field]
    assert (await user.get(HOLDINGS)).json() == []


@pytest.mark.parametrize("field", ["ticker", "shares", "avg_cost"])
async def test_a_missing_field_is_named(user: User, field: str) -> None:
    response = await user.post(HOLDINGS, {key: value for key, value in BOUGHT.items() if key != field})
    assert (response.status_code, response.json()["errors"]) == (
        422,
        [{"field": field, "message": "Must be given"}],
    )


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-0", "1e999999999", "0x1", "1" * 70_000, "1e-400"])
async def test_an_odd_number_is_refused(user: User, text: str) -> None:
    """A number with a huge exponent gets a fast 422."""
    response = await send(user, f'{{"ticker":"AAPL","shares":{text},"avg_cost":1}}')
    assert response.status_code in {400, 422}


async def test_today_is_today_somewhere(user: User) -> None:
    """The latest day is today in UTC+14."""
    tomorrow = (datetime.fromtimestamp(NOW, UTC) + timedelta(days=1)).date().isoformat()
    assert (await user.post(HOLDINGS, BOUGHT | {"bought_at": tomorrow})).status_code == 201


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(amounts=st.lists(st.decimals("1e-8", 999_999_999_999, places=8), min_size=1, max_size=20))
async def test_amounts_are_kept_exactly(user: User, amounts: list[Decimal]) -> None:
    """Amounts are exact to the last digit in body, database and answer, without an exponent."""
    bodies = [f'{{"ticker":"AAPL","shares":{amount:f},"avg_cost":{amount:f}}}' for amount in amounts]
    answers = [await send(user, body) for body in bodies]
    assert [exactly(answer)["shares"] for answer in answers] == amounts
    listed = await user.get(HOLDINGS)
    assert not {"e-", "E-", "e+", "E+"} & {listed.text[i : i + 2] for i in range(len(listed.text))}
    ids = {answer.json()["id"] for answer in answers}
    stored = [each for each in exactly(listed) if each["id"] in ids]
    assert sorted(each["avg_cost"] for each in stored) == sorted(amounts)
    for each in ids:
        await user.delete(f"{HOLDINGS}/{each}")


async def test_a_tenth_three_times_is_three_tenths(user: User) -> None:
    for _ in range(3):
        await user.post(HOLDINGS, BOUGHT | {"shares": 0.1})
    listed = exactly(await user.get(HOLDINGS))
    assert sum(each["shares"] for each in listed) == Decimal("0.3")


async def test_a_holding_is_worth_what_its_quote_says(user: User) -> None:
    """A stock, a pair and a metal are valued in their own currencies, exact to the last digit."""
    for ticker, currency in (("AAPL", "USD"), ("gram-altin", "TRY")):
        await user.post(HOLDINGS, {"ticker": ticker, "shares": 0.1, "avg_cost": 30.3, "currency": currency})
    listed = {each["ticker"]: each for each in exactly(await user.get(f"{HOLDINGS}?include=quote"))}
    gold = listed["gram-altin"]
    assert (gold["price"], gold["market_value"]) == (Decimal("42.0"), Decimal("4.2"))
    assert (gold["gain"], gold["gain_percent"]) == (Decimal("1.17"), Decimal("38.6139"))
    assert gold["day_change"] == Decimal("0.05")
    stock = listed["AAPL"]
    assert stock["market_value"] == stock["price"] * Decimal("0.1")


@pytest.mark.parametrize(("ticker", "currency"), [("AAPL", "TRY"), ("BTC/USDT", "USD"), ("NOPE", "USD")])
async def test_what_nobody_quotes_in_its_currency_has_no_worth(
    user: User, ticker: str, currency: str
) -> None:
    """Without a quote the value is null, not zero."""
    await user.post(HOLDINGS, BOUGHT | {"ticker": ticker, "currency": currency})
    (holding,) = (await user.get(f"{HOLDINGS}?include=quote")).json()
    worth = {name: holding[name] for name in ("price", "market_value", "gain", "gain_percent", "day_change")}
    assert set(worth.values()) == {None}


async def test_holdings_are_valued_in_one_currency(user: User) -> None:
    """`currency` takes ISO 4217 codes in any case; without a rate the value is null."""
    await user.post(HOLDINGS, BOUGHT)
    (holding,) = (await user.get(f"{HOLDINGS}?include=quote&currency=usd")).json()
    assert holding["converted"] == {
        "currency": "USD",
        "market_value": holding["market_value"],
        "gain": holding["gain"],
        "rates": [],
    }
    (nowhere,) = (await user.get(f"{HOLDINGS}?include=quote&currency=ZAR")).json()
    assert nowhere["converted"] is None
    refused = await user.get(f"{HOLDINGS}?include=quote&currency=USDT")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "currency")


async def test_a_gift_gains_no_percent(user: User) -> None:
    """A holding that cost nothing has no percentage of gain."""
    await user.post(HOLDINGS, BOUGHT | {"avg_cost": 0})
    (holding,) = (await user.get(f"{HOLDINGS}?include=quote")).json()
    assert holding["gain"] == holding["market_value"] > 0
    assert holding["gain_percent"] is None


async def test_quotes_are_not_needed(accounts_url: str) -> None:
    """Without data the holdings are listed, with null values."""
    async with account_service(accounts_url, mirrors=empty_mirrors()) as service:
        user = await service.register()
        assert (await user.post(HOLDINGS, BOUGHT)).status_code == 201
        assert (await user.get(f"{HOLDINGS}?include=quote")).json()[0]["price"] is None
        assert (await user.get(f"{HOLDINGS}?include=all")).status_code == 422


async def test_users_do_not_see_each_other(service: AccountService, user: User) -> None:
    """Users share neither holdings nor keys; another user's holding is 404."""
    other = await service.register("other@example.com")
    headers = {"Idempotency-Key": "one"}
    mine = (await user.post(HOLDINGS, BOUGHT, headers=headers)).json()
    theirs = (await other.post(HOLDINGS, BOUGHT, headers=headers)).json()
    assert mine["id"] != theirs["id"]
    for holding_id in (mine["id"], "0" * 24, "nonsense", mine["id"].upper()):
        refused = await other.delete(f"{HOLDINGS}/{holding_id}")
        assert (refused.status_code, refused.json()["detail"]) == (404, "Holding not found")
    assert (await user.get(HOLDINGS)).json() == [mine]
    assert (await other.get(HOLDINGS)).json() == [theirs]


async def test_other_fields_change_nothing(service: AccountService, user: User) -> None:
    """A client cannot choose the id or the owner of a holding."""
    other = await service.register("other@example.com")
    extra = {"id": "0" * 24, "user_id": user.id, "created_at": "2020-01-01", "price": 1}
    holding = (await other.post(HOLDINGS, BOUGHT | extra)).json()
    assert holding["id"] != "0" * 24
    assert (await user.get(HOLDINGS)).json() == []


async def test_a_thousand_holdings_are_enough(
    service: AccountService, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The 1001st holding is 409, also for concurrent requests."""
    monkeypatch.setattr("quotecast.portfolio.portfolio.MAX_HOLDINGS", 3)
    answers = await asyncio.gather(*(user.post(HOLDINGS, BOUGHT) for _ in range(6)))
    assert sorted(answer.status_code for answer in answers) == [201, 201, 201, 409, 409, 409]
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"full"}
    other = await service.register("other@example.com")
    assert (await other.post(HOLDINGS, BOUGHT)).status_code == 201
