"""Named watchlists and their order, over a real PostgreSQL."""

import asyncio
from typing import Any

import pytest

from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from support.made.factories import full_mirrors
from support.stages.account_service import AccountService, User, account_service

LISTS = "/api/watchlists"
WATCHLIST = "/api/watchlist"
METALS = {"name": "Metals", "symbols": [{"ticker": "GRAM-altin", "type": "doviz"}]}


async def add(user: User, name: str, *tickers: str) -> str:
    symbols = [{"ticker": ticker, "type": "stock"} for ticker in tickers]
    response = await user.post(LISTS, {"name": name, "symbols": symbols})
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


async def change(user: User, list_id: str, **body: object) -> Any:
    return await user.ask("PATCH", f"{LISTS}/{list_id}", json=body)


async def names(user: User) -> list[str]:
    """Returns the names of a user's lists, and checks their positions."""
    lists = (await user.get(LISTS)).json()
    assert [each["position"] for each in lists] == list(range(len(lists)))
    assert lists[0]["id"] == "default"
    return [each["name"] for each in lists]


async def tickers(user: User, list_id: str = "default") -> list[str]:
    """Returns the tickers of a list, and checks their positions."""
    entries = (await user.get(f"{WATCHLIST}?list={list_id}")).json()
    assert [each["position"] for each in entries] == list(range(len(entries)))
    return [each["ticker"] for each in entries]


async def test_first_list_exists_from_the_start(user: User) -> None:
    """The first list is that of `/api/watchlist`."""
    await user.post(WATCHLIST, {"ticker": "AAPL"})
    lists = (await user.get(LISTS)).json()
    assert lists == [{"id": "default", "name": "Watchlist", "position": 0, "size": 1}]
    assert await tickers(user, "default") == ["AAPL"]


async def test_new_list_has_its_symbols_and_leaves_out_unknown_ones(user: User) -> None:
    named = [
        *METALS["symbols"],
        {"ticker": "NOPE", "type": "stock"},
        {"ticker": "gram-altin", "type": "doviz"},
    ]
    response = await user.post(LISTS, {"name": "  Metals ", "symbols": named})
    made = response.json()
    assert response.status_code == 201
    assert made == {"id": made["id"], "name": "Metals", "position": 1, "size": 1}
    assert (await user.get(LISTS)).json()[1] == made
    assert await tickers(user, made["id"]) == ["gram-altin"]


async def test_lists_hold_the_same_symbol_each_for_itself(user: User) -> None:
    """Adding to a list and removing from it changes no other list."""
    one = await add(user, "One", "AAPL")
    assert (await user.post(f"{WATCHLIST}?list={one}", {"ticker": "MSFT"})).status_code == 201
    assert (await user.post(f"{WATCHLIST}?list={one}", {"ticker": "MSFT"})).status_code == 200
    assert (await user.post(WATCHLIST, {"ticker": "AAPL"})).status_code == 201
    assert (await tickers(user, one), await tickers(user)) == (["AAPL", "MSFT"], ["AAPL"])
    assert (await user.delete(f"{WATCHLIST}/aapl?list={one}")).status_code == 204
    assert (await user.delete(f"{WATCHLIST}/aapl?list={one}")).status_code == 404
    assert (await tickers(user, one), await tickers(user)) == (["MSFT"], ["AAPL"])


async def test_name_is_unique_in_any_case(user: User) -> None:
    """A taken name is 409 for any other list; a list may change the case of its own name."""
    one, two = await add(user, "Straße"), await add(user, "Two")
    for name in ("STRASSE", " straße ", "watchlist"):
        taken = await user.post(LISTS, {"name": name})
        assert (taken.status_code, taken.json()["code"]) == (409, "name_taken")
        assert (await change(user, two, name=name)).status_code == 409
    assert (await change(user, one, name="STRASSE")).json()["name"] == "STRASSE"
    assert await names(user) == ["Watchlist", "STRASSE", "Two"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\nb", None, 7])
async def test_bad_name_is_invalid(user: User, name: object) -> None:
    response = await user.post(LISTS, {"name": name})
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "name")


async def test_list_is_renamed_and_moved(user: User) -> None:
    """A position past the end means the end."""
    one, two, three = [await add(user, name) for name in ("One", "Two", "Three")]
    moved = await change(user, three, position=1)
    assert (moved.status_code, moved.json()["position"]) == (200, 1)
    assert await names(user) == ["Watchlist", "Three", "One", "Two"]
    assert (await change(user, three, position=99, name="Last")).json()["position"] == 3
    assert await names(user) == ["Watchlist", "One", "Two", "Last"]
    assert (await user.delete(f"{LISTS}/{one}")).status_code == 204
    await add(user, "New")
    assert await names(user) == ["Watchlist", "Two", "Last", "New"]
    assert (await change(user, two)).json()["name"] == "Two"


async def test_first_list_gets_a_name_and_never_moves(user: User) -> None:
    one = await add(user, "One")
    for name in ("Mine", "Ours"):
        assert (await change(user, "default", name=name)).json()["name"] == name
    assert (await user.post(LISTS, {"name": "ours"})).status_code == 409
    for list_id, position in (("default", 1), (one, 0)):
        refused = await change(user, list_id, position=position)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "position")
    assert (await change(user, "default", position=0)).status_code == 200
    assert await names(user) == ["Ours", "One"]


async def test_first_list_cannot_be_deleted(user: User) -> None:
    await change(user, "default", name="Mine")
    await user.post(WATCHLIST, {"ticker": "AAPL"})
    refused = await user.delete(f"{LISTS}/default")
    assert (refused.status_code, refused.json()["errors"][0]["message"]) == (
        422,
        "The first list cannot be deleted; delete its symbols instead",
    )
    assert (await names(user), await tickers(user)) == (["Mine"], ["AAPL"])


async def test_deleted_list_is_gone_with_its_symbols(user: User) -> None:
    one = await add(user, "One", "AAPL", "MSFT")
    assert (await user.delete(f"{LISTS}/{one}")).status_code == 204
    assert (await user.delete(f"{LISTS}/{one}")).status_code == 404
    assert (await user.get(f"{WATCHLIST}?list={one}")).status_code == 404
    assert await names(user) == ["Watchlist"]
    await add(user, "One")


async def test_twenty_lists_are_enough(user: User) -> None:
    """The first list counts; concurrent requests do not exceed the bound."""
    answers = await asyncio.gather(*(user.post(LISTS, {"name": f"{number}"}) for number in range(22)))
    assert sorted(answer.status_code for answer in answers) == [201] * 19 + [409] * 3
    assert {answer.json().get("code") for answer in answers} == {None, "full"}
    assert len(await names(user)) == 20


@pytest.mark.parametrize("list_id", ["default", "One"])
async def test_order_loses_no_symbol(user: User, list_id: str) -> None:
    """Unnamed symbols follow in their old order; unknown ones and repetitions are ignored."""
    if list_id != "default":
        list_id = await add(user, list_id)
    for ticker in ("AAPL", "MSFT", "BTC/USDT", "gram-altin"):
        await user.post(f"{WATCHLIST}?list={list_id}", {"ticker": ticker})
    before = (await user.get(f"{WATCHLIST}?list={list_id}")).json()
    wanted = [
        {"ticker": "GRAM-ALTIN", "type": "doviz"},
        {"ticker": "NOPE", "type": "stock"},
        {"ticker": "btc-usdt", "type": "crypto"},
        {"ticker": "gram-altin", "type": "doviz"},
        {"ticker": "AAPL", "type": "crypto"},
    ]
    path = f"{WATCHLIST}/order?list={list_id}"
    ordered = await user.ask("PUT", path, json={"symbols": wanted})
    assert ordered.status_code == 200
    assert ordered.json() == (await user.get(f"{WATCHLIST}?list={list_id}")).json()
    assert await tickers(user, list_id) == ["gram-altin", "BTC/USDT", "AAPL", "MSFT"]
    await user.post(f"{WATCHLIST}?list={list_id}", {"ticker": "ETH/USDT"})
    assert (await tickers(user, list_id))[-1] == "ETH/USDT"
    assert (await user.ask("PUT", path, json={"symbols": []})).status_code == 200
    times = {each["ticker"]: each["added_at"] for each in before}
    assert {each["ticker"]: each["added_at"] for each in ordered.json()} == times


async def test_concurrent_requests_lose_no_symbol(user: User) -> None:
    """Additions and new orders at the same time leave each symbol once."""
    added = ("AAPL", "MSFT", "BTC/USDT", "ETH/USDT", "gram-altin", "USD")
    wanted = {"symbols": [{"ticker": "MSFT", "type": "stock"}, {"ticker": "AAPL", "type": "stock"}]}
    await asyncio.gather(
        *(user.post(WATCHLIST, {"ticker": ticker}) for ticker in added),
        *(user.ask("PUT", f"{WATCHLIST}/order", json=wanted) for _ in range(6)),
    )
    assert sorted(await tickers(user)) == sorted(added)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "symbols"),
        ({"symbols": [{"ticker": "AAPL"}]}, "symbols[0].type"),
        ({"symbols": [{"ticker": "AAPL", "type": "stock"}] * 501}, "symbols"),
    ],
)
async def test_bad_order_is_invalid(user: User, body: object, field: str) -> None:
    response = await user.ask("PUT", f"{WATCHLIST}/order", json=body)
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, field)


async def test_new_list_waits_for_a_feed_without_data(accounts_url: str) -> None:
    """The service answers 503 and adds no list while a feed may still get a symbol."""
    mirrors = full_mirrors() | {Feed.DOVIZ: Mirror(Feed.DOVIZ)}
    async with account_service(accounts_url, mirrors=mirrors) as service:
        user = await service.register()
        waiting = await user.post(LISTS, METALS)
        assert (waiting.status_code, waiting.json()["code"]) == (503, "no_data")
        assert await names(user) == ["Watchlist"]


async def test_lists_of_others_are_not_found(service: AccountService, user: User) -> None:
    """Every route answers 404 for another user's list, and changes nothing."""
    other = await service.register("other@example.com")
    mine = await add(user, "Mine", "AAPL", "MSFT")
    row = {"symbols": [{"ticker": "MSFT", "type": "stock"}]}
    answers = [
        await other.get(f"{WATCHLIST}?list={mine}"),
        await other.post(f"{WATCHLIST}?list={mine}", {"ticker": "BTC/USDT"}),
        await other.delete(f"{WATCHLIST}/AAPL?list={mine}"),
        await other.ask("PUT", f"{WATCHLIST}/order?list={mine}", json=row),
        await change(other, mine, name="Theirs"),
        await other.delete(f"{LISTS}/{mine}"),
    ]
    assert [answer.status_code for answer in answers] == [404] * 6
    assert (await names(user), await tickers(user, mine)) == (["Watchlist", "Mine"], ["AAPL", "MSFT"])
    assert await names(other) == ["Watchlist"]
