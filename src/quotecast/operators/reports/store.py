"""Reports in Redis: each expires by itself, and a set has the ids of those that may exist.

All names share a hash tag, so that one call reads all reports on a cluster too. Whoever may write here may
invent reports: they are shown, and nothing acts on them.
"""

from collections.abc import Awaitable
from typing import Any, Final, Self

import msgspec

from quotecast.operators.reports.model import Report
from quotecast.redis.client import connect
from quotecast.redis.commands import within_budget

#: Seconds after which a report without a newer one goes.
EXPIRY_SECONDS: Final = 10
#: Bytes of a report, and processes whose reports are read, at most.
MAX_LENGTH: Final = 64 * 1024
MAX_PROCESSES: Final = 512

_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(Report).decode


class ReportStore:
    """The reports of all processes. Every call raises what the client of Redis raises."""

    def __init__(self, url: str, prefix: str) -> None:
        self._client: Any = connect(url, "reports")
        self._name = f"{prefix}:{{reports}}"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def put(self, report: Report) -> None:
        """Replaces the report of a process; one that is too long is dropped."""
        body = _encode(report)
        if len(body) > MAX_LENGTH:
            return
        await self._ask(self._client.set(self._of(report.id), body, ex=EXPIRY_SECONDS))
        await self._ask(self._client.sadd(self._name, report.id))
        # Without any process the set goes too.
        await self._ask(self._client.expire(self._name, EXPIRY_SECONDS * 6))

    async def remove(self, process: str) -> None:
        """Removes the report of a process that stops."""
        await self._ask(self._client.delete(self._of(process)))
        await self._ask(self._client.srem(self._name, process))

    async def all(self) -> list[Report]:
        """Returns the reports that have not expired, and forgets the ids of the others.

        Skips unreadable reports, such as those of another version.
        """
        found = await self._ask(self._client.smembers(self._name))
        ids = sorted(found)[:MAX_PROCESSES]
        if not ids:
            return []
        names = [self._of(each.decode("utf-8", "replace")) for each in ids]
        bodies = await self._ask(self._client.mget(names))
        gone = [each for each, body in zip(ids, bodies, strict=True) if body is None]
        if gone:
            await self._ask(self._client.srem(self._name, *gone))
        return [report for body in bodies if (report := _report_of(body)) is not None]

    async def _ask(self, call: Awaitable[Any]) -> Any:
        return await within_budget(self._client, "reports", call)

    def _of(self, process: str) -> str:
        return f"{self._name}:{process}"


def _report_of(body: bytes | None) -> Report | None:
    if body is None or len(body) > MAX_LENGTH:
        return None
    try:
        return _decode(body)
    except (msgspec.MsgspecError, RecursionError):
        return None
