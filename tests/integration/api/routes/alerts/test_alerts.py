"""Alerts of a user, over a real PostgreSQL."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from support.made.factories import alert_parts, full_mirrors
from support.oracles.transactions import query_server
from support.stages.account_service import AccountService, User, account_service

ALERTS = "/api/alerts"
ABOVE = {"ticker": "aapl", "condition": "above", "value": 300}
FALLS = {"ticker": "BTC-USDT", "condition": "falls", "value": 2.5, "window": "15m", "repeats": True}


@pytest_asyncio.fixture
async def service(accounts_url: str) -> AsyncIterator[AccountService]:
    async with account_service(accounts_url, alerts=alert_parts(per_user=5)) as service:
        yield service


async def added(user: User, body: Any = ABOVE) -> dict[str, Any]:
    response = await user.post(ALERTS, body)
    assert response.status_code == 201, response.text
    shown: dict[str, Any] = response.json()
    return shown


async def test_alerts_on_a_stock_a_pair_and_a_metal_are_listed_newest_first(user: User) -> None:
    """The answer of the addition, of the list and of the single read are the same."""
    rises = {"ticker": "GRAM-altin", "condition": "rises", "value": 1, "window": "day", "note": "  gold "}
    made = [await added(user, body) for body in (ABOVE, FALLS, {**rises, "webhook": True, "push": True})]
    assert made[0] == {
        "id": made[0]["id"],
        "ticker": "AAPL",
        "type": "stock",
        "condition": "above",
        "value": 300,
        "window": None,
        "note": "",
        "repeats": False,
        "webhook": False,
        "push": False,
        "active": True,
        "created_at": "2026-11-20T15:30:00.000Z",
        "armed_at": "2026-11-20T15:30:00.000Z",
    }
    assert made[1] | {"condition": "falls", "value": 2.5, "window": "15m", "repeats": True} == made[1]
    assert made[2] | {"ticker": "gram-altin", "note": "gold", "webhook": True, "push": True} == made[2]
    listed = await user.get(ALERTS)
    assert sorted(listed.json(), key=lambda each: str(each["id"])) == sorted(
        made, key=lambda each: str(each["id"])
    )
    assert (await user.get(f"{ALERTS}/{made[1]['id']}")).json() == made[1]
    assert listed.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "ticker"),
        ([], "body"),
        ({"ticker": " ", "condition": "above", "value": 1}, "ticker"),
        ({**ABOVE, "value": 0}, "value"),
        ({**ABOVE, "value": -3}, "value"),
        ({**ABOVE, "value": 1e12}, "value"),
        ({**ABOVE, "value": "300"}, "value"),
        ({**ABOVE, "value": None}, "value"),
        ({**ABOVE, "window": "5m"}, "window"),
        ({**ABOVE, "condition": "equals"}, "condition"),
        ({**ABOVE, "type": "bond"}, "type"),
        ({**ABOVE, "note": "x" * 201}, "note"),
        ({**ABOVE, "note": "a\u0000b"}, "note"),
        ({**ABOVE, "repeats": "yes"}, "repeats"),
        ({**FALLS, "window": None}, "window"),
        ({**FALLS, "window": "2h"}, "window"),
        ({**FALLS, "value": 0.009}, "value"),
        ({**FALLS, "value": 100}, "value"),
        ({**FALLS, "condition": "rises", "value": 1000.5}, "value"),
    ],
)
async def test_a_bad_value_is_answered_with_its_field(user: User, body: Any, field: str) -> None:
    response = await user.post(ALERTS, body)
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, field)
    assert (await user.get(ALERTS)).json() == []


@pytest.mark.parametrize("ticker", ["NOPE", "../x"])
async def test_an_unknown_symbol_is_not_found(user: User, ticker: str) -> None:
    response = await user.post(ALERTS, {**ABOVE, "ticker": ticker})
    assert (response.status_code, response.json()["code"]) == (404, "symbol_not_found")


async def test_a_feed_without_data_may_still_have_the_symbol(accounts_url: str) -> None:
    mirrors = full_mirrors() | {Feed.CRYPTO: Mirror(Feed.CRYPTO)}
    async with account_service(accounts_url, mirrors=mirrors) as service:
        user = await service.register()
        response = await user.post(ALERTS, {**FALLS, "ticker": "SOL/USDT"})
        assert (response.status_code, response.json()["code"]) == (503, "no_data")


async def test_a_full_list_takes_no_more(user: User) -> None:
    for _ in range(5):
        first = await added(user)
    response = await user.post(ALERTS, ABOVE)
    assert (response.status_code, response.json()["detail"]) == (
        409,
        "You have the maximum of 5 alerts; delete one first",
    )
    await user.delete(f"{ALERTS}/{first['id']}")
    await added(user)


async def test_a_retry_with_the_same_key_adds_nothing(user: User) -> None:
    """Another request with the key is an error."""
    headers = {"idempotency-key": "once"}
    first = await user.post(ALERTS, ABOVE, headers=headers)
    again = await user.post(ALERTS, {**ABOVE, "ticker": "AAPL"}, headers=headers)
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["idempotent-replayed"] == "true"
    other = await user.post(ALERTS, {**ABOVE, "value": 301}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    assert len((await user.get(ALERTS)).json()) == 1


async def test_a_change_arms_the_alert_only_if_it_waits_for_something_else(accounts_url: str) -> None:
    now = [1_795_188_600.0]
    async with account_service(accounts_url, clock=lambda: now[0]) as service:
        user = await service.register()
        path = f"{ALERTS}/{(await added(user))['id']}"
        now[0] += 60
        before, after = "2026-11-20T15:30:00.000Z", "2026-11-20T15:31:00.000Z"
        for change, armed_at in (
            ({}, before),
            ({"note": "n", "repeats": True, "webhook": True, "push": True}, before),
            ({"value": 300}, before),
            ({"active": False}, before),
            ({"active": True}, after),
        ):
            response = await user.ask("PATCH", path, json=change)
            assert response.json() | {**change, "armed_at": armed_at} == response.json(), change
        now[0] += 60
        below = await user.ask("PATCH", path, json={"condition": "below"})
        assert below.json() | {"condition": "below", "armed_at": "2026-11-20T15:32:00.000Z"} == below.json()


async def test_a_change_of_the_measure_needs_a_value(user: User) -> None:
    """A price is no percentage; a change back to a price forgets the window."""
    path = f"{ALERTS}/{(await added(user))['id']}"
    for change, field in (
        ({"condition": "rises", "window": "1h"}, "value"),
        ({"condition": "rises", "value": 3}, "window"),
        ({"window": "1h"}, "window"),
        ({"value": -1}, "value"),
        ({"active": None}, "active"),
        ({"note": "x" * 201}, "note"),
    ):
        response = await user.ask("PATCH", path, json=change)
        assert (response.status_code, response.json()["errors"][0]["field"]) == (422, field), change
    rises = await user.ask("PATCH", path, json={"condition": "rises", "value": 3, "window": "1h"})
    assert rises.json() | {"condition": "rises", "value": 3, "window": "1h"} == rises.json()
    falls = await user.ask("PATCH", path, json={"condition": "falls"})
    assert falls.json() | {"condition": "falls", "value": 3, "window": "1h"} == falls.json()
    above = await user.ask("PATCH", path, json={"condition": "above", "value": 7})
    assert above.json() | {"condition": "above", "value": 7, "window": None} == above.json()


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
@pytest.mark.parametrize("alert_id", ["0" * 24, "nothing", "%C4%B0"])
async def test_a_missing_alert_is_not_found(user: User, method: str, alert_id: str) -> None:
    response = await user.ask(method, f"{ALERTS}/{alert_id}", json={})
    assert (response.status_code, response.json()["detail"]) == (404, "Alert not found")


async def test_a_removed_alert_is_gone(user: User) -> None:
    path = f"{ALERTS}/{(await added(user))['id']}"
    assert (await user.delete(path)).status_code == 204
    assert (await user.get(path)).status_code == 404


async def test_every_write_is_counted_for_the_ingest(user: User, accounts_url: str) -> None:
    """An ingest loads thresholds again when the count has changed."""
    counts = []
    made = await added(user)
    counts.append(await count_of(accounts_url))
    await user.ask("PATCH", f"{ALERTS}/{made['id']}", json={"value": 301})
    counts.append(await count_of(accounts_url))
    await user.delete(f"{ALERTS}/{made['id']}")
    counts.append(await count_of(accounts_url))
    assert counts == sorted(set(counts))


async def count_of(url: str) -> int:
    (row,) = await query_server(url, "SELECT number FROM alert_changes WHERE kind = 'stock'")
    return int(row["number"])
