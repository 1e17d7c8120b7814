"""Retries of requests, and their delays."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from quotecast_client.backoff import Backoff

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quotecast_client.calls import Call

#: Answers that a repetition may improve.
PASSING = frozenset({429, 502, 503, 504})
#: Without a `Retry-After`, the service does not have what the request asks for.
UNAVAILABLE = 503


class Limits(NamedTuple):
    """The number of retries of a request, and the longest `Retry-After` (seconds) to wait for."""

    retries: int = 3
    longest_wait: float = 60.0


class Retries:
    """Decides about the repetitions of one request."""

    def __init__(
        self,
        call: Call[Any],
        limits: Limits,
        draw: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._left = limits.retries if call.repeatable else 0
        self._longest_wait = limits.longest_wait
        self._backoff = Backoff(draw)
        self._clock = clock

    def after_failure(self) -> float | None:
        """Returns the seconds to wait after a request without an answer; None if it is not to be repeated."""
        if self._left == 0:
            return None
        self._left -= 1
        return self._backoff.wait()

    def after_answer(self, status: int, headers: Mapping[str, str]) -> float | None:
        """Returns the seconds to wait after an error answer; None if the request is not to be repeated."""
        if status not in PASSING:
            return None
        asked = retry_after(headers, self._clock())
        if asked is None and status == UNAVAILABLE and "x-request-id" in headers:
            return None  # the service itself lacks a provider; a proxy's answer has no such id
        if asked is not None and asked > self._longest_wait:
            return None
        wait = self.after_failure()
        return wait if wait is None or asked is None else max(asked, wait)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Returns the seconds of `Retry-After`, which may also be a date; None without one."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError):
        return None
