"""Subscriptions to Redis channels, read directly off the connection.

redis-py's `PubSub` takes longer for a message than we do for its quotes, and reconnects silently, so that
missed messages would go unnoticed. In a cluster channels are sharded: each node publishes only its own. Every
node with a channel has a connection of its own, so that a silent node delays no other.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any, Final

from redis.asyncio import Connection, Redis
from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.exceptions import RedisError

from quotecast.bus.answers import Payloads
from quotecast.bus.calls import within_deadline
from quotecast.errors import BusError
from quotecast.merging import merge_streams
from quotecast.redis.client import Client, require_master, try_write

SILENCE_SECONDS: Final = 1.0
#: Seconds between two checks that the subscribed server still takes writes.
CHECK_SECONDS: Final = 1.0
#: The commands that publish, on one server and in a cluster.
PUBLISH: Final = "PUBLISH"
SHARDED_PUBLISH: Final = "SPUBLISH"


async def silence() -> AsyncGenerator[None, None]:
    """Yields what a subscription without messages does: None after each second."""
    while True:
        await asyncio.sleep(SILENCE_SECONDS)
        yield None


@contextlib.asynccontextmanager
async def subscribe(client: Client, channels: Sequence[str]) -> AsyncIterator[Payloads]:
    """Subscribes to channels, and gives their payloads. Both raise RedisError and OSError."""
    async with contextlib.AsyncExitStack() as stack:
        if isinstance(client, Redis):
            connection = await stack.enter_async_context(_master_connection(client))
            await _confirm_subscription(connection, "SUBSCRIBE", channels)
            payloads = _payloads(connection)
        else:
            streams = []
            for node, names in (await _channels_by_node(client, channels)).items():
                connection = await stack.enter_async_context(_node_connection(node))
                await _confirm_subscription(connection, "SSUBSCRIBE", names)
                streams.append(_payloads(connection))
            payloads = merge_streams(*streams)
        yield await stack.enter_async_context(contextlib.aclosing(payloads))


async def _confirm_subscription(connection: Any, verb: str, channels: Sequence[str]) -> None:
    """Subscribes to each channel and waits for the confirmation, after which no message is missed."""
    for channel in channels:
        await connection.send_command(verb, channel)
    confirmed = 0
    while confirmed < len(channels):
        response = await connection.read_response(push_request=True)
        confirmed += response[0] == verb.lower().encode()


async def _payloads(connection: Any) -> Payloads:
    while True:
        response = await connection.read_response(timeout=SILENCE_SECONDS, push_request=True)
        if response is None:
            yield None
        elif response[0] in {b"message", b"smessage"}:
            yield response[2]
        elif response[0] == b"sunsubscribe":
            raise RedisError("a channel went to another node")


@contextlib.asynccontextmanager
async def _master_connection(client: Redis) -> AsyncIterator[Connection]:
    """Gives a connection that is closed when its server is no longer the master.

    A demoted server keeps its subscribers, but their messages end when it loses the new master. A subscribed
    connection takes no other command, and the client's other connections may have reached the new master
    already: a connection that was taken just before asks in its place. A cluster's connections have none:
    one node's failure must not end the other nodes' subscriptions.
    """
    async with _server_connection(client) as asking:
        await require_master(asking)
        async with _server_connection(client) as subscribed:
            await require_master(subscribed)
            watch = asyncio.create_task(_watch(client, asking, subscribed))
            try:
                yield subscribed
            finally:
                watch.cancel()
                await asyncio.gather(watch, return_exceptions=True)


async def _watch(client: Redis, asking: Connection, subscribed: Connection) -> None:
    while asking.is_connected:
        await asyncio.sleep(CHECK_SECONDS)
        with contextlib.suppress(BusError):
            await within_deadline(client, "bus", try_write(asking))
    await subscribed.disconnect(nowait=True)


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
    """Returns the channels by the node that holds them."""
    by_node: dict[ClusterNode, list[str]] = {}
    for channel in channels:
        # The client follows the redirections of this command, and so learns the channel's present node.
        await client.execute_command("EXISTS", channel)
        node = client.get_node_from_key(channel)
        if node is None:
            raise RedisError(f"no node holds {channel}")
        by_node.setdefault(node, []).append(channel)
    return by_node
