"""Which origins a browser may read an answer from, as header lists made once."""

from collections.abc import Iterable
from typing import Final

Headers = list[tuple[bytes, bytes]]

ANY: Final = "*"

_EXPOSED: Final = (
    "X-Request-ID, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, "
    "X-Missing-Symbols, X-Total-Count, X-Cache, Age"
)
_ACCEPTED: Final = "Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-ID"
_VARY: Final = (b"vary", b"Origin")


class CorsPolicy:
    """The CORS headers of one class of routes.

    Nothing here allows credentials: a browser sends a token because a script sets the header, never by
    itself. Where any origin may read, the headers do not depend on the request, so shared caches may
    keep one copy; otherwise the answer says that it varies.
    """

    def __init__(self, origins: Iterable[str], *, methods: str, always: Headers) -> None:
        """`methods` are those a preflight allows; `always` are headers that every answer bears besides."""
        allowed = list(origins)
        preflight = [
            (b"access-control-allow-methods", methods.encode()),
            (b"access-control-allow-headers", _ACCEPTED.encode()),
            (b"access-control-max-age", b"7200"),
        ]
        exposed = [(b"access-control-expose-headers", _EXPOSED.encode())]
        self._answers = _by_origin(allowed, exposed, always)
        self._preflights = _by_origin(allowed, preflight, always)
        self._otherwise = _otherwise(allowed, exposed, always)
        self._refused = _otherwise(allowed, preflight, always)

    def answer(self, origin: bytes | None) -> Headers:
        """What an answer to this origin bears; not to be changed."""
        return self._answers.get(origin, self._otherwise)

    def preflight(self, origin: bytes) -> Headers:
        """What an answer to this origin's preflight bears; not to be changed."""
        return self._preflights.get(origin, self._refused)


def _by_origin(origins: list[str], granted: Headers, always: Headers) -> dict[bytes | None, Headers]:
    if ANY in origins:
        return {}
    return {
        origin.encode(): [*always, (b"access-control-allow-origin", origin.encode()), *granted, _VARY]
        for origin in origins
    }


def _otherwise(origins: list[str], granted: Headers, always: Headers) -> Headers:
    if ANY in origins:
        return [*always, (b"access-control-allow-origin", b"*"), *granted]
    return [*always, _VARY] if origins else always
