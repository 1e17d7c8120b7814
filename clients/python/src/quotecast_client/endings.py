"""Ends of connections, and whether another one can help; no I/O."""

from __future__ import annotations

import time
from typing import NamedTuple

from websockets.exceptions import ConnectionClosed, InvalidStatus

from quotecast_client.retries import retry_after

#: Close codes after which connecting again does not help.
REFUSALS = range(4400, 4450)
#: Answers to a handshake after which it may help: of a proxy whose server starts, or under load.
PASSING_STATUSES = frozenset({408, 425, 429})


class Ending(NamedTuple):
    """The end of a connection: its close code or the status of the handshake, if there was one."""

    code: int | None = None
    reason: str = ""
    is_final: bool = False
    #: Seconds that the service asked to wait.
    retry_after: float = 0.0


def ending_of(error: Exception) -> Ending:
    """Returns what an error says about the end of a connection."""
    if isinstance(error, ConnectionClosed) and error.rcvd is not None:
        return Ending(error.rcvd.code, error.rcvd.reason, error.rcvd.code in REFUSALS)
    if isinstance(error, InvalidStatus):
        status = error.response.status_code
        is_final = 400 <= status < 500 and status not in PASSING_STATUSES
        wait = retry_after(error.response.headers, time.time())
        return Ending(status, f"HTTP status {status} instead of a stream", is_final, wait or 0.0)
    return Ending()
