"""Deliveries to webhooks over real sockets and PostgreSQL: signed, repeated, fair, never twice at once."""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fakes.receiver import BROKEN, HANGING, Receiver, Reply
from quotecast.alerts import delivery as module
from quotecast.alerts.delivery import Delivery, pause_after
from quotecast.alerts.networks import LOOPBACK
from quotecast.alerts.outbound import Outbound
from quotecast.database.database import Database
from support.made.alert_rows import AlertRows
from support.oracles.transactions import open_database
from support.runs.deadlines import scaled

NOW = 1_795_188_600.0
SECRET = "whsec_" + base64.b64encode(b"a key of thirty-two random bytes").decode()
DYING = """
import asyncio, sys
from quotecast.database.database import Database
from quotecast.alerts.delivery import Delivery
from quotecast.alerts.networks import LOOPBACK
from quotecast.alerts.outbound import Outbound

async def main():
    async with Database(sys.argv[1], pool_size=2, deadline_seconds=15) as database:
        await Delivery(database, Outbound(schemes=("http",), networks=LOOPBACK), None, event_days=90).run()

asyncio.run(main())
"""


@pytest.fixture
async def rows(accounts_url: str) -> AsyncIterator[AlertRows]:
    rows = await AlertRows.connect(accounts_url)
    yield rows
    await rows.close()


@pytest.fixture
async def database(accounts_url: str) -> AsyncIterator[Database]:
    async with open_database(accounts_url, statement_cache=0) as database:
        yield database


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    async with receiver.serve():
        yield receiver


def delivery_of(database: Database, *, timeout_seconds: float = 10.0, **other: Any) -> Delivery:
    outbound = Outbound(schemes=("http",), networks=LOOPBACK, timeout_seconds=timeout_seconds)
    given: dict[str, Any] = {"event_days": 90, "clock": lambda: NOW}
    return Delivery(database, outbound, None, **(given | other))


async def deliver(delivery: Delivery) -> None:
    """Begins what is due, and waits for the answers."""
    await delivery.step()
    await delivery.finish()


async def test_event_is_posted_once_and_signed(
    database: Database, rows: AlertRows, receiver: Receiver
) -> None:
    """The signature is the one of Standard Webhooks; a second step has nothing to do."""
    user = await rows.user()
    await rows.webhook(user, f"http://127.0.0.1:{receiver.port}/hook?x=1", SECRET)
    event = await rows.delivery(user)
    delivery = delivery_of(database)
    await deliver(delivery)
    await deliver(delivery)
    (received,) = receiver.received
    headers = received.headers
    assert (received.method, received.path) == ("POST", "/hook?x=1")
    assert (headers["webhook-id"], headers["webhook-timestamp"]) == (f"msg_{event}", str(int(NOW)))
    content = f"msg_{event}.{int(NOW)}.".encode() + received.body
    expected = hmac.new(b"a key of thirty-two random bytes", content, hashlib.sha256).digest()
    assert headers["webhook-signature"] == "v1," + base64.b64encode(expected).decode()
    message = json.loads(received.body)
    data = message["data"]
    assert (message["type"], message["timestamp"]) == ("alert.crossed", data["happened_at"])
    assert (
        data | {"id": event, "ticker": "AAPL", "condition": "above", "value": 300.0, "window": None} == data
    )
    assert await rows.deliveries() == [("sent", 1, "")]
    (webhook,) = await rows.fetch("SELECT last_sent_at, last_error FROM webhooks")
    assert (webhook["last_sent_at"] is not None, webhook["last_error"]) == (True, "")
    assert delivery.statistics.outcomes == {("webhook", "sent"): 1}


async def test_failing_receiver_gets_the_event_again_until_it_takes_it(
    database: Database, rows: AlertRows, receiver: Receiver
) -> None:
    """Each try has the same id; the webhook's row has the last error and its time."""
    user = await rows.user()
    await rows.webhook(user, f"http://127.0.0.1:{receiver.port}/")
    event = await rows.delivery(user)
    receiver.replies = [Reply(500), Reply(302, {"location": "http://127.0.0.1:1/"}), BROKEN, Reply(200)]
    delivery = delivery_of(database)
    errors = []
    for _ in range(4):
        await deliver(delivery)
        (state,) = await rows.deliveries()
        errors.append(state[2])
        # The pause of seconds must not end on a stalled machine before the next line.
        await rows.execute("UPDATE alert_deliveries SET next_at = next_at + interval '1 hour'")
        await deliver(delivery)
        await rows.make_due()
    assert errors == ["HTTP 500", "HTTP 302", "broken answer: RemoteProtocolError", ""]
    assert [each.headers["webhook-id"] for each in receiver.received] == [f"msg_{event}"] * 4
    (webhook,) = await rows.fetch("SELECT last_error, last_error_at, last_sent_at FROM webhooks")
    assert webhook["last_error"] == "broken answer: RemoteProtocolError"
    assert webhook["last_error_at"] < webhook["last_sent_at"]
    assert delivery.statistics.outcomes == {("webhook", "retried"): 3, ("webhook", "sent"): 1}


async def test_delivery_is_given_up_after_a_day(
    database: Database, rows: AlertRows, receiver: Receiver
) -> None:
    user = await rows.user()
    await rows.webhook(user, f"http://127.0.0.1:{receiver.port}/")
    await rows.delivery(user)
    receiver.reply = Reply(503)
    await rows.execute("UPDATE alert_deliveries SET created_at = now() - interval '23:59:59', attempts = 20")
    delivery = delivery_of(database)
    await deliver(delivery)
    assert await rows.deliveries() == [("failed", 21, "HTTP 503")]
    assert delivery.statistics.outcomes == {("webhook", "failed"): 1}


@pytest.mark.parametrize(("status", "state"), [(410, "failed"), (404, "waiting"), (429, "waiting")])
async def test_receiver_that_is_gone_gets_nothing_more(
    database: Database, rows: AlertRows, receiver: Receiver, status: int, state: str
) -> None:
    user = await rows.user()
    await rows.webhook(user, f"http://127.0.0.1:{receiver.port}/")
    await rows.delivery(user)
    receiver.reply = Reply(status)
    await deliver(delivery_of(database))
    assert await rows.deliveries() == [(state, 1, f"HTTP {status}")]


async def test_receiver_may_ask_for_a_longer_pause(
    database: Database, rows: AlertRows, receiver: Receiver
) -> None:
    """An hour at most: a receiver cannot make the service forget an event."""
    user = await rows.user()
    await rows.webhook(user, f"http://127.0.0.1:{receiver.port}/")
    for wish, pause in (("600", 600), ("99999", 3600), ("1", 5)):
        await rows.delivery(user)
        receiver.reply = Reply(429, {"retry-after": wish})
        await deliver(delivery_of(database, chance=lambda: 1.0))
        (row,) = await rows.fetch(
            "SELECT extract(epoch FROM next_at - now())::float AS pause FROM alert_deliveries"
        )
        assert pause - 5 < row["pause"] <= pause
        await rows.execute("DELETE FROM alert_deliveries")


def test_pauses_grow_to_an_hour_and_are_random() -> None:
    assert [pause_after(tries, lambda: 1.0) for tries in (1, 2, 3, 10, 30)] == [5, 10, 20, 2560, 3600]
    assert pause_after(1, lambda: 0.0) == 2.5
    assert pause_after(30, lambda: 0.0) == 1800


async def test_two_processes_never_send_one_delivery_at_once(
    database: Database, rows: AlertRows, receiver: Receiver, accounts_url: str
) -> None:
    """Four instances claim 60 deliveries of 30 users together: each arrives once."""
    for number in range(30):
        user = await rows.user(number)
        await rows.webhook(user, f"http://127.0.0.1:{receiver.port}/{number}")
        for _ in range(2):
            await rows.delivery(user)
    async with open_database(accounts_url, statement_cache=0) as other:
        instances = [delivery_of(each) for each in (database, database, other, other)]
        await asyncio.gather(*(deliver(each) for each in instances))
        await asyncio.gather(*(deliver(each) for each in instances))
    ids = [each.headers["webhook-id"] for each in receiver.received]
    assert (len(ids), len(set(ids))) == (60, 60)
    assert {state for state, _, _ in await rows.deliveries()} == {"sent"}


async def test_claim_holds_while_another_instance_looks(
    database: Database, rows: AlertRows, receiver: Receiver
) -> None:
    """A delivery that is being sent is not due for others."""
    user = await rows.user()
    await rows.webhook(user, f"http://127.0.0.1:{receiver.port}/")
    await rows.delivery(user)
    receiver.replies = [HANGING]
    first, second = delivery_of(database, timeout_seconds=20), delivery_of(database)
    await first.step()
    await receiver.wait_for(1)
    await deliver(second)
    assert len(receiver.received) == 1
    await first._cancel_posts()
    await rows.make_due()
    await deliver(second)
    assert await rows.deliveries() == [("sent", 2, "")]


async def test_late_record_of_an_expired_claim_changes_nothing(
    database: Database, rows: AlertRows, receiver: Receiver
) -> None:
    """An instance that was frozen past its claim does not overwrite the outcome of the later one."""
    user = await rows.user()
    await rows.webhook(user, f"http://127.0.0.1:{receiver.port}/")
    await rows.delivery(user)
    receiver.replies = [HANGING, Reply(204)]
    slow, fast = delivery_of(database, timeout_seconds=scaled(30)), delivery_of(database)
    await slow.step()
    await receiver.wait_for(1)
    await rows.make_due()
    await deliver(fast)
    receiver.hang_up()
    await slow.finish()
    assert await rows.deliveries() == [("sent", 2, "")]


async def test_kill_between_post_and_record_repeats_the_same_id(
    database: Database, rows: AlertRows, receiver: Receiver, accounts_url: str
) -> None:
    """A real process dies (SIGKILL) after the receiver has the event; another one sends it again."""
    user = await rows.user()
    await rows.webhook(user, f"http://127.0.0.1:{receiver.port}/")
    event = await rows.delivery(user)
    receiver.replies = [HANGING]
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", DYING, accounts_url)
    try:
        async with asyncio.timeout(scaled(60)):
            await receiver.wait_for(1)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        await process.wait()
    assert await rows.deliveries() == [("waiting", 1, "")]
    await rows.make_due()
    await deliver(delivery_of(database))
    assert [each.headers["webhook-id"] for each in receiver.received] == [f"msg_{event}"] * 2
    assert await rows.deliveries() == [("sent", 2, "")]


async def test_slow_receiver_does_not_hold_up_the_others(
    database: Database, rows: AlertRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user takes two of three places at most, however many deliveries wait."""
    monkeypatch.setattr(module, "MAX_POSTS", 3)
    slow, fast = Receiver(), Receiver()
    slow.reply = HANGING
    async with slow.serve(), fast.serve():
        first, second = await rows.user(1), await rows.user(2)
        await rows.webhook(first, f"http://127.0.0.1:{slow.port}/")
        await rows.webhook(second, f"http://127.0.0.1:{fast.port}/")
        for _ in range(10):
            await rows.delivery(first)
        for _ in range(5):
            await rows.delivery(second)
        delivery = delivery_of(database, timeout_seconds=60)
        running = asyncio.create_task(delivery.run())
        async with asyncio.timeout(scaled(30)):
            await fast.wait_for(5)
            await slow.wait_for(2)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert len(slow.received) == 2


async def test_many_dead_receivers_do_not_hold_up_the_others(
    database: Database, rows: AlertRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their deliveries are older and more than there are places; they share a part of the places."""
    monkeypatch.setattr(module, "MAX_POSTS", 4)
    monkeypatch.setattr(module, "MAX_POSTS_OF_SILENT", 2)
    dead, fast = Receiver(), Receiver()
    dead.reply = HANGING
    async with dead.serve(), fast.serve():
        for number in range(4):
            user = await rows.user(number)
            await rows.webhook(user, f"http://127.0.0.1:{dead.port}/")
            await rows.delivery(user)
        # The first posts show which receivers are dead; the next ones wait for a minute.
        delivery = delivery_of(database, timeout_seconds=0.5)
        await deliver(delivery)
        assert {state for state, _, _ in await rows.deliveries()} == {"waiting"}
        delivery._outbound = delivery_of(database, timeout_seconds=60)._outbound
        for number in range(4):
            for _ in range(10):
                await rows.delivery(f"{number:024x}")
        await rows.make_due()
        healthy = await rows.user(9)
        await rows.webhook(healthy, f"http://127.0.0.1:{fast.port}/")
        await rows.delivery(healthy)
        running = asyncio.create_task(delivery.run())
        try:
            async with asyncio.timeout(scaled(30)):
                await fast.wait_for(1)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def test_delivery_without_a_receiver_is_forgotten(
    database: Database, rows: AlertRows, receiver: Receiver
) -> None:
    """The webhook is gone, or its user disabled; events stay."""
    first, second = await rows.user(1), await rows.user(2)
    await rows.webhook(second, f"http://127.0.0.1:{receiver.port}/")
    await rows.execute("UPDATE users SET disabled = true WHERE id = $1", second)
    await rows.delivery(first)
    await rows.delivery(second)
    await deliver(delivery_of(database))
    assert (await rows.deliveries(), receiver.received) == ([], [])
    assert len(await rows.fetch("SELECT id FROM alert_events")) == 2


async def test_events_past_retention_are_dropped_with_their_deliveries(
    database: Database, rows: AlertRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many at once go in several transactions; the next look is ten minutes later."""
    monkeypatch.setattr(module, "DROPPED_AT_ONCE", 2)
    user = await rows.user()
    for _ in range(5):
        await rows.delivery(user)
    await rows.execute("UPDATE alert_events SET happened_at = now() - interval '8 days'")
    await rows.event(user)
    now = [0.0]
    delivery = delivery_of(database, event_days=7, monotonic=lambda: now[0])
    await deliver(delivery)
    assert (await rows.deliveries(), len(await rows.fetch("SELECT id FROM alert_events"))) == ([], 1)
    await rows.execute("UPDATE alert_events SET happened_at = now() - interval '8 days'")
    await deliver(delivery)
    assert len(await rows.fetch("SELECT id FROM alert_events")) == 1
    now[0] += 600
    await deliver(delivery)
    assert await rows.fetch("SELECT id FROM alert_events") == []


async def test_overdue_deliveries_are_counted(database: Database, rows: AlertRows) -> None:
    """An alert of the operator sees that nobody delivers."""
    user = await rows.user()
    await rows.webhook(user, "http://127.0.0.1:9/")
    await rows.delivery(user)
    await rows.execute("UPDATE alert_deliveries SET next_at = now() - interval '90 s'")
    delivery = delivery_of(database)
    await delivery._count_overdue()
    assert delivery.statistics.overdue == 1
    assert delivery.statistics.overdue_seconds >= 90
