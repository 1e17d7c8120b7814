"""Clients of one Redis, or of a Redis Cluster where the URL says so: `redis+cluster://any-node:6379`."""

import asyncio
import contextlib
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from hiredis import pack_command
from redis.asyncio import Connection, Redis
from redis.asyncio.cluster import RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, ResponseError

_CLUSTER: Final = "+cluster://"
_CLOSING_SECONDS: Final = 0.5

Client = Redis | RedisCluster
Word = str | bytes | int
#: Runs a Lua script with its keys and arguments; one that the server has lost is sent again, having not run.
Script = Callable[..., Awaitable[Any]]


def connect(url: str) -> Client:
    """A client that gives up after one try: the callers know when to repeat, and have deadlines of their own.

    With a time-out of its own the client sends through `asyncio.wait_for`, which before Python 3.12 forgets a
    cancellation that meets the end of what it waits for. In a cluster one more try may follow a redirection.
    By the third protocol it would write every published message, in full, to a log that nobody reads.
    """
    if is_cluster(url):
        return RedisCluster.from_url(
            node_url(url),
            retry=Retry(NoBackoff(), 1),
            socket_timeout=None,
            socket_connect_timeout=None,
            protocol=2,
        )
    return Redis.from_url(
        url, retry=Retry(NoBackoff(), 0), socket_timeout=None, socket_connect_timeout=None, protocol=2
    )


def is_cluster(url: str) -> bool:
    """Whether keys of different hash tags may lie on different nodes."""
    return _CLUSTER in url


def node_url(url: str) -> str:
    """The URL of the server itself: of a cluster, the node that is named."""
    return url.replace(_CLUSTER, "://", 1)


class Line:
    """A Lua script that is called without pause, on a connection of its own; calls follow each other.

    `Redis` takes a connection out of its pool for each call, packs the words in Python and tells its own
    metrics: 140 µs of CPU where this takes 70. A call that fails or is given up gives the connection back to
    the pool, closed; the next one takes whichever was opened last, by a probe perhaps that had the time.
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
                # Between two calls the server says nothing but farewell.
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
    """On a line of its own where all keys lie on one node."""
    return Line(client, source) if isinstance(client, Redis) else client.register_script(source)


async def look_again(client: Client) -> None:
    """Has the client of a cluster ask anew which node holds what; calls under way to its nodes fail.

    It does so by itself when a connection fails, but not when a deadline of ours ended the call: the host of
    a node that vanished would be asked for ever.
    """
    if isinstance(client, RedisCluster):
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_CLOSING_SECONDS):
                await client.aclose()
