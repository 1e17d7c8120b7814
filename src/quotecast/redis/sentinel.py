"""Connections to the master that Sentinels name; every new connection asks them.

redis-py's own Sentinel client asks one Sentinel after the other, so that a frozen one uses up our deadlines.
It takes the first answer: a partitioned Sentinel would send us back to the old master indefinitely.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from redis.asyncio import Connection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NoConnectionError
from redis.exceptions import RedisError

from quotecast.redis import urls
from quotecast.redis.tls import TlsConnection

#: Seconds in which a Sentinel must answer.
ANSWER_SECONDS: Final = 0.5
#: Seconds to wait for one more while fewer than a majority have answered; the cache has 0.25 s to connect.
GRACE_SECONDS: Final = 0.05


class _MasterView(NamedTuple):
    #: Grows with each failover: the largest is the newest.
    config_epoch: int
    host: str
    port: int


class Sentinels:
    """The Sentinels of one service."""

    def __init__(self, service: str, sentinels: Sequence[dict[str, Any]]) -> None:
        self._service = service
        self._sentinels = sentinels

    async def master(self) -> tuple[str, int]:
        """Returns the master's host and port, by the Sentinel with the newest view.

        Raises redis-py's ConnectionError if no Sentinel names one.
        """
        answers = await self._answers()
        views = [each for each in answers if isinstance(each, _MasterView)]
        if not views:
            raise NoConnectionError(
                f"no Sentinel names the master of {self._service}: {'; '.join(map(str, answers))}"
            )
        newest = max(views)
        return newest.host, newest.port

    async def _answers(self) -> list[_MasterView | str]:
        """Returns what Sentinels answer until a majority has named a master, or no more do for a moment."""
        asked = [asyncio.ensure_future(self._ask(each)) for each in self._sentinels]
        pending = set(asked)
        views = 0
        try:
            while pending and views <= len(asked) // 2:
                patience = GRACE_SECONDS if views else None
                answered, pending = await asyncio.wait(
                    pending, timeout=patience, return_when=asyncio.FIRST_COMPLETED
                )
                if not answered:
                    break
                views += sum(isinstance(each.result(), _MasterView) for each in answered)
        finally:
            for each in pending:
                each.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
        return [each.result() for each in asked if each not in pending]

    async def _ask(self, sentinel: dict[str, Any]) -> _MasterView | str:
        """Returns one Sentinel's view, or the reason why it has none."""
        options: dict[str, Any] = {"connection_class": Connection, **sentinel}
        connection = options.pop("connection_class")(
            **options,
            protocol=2,
            retry=Retry(NoBackoff(), 0),
            socket_timeout=None,
            socket_connect_timeout=None,
        )
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await connection.connect()
                await connection.send_command("SENTINEL", "MASTER", self._service)
                flat = await connection.read_response()
        except TimeoutError:
            return f"{sentinel['host']}:{sentinel['port']} does not answer"
        except (OSError, RedisError) as error:
            return str(error)
        finally:
            await connection.disconnect(nowait=True)
        about = dict(zip(flat[::2], flat[1::2], strict=True))
        return _MasterView(int(about[b"config-epoch"]), about[b"ip"].decode(), int(about[b"port"]))


class MasterConnection(Connection):
    """A connection to the server that is the master when it connects."""

    def __init__(self, *, sentinels: Sentinels, **options: Any) -> None:
        super().__init__(**options)
        self._sentinels = sentinels

    async def _connect(self) -> None:
        self.host, self.port = await self._sentinels.master()
        await super()._connect()  # type: ignore[no-untyped-call]


class TlsMasterConnection(MasterConnection, TlsConnection):
    """A connection to the master over TLS."""


def master_options(url: str) -> dict[str, Any]:
    """Returns the options of a connection pool for the URL. Raises ValueError."""
    service, options, sentinels = urls.master_of_sentinels(url)
    kind = TlsMasterConnection if options.pop("connection_class", None) else MasterConnection
    return {**options, "connection_class": kind, "sentinels": Sentinels(service, sentinels)}
