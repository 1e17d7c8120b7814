"""What is published on channels, read off the connection itself.

redis-py's `PubSub` takes longer for a message than we do for its quotes, and connects anew by itself: then
nobody would know that something was missed. In a cluster channels are sharded, so that a node passes on only
what lies on it; each node that holds a channel has a connection of its own: a silent one holds up no other.
"""

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any, Final

from redis.asyncio import Connection, Redis
from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.exceptions import RedisError

from quotecast.merging import merge_streams
from quotecast.redis.client import Client

SILENCE_SECONDS: Final = 1.0
#: How messages are published, on one server and in a cluster.
PUBLISH: Final = "PUBLISH"
SHARDED_PUBLISH: Final = "SPUBLISH"

#: What is told: a message's bytes, or None after a second of silence.
Payloads = AsyncGenerator[bytes | None, None]


@contextlib.asynccontextmanager
async def subscribe(client: Client, channels: Sequence[str]) -> AsyncIterator[Payloads]:
    """What is published on the channels from now on. Raises RedisError and OSError, then and later."""
    async with contextlib.AsyncExitStack() as stack:
        if isinstance(client, Redis):
            connection = await stack.enter_async_context(_server_connection(client))
            await _confirm_subscription(connection, "SUBSCRIBE", channels)
            told = _payloads(connection)
        else:
            streams = []
            for node, names in (await _channels_by_node(client, channels)).items():
                connection = await stack.enter_async_context(_node_connection(node))
                await _confirm_subscription(connection, "SSUBSCRIBE", names)
                streams.append(_payloads(connection))
            told = merge_streams(*streams)
        yield await stack.enter_async_context(contextlib.aclosing(told))


async def _confirm_subscription(connection: Any, verb: str, channels: Sequence[str]) -> None:
    """Waits for the server's word on each channel: only then is nothing missed."""
    for channel in channels:
        await connection.send_command(verb, channel)
    confirmed = 0
    while confirmed < len(channels):
        told = await connection.read_response(push_request=True)
        confirmed += told[0] == verb.lower().encode()


async def _payloads(connection: Any) -> Payloads:
    while True:
        told = await connection.read_response(timeout=SILENCE_SECONDS, push_request=True)
        if told is None:
            yield None
        elif told[0] in {b"message", b"smessage"}:
            yield told[2]
        elif told[0] == b"sunsubscribe":
            raise RedisError("a channel went to another node")


@contextlib.asynccontextmanager
async def _server_connection(client: Redis) -> AsyncIterator[Connection]:
    pool = client.connection_pool
    connection = await pool.get_connection()  # type: ignore[no-untyped-call]
    try:
        yield connection
    finally:
        await connection.disconnect(nowait=True)
        await pool.release(connection)


@contextlib.asynccontextmanager
async def _node_connection(node: ClusterNode) -> AsyncIterator[Connection]:
    connection = node.acquire_connection()
    try:
        await connection.connect()  # type: ignore[no-untyped-call]
        yield connection
    finally:
        await connection.disconnect(nowait=True)
        node.release(connection)


async def _channels_by_node(client: RedisCluster, channels: Sequence[str]) -> dict[ClusterNode, list[str]]:
    """The channels by the node they lie on."""
    found: dict[ClusterNode, list[str]] = {}
    for channel in channels:
        # A command that is sent on from node to node, for the client to know where the channel lies by now.
        await client.execute_command("EXISTS", channel)
        node = client.get_node_from_key(channel)
        if node is None:
            raise RedisError(f"no node holds {channel}")
        found.setdefault(node, []).append(channel)
    return found
