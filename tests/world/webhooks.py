"""The webhooks of a world: servers of users that take posts, and the check that each event arrives."""

import asyncio
import base64
import ipaddress
import json
import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import httpx

from quotecast.alerts.outbound import Outbound
from quotecast.alerts.webhooks import event_message_id, signature
from world.bar_truth import Break
from world.clock import wall_time
from world.faults import Fault
from world.postgres_data import Tables, Webhook

PORT: Final = 9000
#: Networks of a world's hosts.
NETWORK: Final = "10.0.0.0/8"
#: Seconds for which an ingest waits for an answer: few, as a world is short.
TIMEOUT_SECONDS: Final = 1.5
#: Greatest age of a message's time, where all clocks are right.
_LATE_SECONDS: Final = 5.0
#: Seconds for which a claim holds, and in which one that has ended is claimed again.
CLAIM_SECONDS: Final = 3 * TIMEOUT_SECONDS
_AGAIN_SECONDS: Final = 3.0


class Post(NamedTuple):
    """A message that came: when, its id, its event, and the alert and the value that it names."""

    at: float
    message_id: str
    event_id: int
    alert_id: str
    measured: float


class Receiver:
    """The server of one user: it checks signatures, remembers what came, and answers."""

    def __init__(self, name: str, user: str, address: str, chance: random.Random, broken: Break) -> None:
        self.name = name
        self.user = user
        self._broken = broken
        secret = "whsec_" + base64.b64encode(chance.randbytes(32)).decode()
        self.webhook = Webhook(user_id=user, url=f"http://{address}:{PORT}/events", signing_secret=secret)
        self.posts: list[Post] = []
        #: The status of its answers.
        self.status = 200
        self.clocks_are_right = True

    async def run(self) -> None:
        """Takes posts without end."""
        async with await asyncio.get_running_loop().create_server(lambda: _Posts(self), port=PORT):
            await asyncio.Event().wait()

    def take(self, headers: dict[str, str], body: bytes) -> None:
        """Takes a message."""
        message_id, timestamp = headers["webhook-id"], int(headers["webhook-timestamp"])
        expected = signature(self.webhook.signing_secret, message_id, timestamp, body)
        if headers["webhook-signature"] != expected:
            self._broken("a message is signed", f"{self.name} got {message_id} with another signature")
        if self.clocks_are_right and abs(timestamp - wall_time()) > _LATE_SECONDS:
            self._broken("a message is signed", f"{self.name} got {message_id} of {timestamp}")
        data = json.loads(body)["data"]
        if self.status == 200:
            at = asyncio.get_running_loop().time()
            self.posts.append(Post(at, message_id, data["id"], data["alert_id"], data["measured"]))


class _Posts(asyncio.Protocol):
    """One connection, with one post."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._received = b""

    def connection_made(self, transport: Any) -> None:
        """Remembers the connection."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answers when the body is there."""
        self._received += data
        head, blank, body = self._received.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n")[1:]]
        headers = {name.lower(): value for name, _, value in lines}
        if not blank or len(body) < int(headers["content-length"]):
            return
        self._receiver.take(headers, body)
        self._transport.write(b"HTTP/1.1 %d Known\r\nContent-Length: 0\r\n\r\n" % self._receiver.status)
        self._transport.close()


def make_outbound(*_: object, **__: object) -> Outbound:
    """Returns the service's client for the receivers of a world, without threads for names."""
    return Outbound(
        schemes=("http",),
        networks=[ipaddress.ip_network(NETWORK)],
        resolve=_resolve,
        tls=_TLS,
        timeout_seconds=TIMEOUT_SECONDS,
    )


async def _resolve(host: str, _: int) -> list[Any]:
    return [ipaddress.ip_address(host)]


#: Reading certificates takes long, and no receiver has one.
_TLS: Final = httpx.create_ssl_context(verify=False)


def check(
    receivers: Sequence[Receiver], tables: Tables, broken: Break, found: Sequence[Fault], *, are_all_due: bool
) -> None:
    """Checks what came: each event of an alert with a webhook, and nothing else.

    A message comes again, with the same id, only near a fault of an ingest, PostgreSQL or the receiver.
    """
    for receiver in receivers:
        events = {
            each.id: each
            for each in tables.alert_events.values()
            if each.user_id == receiver.user and tables.alerts[each.alert_id].by_webhook
        }
        came: dict[int, list[float]] = {}
        for post in receiver.posts:
            event = events.get(post.event_id)
            came.setdefault(post.event_id, []).append(post.at)
            if (
                event is None
                or post.message_id != event_message_id(event.id)
                or (post.alert_id, post.measured) != (event.alert_id, event.value)
            ):
                broken("a message is an event", f"{receiver.name} got {post} of {event}")
        if are_all_due and (missing := events.keys() - came.keys()):
            rows = [each for each in tables.alert_deliveries.values() if each.event_id in missing]
            broken("each event arrives", f"{receiver.name} lacks {sorted(missing)}: {rows}")
        for event_id, times in came.items():
            for first, again in pairwise(times):
                if not any(_repeats(fault, receiver, first, again) for fault in found):
                    broken("each event arrives once", f"{receiver.name} got {event_id} at {times}")


def _repeats(fault: Fault, receiver: Receiver, first: float, again: float) -> bool:
    """Returns whether a fault may be why a message that came at `first` came again."""
    hosts = {fault.target, fault.other}
    if not any(host.startswith("ingest") or host in {"postgres", receiver.name} for host in hosts):
        return False
    return fault.at < again and first < fault.at + fault.seconds + CLAIM_SECONDS + _AGAIN_SECONDS
