"""The slowest clients of a worker, for the operator's page."""

import heapq
from collections.abc import Iterable

from quotecast.access.keys import is_session
from quotecast.operators.reports.masking import network_of
from quotecast.operators.reports.model import SlowClient
from quotecast.stream.client import Client


def slowest(clients: Iterable[Client], most: int, now: float) -> list[SlowClient]:
    """Returns up to `most` clients that have not taken everything: those with the most unsent bytes first.

    `now` is monotonic.
    """
    late = [(client.unsent, now - at, client) for client in clients if (at := client.paused_at) is not None]
    chosen = heapq.nlargest(most, late, key=lambda each: each[:2])
    return [_shown(client, unsent, seconds) for unsent, seconds, client in chosen]


def _shown(client: Client, unsent: int, seconds: float) -> SlowClient:
    return SlowClient(
        connection=client.session.connection,
        feed=client.name,
        transport=client.transport,
        address=network_of(client.address),
        key=_key_of(client),
        plan=client.grant.plan_name if client.grant else "",
        paused_seconds=round(seconds, 1),
        unsent_bytes=unsent,
        behind=max((_behind(client, place) for place in range(len(client.connections))), default=0),
    )


def _key_of(client: Client) -> str:
    """Returns the id of the client's API key; empty without one."""
    key_id = client.key_id or ""
    return "" if is_session(key_id) else key_id


def _behind(client: Client, place: int) -> int:
    """Returns the changes of one feed since the client's cursor; one in a cohort lacks none."""
    _, connection = client.connections[place]
    if connection.cohort is not None:
        return 0
    session = connection.session
    return session.mirror.mark.revision - session.subscription.mark.revision
