"""Deliveries to browsers: a fake push service decrypts what arrives, as a browser would (RFC 8291)."""

import json
from collections.abc import AsyncIterator

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from fakes.receiver import Receiver, Reply
from quotecast.alerts import push
from quotecast.alerts.delivery import Delivery
from quotecast.alerts.networks import LOOPBACK
from quotecast.alerts.outbound import Outbound
from quotecast.alerts.push import Vapid
from quotecast.database.database import Database
from support.made.alert_rows import AlertRows
from support.oracles.transactions import open_database

AUTH = b"sixteen bytes!!!"
NOW = 1_795_188_600.0
VAPID = Vapid(push.new_private_key(), "mailto:operator@example.com")


class FakeBrowser:
    """A browser's keys, and its side of the decryption."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.public = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def decrypt(self, body: bytes) -> bytes:
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, record = body[21 : 21 + length], body[21 + length :]
        assert len(record) <= size
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
        shared = self._key.exchange(ec.ECDH(), point)
        secret = HKDF(SHA256(), 32, AUTH, b"WebPush: info\0" + self.public + sender).derive(shared)
        key = HKDF(SHA256(), 16, salt, b"Content-Encoding: aes128gcm\0").derive(secret)
        nonce = HKDF(SHA256(), 12, salt, b"Content-Encoding: nonce\0").derive(secret)
        padded = AESGCM(key).decrypt(nonce, record, None).rstrip(b"\0")
        assert padded.endswith(b"\2")
        return padded[:-1]


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
async def service() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    receiver.reply = Reply(201)
    async with receiver.serve():
        yield receiver


async def deliver(database: Database, vapid: Vapid | None = VAPID) -> Delivery:
    outbound = Outbound(schemes=("http",), networks=LOOPBACK)
    delivery = Delivery(database, outbound, vapid, event_days=90, clock=lambda: NOW)
    await delivery.step()
    await delivery.finish()
    return delivery


async def subscribed(rows: AlertRows, service: Receiver, browser: FakeBrowser) -> int:
    """Adds a user with a browser and an event for it; returns the event's id."""
    user = await rows.user()
    endpoint = f"http://127.0.0.1:{service.port}/send/x"
    target = await rows.browser(user, endpoint, push.encode(browser.public), push.encode(AUTH))
    return await rows.delivery(user, "push", target)


async def test_browser_decrypts_the_event(database: Database, rows: AlertRows, service: Receiver) -> None:
    """The push service sees the sender's identity and no word of the event."""
    browser = FakeBrowser()
    event = await subscribed(rows, service, browser)
    delivery = await deliver(database)
    (received,) = service.received
    message = json.loads(browser.decrypt(received.body))
    assert (message["type"], message["data"]["id"], message["data"]["ticker"]) == (
        "alert.crossed",
        event,
        "AAPL",
    )
    assert b"AAPL" not in received.body
    headers = received.headers
    assert (headers["content-encoding"], headers["ttl"], headers["urgency"]) == ("aes128gcm", "86400", "high")
    token = headers["authorization"].partition("t=")[2].partition(",")[0]
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), push.decode(VAPID.public_key))
    audience = f"http://127.0.0.1:{service.port}"
    assert jwt.decode(token, point, ["ES256"], audience=audience, options={"verify_exp": False})
    assert await rows.deliveries() == [("sent", 1, "")]
    assert delivery.statistics.outcomes == {("push", "sent"): 1}


@pytest.mark.parametrize("status", [404, 410])
async def test_browser_that_unsubscribed_is_removed(
    database: Database, rows: AlertRows, service: Receiver, status: int
) -> None:
    await subscribed(rows, service, FakeBrowser())
    service.reply = Reply(status)
    delivery = await deliver(database)
    assert (await rows.deliveries(), await rows.fetch("SELECT id FROM push_subscriptions")) == ([], [])
    assert delivery.statistics.outcomes == {("push", "unsubscribed"): 1}


async def test_failing_push_service_is_tried_again(
    database: Database, rows: AlertRows, service: Receiver
) -> None:
    await subscribed(rows, service, FakeBrowser())
    service.replies = [Reply(429)]
    await deliver(database)
    await rows.make_due()
    await deliver(database)
    assert await rows.deliveries() == [("sent", 2, "")]


async def test_service_without_a_key_says_so(database: Database, rows: AlertRows, service: Receiver) -> None:
    """The operator may set the key again within a day."""
    await subscribed(rows, service, FakeBrowser())
    await deliver(database, None)
    assert await rows.deliveries() == [("waiting", 1, "this service has no VAPID key")]


async def test_message_that_cannot_be_made_is_no_endless_try(
    database: Database, rows: AlertRows, service: Receiver
) -> None:
    """The failure counts like a receiver's: with a pause, and for a day at most."""
    browser = FakeBrowser()
    browser.public = b"no point of the curve"
    await subscribed(rows, service, browser)
    delivery = await deliver(database)
    assert await rows.deliveries() == [("waiting", 1, "the message could not be sent")]
    assert delivery.statistics.outcomes == {("push", "retried"): 1}
