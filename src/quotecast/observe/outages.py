"""Logs of outages: one warning a minute, however often a failure repeats."""

import time
from collections.abc import Callable
from typing import Final

import structlog

from quotecast.errors import BusError, DatabaseAway

#: Seconds between two warnings of one outage.
REPEAT_SECONDS: Final = 60.0

log = structlog.get_logger()


class OutageLog:
    """A log that warns once a minute; other failures are debug events. `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._silent_until = float("-inf")
        self._warned = False

    def log_failure(self, event: str, **context: object) -> None:
        """Logs one failure."""
        now = self._clock()
        if now < self._silent_until:
            log.debug(event, **context)
            return
        self._silent_until = now + REPEAT_SECONDS
        self._warned = True
        log.warning(event, **context)

    def log_error(self, event: str, error: Exception, **context: object) -> None:
        """Logs one failure by its error, with its traceback unless a server is away."""
        is_known = isinstance(error, BusError | DatabaseAway)
        self.log_failure(event, **context, error=str(error), exc_info=None if is_known else error)

    def log_end(self, event: str, **context: object) -> None:
        """Logs the end of an outage, if this log has warned of it."""
        if self._warned:
            self._warned = False
            log.info(event, **context)
