"""Clients of Redis: of one server, of a cluster, or of the master that Sentinels name; see `urls`."""

import asyncio
import contextlib
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from importlib import resources
from typing import Any, Final

from hiredis import pack_command
from redis.asyncio import BlockingConnectionPool, Connection, Redis
from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, ResponseError

from quotecast.redis import counts
from quotecast.redis.counts import Part
from quotecast.redis.sentinel import master_options
from quotecast.redis.urls import cluster_nodes, is_cluster, is_sentinel

_CLOSING_SECONDS: Final = 0.5
_ASKING_SECONDS: Final = 0.5

Client = Redis | RedisCluster
Word = str | bytes | int
#: Runs a Lua script with its keys and arguments; loads it first when the server does not have it.
Script = Callable[..., Awaitable[Any]]


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
    return Redis.from_pool(BlockingConnectionPool.from_url(url, **options))


def _cluster(url: str, part: Part) -> RedisCluster:
    nodes = cluster_nodes(url)
    options = {name: value for name, value in nodes[0].items() if name not in {"host", "port"}}
    options["ssl"] = options.pop("connection_class", None) is not None
    cluster = RedisCluster(
        startup_nodes=[ClusterNode(each.get("host", "localhost"), each.get("port", 6379)) for each in nodes],
        retry=Retry(NoBackoff(), 1),
        socket_timeout=None,
        socket_connect_timeout=None,
        protocol=2,
        **options,
    )
    # The cluster's client takes no such function, but hands these options to each node's connections.
    for kwargs in (cluster.connection_kwargs, *(each.connection_kwargs for each in cluster.startup_nodes)):
        kwargs["redis_connect_func"] = _counting_connects(part)
    return cluster


def _counting_connects(part: Part) -> Callable[[Connection], Awaitable[None]]:
    async def count_connect(connection: Connection) -> None:
        await connection.on_connect()
        counts.connects[part,] += 1

    return count_connect


class ScriptConnection:
    """A Lua script with a connection of its own, for frequent calls; it runs one call at a time.

    `Redis` takes a connection out of its pool for each call, packs the words in Python and updates its own
    metrics: 140 µs of CPU where this takes 70. After a failed or cancelled call the connection goes back to
    the pool, closed. The next call takes the connection that opened last, for example by a probe.
    """

    def __init__(self, client: Redis, source: str) -> None:
        self._pool = client.connection_pool
        self._source = source
        self._digest = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()
        self._connection: Connection | None = None
        self._turn = asyncio.Lock()

    async def __call__(self, keys: Sequence[Word], args: Sequence[Word]) -> Any:
        """See Script."""
        async with self._turn:
            try:
                return await self._ask("EVALSHA", self._digest, len(keys), *keys, *args)
            except NoScriptError:
                await self._ask("SCRIPT", "LOAD", self._source)
                return await self._ask("EVALSHA", self._digest, len(keys), *keys, *args)

    async def _ask(self, *words: Word) -> Any:
        if self._connection is None:
            self._connection = await self._pool.get_connection()  # type: ignore[no-untyped-call]
        connection = self._connection
        try:
            if connection.is_connected and await connection.can_read():
                # Between two calls the server sends only the end of the connection.
                await connection.disconnect(nowait=True)
            packed = pack_command(words)  # type: ignore[arg-type]  # declared for tuples of one word
            await connection.send_packed_command(packed, check_health=False)
            return await connection.read_response()
        except ResponseError:
            raise
        except BaseException:
            self._connection = None
            await self._pool.release(connection)
            raise


def script(client: Client, source: str) -> Script:
    """Returns the script, with a connection of its own where all keys lie on one node."""
    return ScriptConnection(client, source) if isinstance(client, Redis) else client.register_script(source)


async def drop_connections(client: Client, part: Part) -> None:
    """Closes every connection, so that the next ones go to the present master; calls under way fail.

    A cluster's client also loads the slot table again. By itself it does so when a connection fails, but not
    when our deadline ends a call: it would connect to a vanished node for ever.
    """
    counts.reconnects[part,] += 1
    with contextlib.suppress(Exception):
        async with asyncio.timeout(_CLOSING_SECONDS):
            await (
                client.aclose() if isinstance(client, RedisCluster) else client.connection_pool.disconnect()
            )


async def leads_nowhere_else(client: Client) -> bool:
    """Whether a new connection reaches no server that takes writes; False for a cluster, without asking."""
    if isinstance(client, RedisCluster):
        return False
    connection = client.connection_pool.make_connection()  # type: ignore[no-untyped-call]
    try:
        async with asyncio.timeout(_ASKING_SECONDS):
            await connection.connect()
            await connection.send_command("EVAL", _writable_source(), 0)
            await connection.read_response()
    except Exception:  # noqa: BLE001 - whatever it is, no writes are taken there
        return True
    else:
        return False
    finally:
        await connection.disconnect(nowait=True)


async def check_writable(client: Client, *keys: str | bytes) -> None:
    """Raises the error that Redis answers to a write of the keys; writes nothing.

    The keys share one hash tag.
    """
    await client.eval(_writable_source(), len(keys), *keys)


@cache
def _writable_source() -> str:
    return resources.files("quotecast.redis").joinpath("writable.lua").read_text("utf-8")
