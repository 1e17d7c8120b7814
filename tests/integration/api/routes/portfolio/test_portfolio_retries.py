"""A retry with the same Idempotency-Key adds no second holding."""

import asyncio
import json

import pytest

from support.made.holdings import BOUGHT, HOLDINGS, send
from support.stages.account_service import User
from support.stages.caching import Clock


async def test_a_repetition_adds_nothing(user: User) -> None:
    """A retry with the same key gets the same answer and a header that says so, in any spelling."""
    first = await send(user, json.dumps(BOUGHT), **{"Idempotency-Key": "one"})
    again = await send(
        user,
        '{"currency":"usd", "ticker":"aapl","shares":2.0,"avg_cost":90.50,"bought_at":"2026-03-02"}',
        **{"Idempotency-Key": "one"},
    )
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert (first.headers.get("idempotent-replayed"), again.headers["idempotent-replayed"]) == (None, "true")
    assert len((await user.get(HOLDINGS)).json()) == 1


async def test_a_key_stands_for_one_request(user: User) -> None:
    await user.post(HOLDINGS, BOUGHT, headers={"Idempotency-Key": "one"})
    other = await user.post(HOLDINGS, BOUGHT | {"shares": 3}, headers={"Idempotency-Key": "one"})
    assert (other.status_code, other.json()["errors"][0]["field"]) == (422, "Idempotency-Key")
    assert other.json()["code"] == "idempotency_key_reused"
    assert len((await user.get(HOLDINGS)).json()) == 1


async def test_a_key_is_free_again_after_a_day(user: User, clock: Clock) -> None:
    """A failed request does not use up its key."""
    headers = {"Idempotency-Key": "one"}
    assert (await user.post(HOLDINGS, BOUGHT | {"shares": 0}, headers=headers)).status_code == 422
    first = await user.post(HOLDINGS, BOUGHT, headers=headers)
    clock.now += 24 * 3600 - 1
    assert (await user.post(HOLDINGS, BOUGHT, headers=headers)).content == first.content
    clock.now += 2
    second = await user.post(HOLDINGS, BOUGHT, headers=headers)
    assert second.status_code == 201
    assert second.json()["id"] != first.json()["id"]


async def test_a_repetition_after_midnight_is_one(user: User, clock: Clock) -> None:
    """A retry on the next day is the same request: the default day is not part of it."""
    body, headers = {"ticker": "AAPL", "shares": 1, "avg_cost": 1}, {"Idempotency-Key": "one"}
    first = await user.post(HOLDINGS, body, headers=headers)
    clock.now += 12 * 3600
    again = await user.post(HOLDINGS, body, headers=headers)
    assert (again.status_code, again.content) == (201, first.content)


@pytest.mark.parametrize("key", ["", "x" * 256, "ş", "a\tb", "a b"])
async def test_a_key_is_plain_text(user: User, key: str) -> None:
    response = await user.post(HOLDINGS, BOUGHT, headers={"Idempotency-Key": key.encode()})
    assert response.status_code == 422


async def test_repetitions_at_once_make_one_holding(user: User) -> None:
    headers = {"Idempotency-Key": "one"}
    answers = await asyncio.gather(*(user.post(HOLDINGS, BOUGHT, headers=headers) for _ in range(10)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert len((await user.get(HOLDINGS)).json()) == 1
