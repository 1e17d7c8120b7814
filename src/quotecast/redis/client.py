"""Clients of Redis: of one server, of a cluster, or of the master that Sentinels name; see `urls`."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, Final

from redis.asyncio import BlockingConnectionPool, Connection, Redis
from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ReadOnlyError, ResponseError

from quotecast.redis import counts
from quotecast.redis.counts import Part
from quotecast.redis.lua import lua
from quotecast.redis.script_line import Script, ScriptConnection
from quotecast.redis.sentinel import master_options
from quotecast.redis.urls import cluster_nodes, is_cluster, is_sentinel, server_options

_CLOSING_SECONDS: Final = 0.5
_ASKING_SECONDS: Final = 0.5

Client = Redis | RedisCluster


def connect(url: str, part: Part, *, connections: int = 100) -> Client:
    """Returns a client without retries and time-outs: callers have deadlines, and know what may be repeated.

    With a time-out redis-py sends through `asyncio.wait_for`, which before Python 3.12 can lose a
    cancellation. A cluster's client makes one more try, to follow a redirection. Uses RESP2: under RESP3
    redis-py formats every published message for a debug log.
    """
    if is_cluster(url):
        return _cluster(url, part)
    options: dict[str, Any] = {
        "max_connections": connections,
        "timeout": None,
        "retry": Retry(NoBackoff(), 0),
        "socket_timeout": None,
        "socket_connect_timeout": None,
        "protocol": 2,
        "redis_connect_func": _counting_connects(part),
    }
    if is_sentinel(url):
        return Redis.from_pool(BlockingConnectionPool(**options | master_options(url)))
    return Redis.from_pool(BlockingConnectionPool(**options | server_options(url)))


def _cluster(url: str, part: Part) -> RedisCluster:
    nodes = cluster_nodes(url)
    options = {name: value for name, value in nodes[0].items() if name not in {"host", "port"}}
    # The cluster's client takes no class and no function, and not every option of TLS, but hands all of them
    # to each node's connections.
    more = {name: options.pop(name) for name in [*options] if name.startswith(("ssl_", "connection_class"))}
    more["redis_connect_func"] = _counting_connects(part)
    cluster = RedisCluster(
        startup_nodes=[ClusterNode(each.get("host", "localhost"), each.get("port", 6379)) for each in nodes],
        retry=Retry(NoBackoff(), 1),
        socket_timeout=None,
        socket_connect_timeout=None,
        protocol=2,
        **options,
    )
    cluster.connection_kwargs |= more
    kind = more.pop("connection_class", Connection)
    for each in cluster.startup_nodes:
        each.connection_class = kind
        each.connection_kwargs |= more
    return cluster


def _counting_connects(part: Part) -> Callable[[Connection], Awaitable[None]]:
    async def count_connect(connection: Connection) -> None:
        await connection.on_connect()
        counts.connects[part,] += 1

    return count_connect


def script(client: Client, source: str) -> Script:
    """Returns the script, with a connection of its own where all keys lie on one node."""
    return ScriptConnection(client, source) if isinstance(client, Redis) else client.register_script(source)


async def drop_connections(client: Client, part: Part) -> None:
    """Closes every connection, so that the next ones go to the present master; calls under way fail.

    A cluster's client also loads the slot table again. By itself it does so when a connection fails, but not
    when our deadline ends a call: it would go on connecting to a vanished node.
    """
    counts.reconnects[part,] += 1
    # Tasks that close one connection at the same time wait for one future. A task that is cancelled meanwhile
    # would cancel it, and redis-py would raise that in the others: each closes in a task of its own.
    closing = asyncio.create_task(_close(client))
    try:
        await asyncio.wait({closing}, timeout=_CLOSING_SECONDS)
    finally:
        closing.cancel()


async def _close(client: Client) -> None:
    with contextlib.suppress(Exception):
        await (client.aclose() if isinstance(client, RedisCluster) else client.connection_pool.disconnect())


async def leads_nowhere_else(client: Client) -> bool:
    """Whether a new connection reaches no server that takes writes; False for a cluster, without asking."""
    if isinstance(client, RedisCluster):
        return False
    connection = client.connection_pool.make_connection()  # type: ignore[no-untyped-call]
    try:
        async with asyncio.timeout(_ASKING_SECONDS):
            await connection.connect()
            await try_write(connection)
    except Exception:  # noqa: BLE001 - whatever it is, no writes are taken there
        return True
    else:
        return False
    finally:
        await connection.disconnect(nowait=True)


async def require_master(connection: Connection) -> None:
    """Raises ReadOnlyError if the connection's server is a replica.

    While an address moves from one server to another, each new connection may reach either.
    """
    try:
        await try_write(connection)
    except ReadOnlyError:
        raise
    except ResponseError:
        return  # the server is a master, and takes no writes just now


async def try_write(connection: Any) -> None:
    """Raises the error that the connection's server answers to a write; writes nothing."""
    await connection.send_command("EVAL", lua("redis", "writable"), 0)
    await connection.read_response()


async def check_writable(client: Client, *keys: str | bytes) -> None:
    """Raises the error that Redis answers to a write of the keys; writes nothing.

    The keys share one hash tag.
    """
    await client.eval(lua("redis", "writable"), len(keys), *keys)
