"""The watchlist, over a real PostgreSQL."""

import asyncio

import pytest

from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from support.made.factories import PAIRS, STOCKS, full_mirrors, mirror_of
from support.made.market import pair, stock
from support.stages.account_service import AccountService, User, account_service

WATCHLIST = "/api/watchlist"


async def listed(user: User) -> list[tuple[str, str, int]]:
    entries = (await user.get(WATCHLIST)).json()
    return [(each["ticker"], each["type"], each["position"]) for each in entries]


async def test_a_stock_a_pair_and_a_metal_are_watched(user: User) -> None:
    """Entries are in the order of addition."""
    for ticker in ("aapl", "btc-usdt", "GRAM-altin", "akbank-usd"):
        response = await user.post(WATCHLIST, {"ticker": ticker})
        assert response.status_code == 201
    assert response.json() == {
        "ticker": "akbank-USD",
        "type": "doviz",
        "position": 3,
        "added_at": "2026-11-20T15:30:00.000Z",
    }
    assert await listed(user) == [
        ("AAPL", "stock", 0),
        ("BTC/USDT", "crypto", 1),
        ("gram-altin", "doviz", 2),
        ("akbank-USD", "doviz", 3),
    ]


async def test_adding_again_changes_nothing(user: User) -> None:
    """Adding an entry again answers 200 with the old one, in any spelling."""
    first = await user.post(WATCHLIST, {"ticker": "AAPL"})
    await user.post(WATCHLIST, {"ticker": "MSFT"})
    again = await user.post(WATCHLIST, {"ticker": " aapl ", "type": "stock"})
    assert (again.status_code, again.json()) == (200, first.json())
    assert len(await listed(user)) == 2


@pytest.mark.parametrize(
    "body", [{"ticker": "NOPE"}, {"ticker": "AAPL", "type": "crypto"}, {"ticker": "../x"}]
)
async def test_what_nobody_knows_is_not_found(user: User, body: dict[str, str]) -> None:
    response = await user.post(WATCHLIST, body)
    assert (response.status_code, response.json()["detail"]) == (404, "Symbol not found")
    assert await listed(user) == []


@pytest.mark.parametrize(
    ("body", "field"),
    [({"ticker": "AAPL", "type": "bond"}, "type"), ({"ticker": 5}, "ticker"), ({}, "ticker"), ([], "body")],
)
async def test_a_bad_body_is_refused(user: User, body: object, field: str) -> None:
    response = await user.post(WATCHLIST, body)
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, field)


async def test_quotes_are_joined_whole(user: User) -> None:
    """Joined quotes equal those of the public routes; null without a quote."""
    for ticker in ("AAPL", "BTC/USDT", "gram-altin"):
        await user.post(WATCHLIST, {"ticker": ticker})
    entries = (await user.get(f"{WATCHLIST}?include=quote")).json()
    paths = ("market/quotes/AAPL", "crypto/quotes/BTC-USDT", "doviz/quotes/gram-altin")
    assert [each["quote"] for each in entries] == [(await user.get(f"/api/{path}")).json() for path in paths]
    assert (await user.get(f"{WATCHLIST}?include=news")).status_code == 422


async def test_what_a_feed_forgot_stays_on_the_list(accounts_url: str) -> None:
    """An entry without a feed's symbol stays on the list and can be removed."""
    mirrors = full_mirrors()
    async with account_service(accounts_url, mirrors=mirrors) as service:
        user = await service.register()
        await user.post(WATCHLIST, {"ticker": "AAPL"})
        mirrors[Feed.STOCKS] = mirror_of(Feed.STOCKS, [stock("MSFT")])
        (entry,) = (await user.get(f"{WATCHLIST}?include=quote")).json()
        assert (entry["ticker"], entry["quote"]) == ("AAPL", None)
        mirrors[Feed.STOCKS] = Mirror(Feed.STOCKS)
        assert (await user.delete(f"{WATCHLIST}/aapl")).status_code == 204


@pytest.mark.parametrize("spelling", ["BTC%2FUSDT", "btc%2fusdt", "BTC/USDT", "btc-usdt"])
async def test_a_pair_is_taken_off_in_any_spelling(user: User, spelling: str) -> None:
    """A pair is removed in any spelling; the second time is 404, and positions have no gaps."""
    for ticker in ("ETH/USDT", "BTC/USDT", "AAPL"):
        await user.post(WATCHLIST, {"ticker": ticker})
    assert (await user.delete(f"{WATCHLIST}/{spelling}")).status_code == 204
    assert await listed(user) == [("ETH/USDT", "crypto", 0), ("AAPL", "stock", 1)]
    again = await user.delete(f"{WATCHLIST}/{spelling}")
    assert (again.status_code, again.json()["detail"]) == (404, "Watchlist entry not found")


async def test_a_former_symbol_is_added_and_taken_off(accounts_url: str) -> None:
    """What the list has is the present one."""
    mirrors = {**full_mirrors(), Feed.STOCKS: mirror_of(Feed.STOCKS, [stock("META")])}
    async with account_service(accounts_url, mirrors=mirrors) as service:
        user = await service.register()
        assert (await user.post(WATCHLIST, {"ticker": "FB"})).json()["ticker"] == "META"
        assert (await user.delete(f"{WATCHLIST}/FB")).status_code == 204
        assert await listed(user) == []


async def test_a_ticker_of_two_kinds_is_taken_off_by_type(accounts_url: str) -> None:
    """A ticker of two kinds needs `type`: USD is a stock and a currency here."""
    mirrors = full_mirrors() | {Feed.STOCKS: mirror_of(Feed.STOCKS, [*STOCKS, stock("USD")])}
    async with account_service(accounts_url, mirrors=mirrors) as service:
        user = await service.register()
        assert (await user.post(WATCHLIST, {"ticker": "usd"})).json()["type"] == "stock"
        assert (await user.post(WATCHLIST, {"ticker": "usd", "type": "doviz"})).status_code == 201
        unclear = await user.delete(f"{WATCHLIST}/USD")
        assert unclear.json()["errors"] == [{"field": "type", "message": "Must be one of stock, doviz"}]
        assert (await user.delete(f"{WATCHLIST}/USD?type=crypto")).status_code == 404
        assert (await user.delete(f"{WATCHLIST}/USD?type=bond")).status_code == 422
        assert (await user.delete(f"{WATCHLIST}/USD?type=stock")).status_code == 204
        assert await listed(user) == [("USD", "doviz", 0)]


async def test_a_feed_without_data_may_still_come_to_know_it(accounts_url: str) -> None:
    """A feed without data that may have the ticker is 503, not 404."""
    mirrors = full_mirrors() | {Feed.CRYPTO: Mirror(Feed.CRYPTO)}
    async with account_service(accounts_url, mirrors=mirrors) as service:
        user = await service.register()
        waiting = await user.post(WATCHLIST, {"ticker": "SOL/USDT"})
        assert (waiting.status_code, waiting.json()["code"]) == (503, "no_data")
        assert (await user.post(WATCHLIST, {"ticker": "AAPL"})).status_code == 201
        assert (await user.post(WATCHLIST, {"ticker": "NOPE"})).status_code == 404


async def test_a_feed_that_is_switched_off_knows_nothing(accounts_url: str) -> None:
    """A feed without a provider is 503 if the request names its type."""
    mirrors = full_mirrors() | {Feed.CRYPTO: Mirror(Feed.CRYPTO)}
    providers = dict.fromkeys(Feed, "simulator") | {Feed.CRYPTO: "none"}
    async with account_service(accounts_url, mirrors=mirrors, providers=providers) as service:
        user = await service.register()
        assert (await user.post(WATCHLIST, {"ticker": "SOL/USDT"})).status_code == 404
        named = await user.post(WATCHLIST, {"ticker": "SOL/USDT", "type": "crypto"})
        assert (named.status_code, named.json()["code"]) == (503, "no_provider")


async def test_fifty_at_once_add_one(user: User) -> None:
    answers = await asyncio.gather(*(user.post(WATCHLIST, {"ticker": "AAPL"}) for _ in range(50)))
    assert sorted(answer.status_code for answer in answers) == [200] * 49 + [201]
    assert await listed(user) == [("AAPL", "stock", 0)]


async def test_five_hundred_are_enough(accounts_url: str) -> None:
    """The 501st entry is 409; an old one is still 200."""
    pairs = [pair(f"C{number}/USDT") for number in range(501)]
    mirrors = full_mirrors() | {Feed.CRYPTO: mirror_of(Feed.CRYPTO, pairs)}
    async with account_service(accounts_url, mirrors=mirrors) as service:
        user = await service.register()
        for quote in pairs[:500]:
            assert (await user.post(WATCHLIST, {"ticker": quote.ticker})).status_code == 201
        full = await user.post(WATCHLIST, {"ticker": pairs[500].ticker})
        assert (full.status_code, full.json()["code"]) == (409, "full")
        assert (await user.post(WATCHLIST, {"ticker": pairs[0].ticker})).status_code == 200


async def test_users_do_not_see_each_other(service: AccountService, user: User) -> None:
    other = await service.register("other@example.com")
    await user.post(WATCHLIST, {"ticker": PAIRS[0].ticker})
    assert await listed(other) == []
    assert (await other.delete(f"{WATCHLIST}/{PAIRS[0].ticker}")).status_code == 404
    assert len(await listed(user)) == 1
