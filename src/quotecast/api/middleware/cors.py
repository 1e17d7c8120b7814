"""CORS: the origins that may read an answer in a browser, as prepared lists of headers."""

import re
from collections.abc import Iterable
from typing import Final

from quotecast.asgi import Headers

ANY: Final = "*"

#: Origins on the browser's own machine, on any port.
_LOCAL: Final = re.compile(rb"https?://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?")

_EXPOSED: Final = (
    "X-Request-ID, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, "
    "X-Missing-Count, X-Missing-Symbols, X-Renamed-Symbols, X-Total-Count, X-Cache, Age, X-Feed-State, "
    "X-Next-After, X-Next-Page, X-Plan, X-Source, X-Tick-Size, X-Session"
)
_ACCEPTED: Final = (
    "Authorization, Cache-Control, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, "
    "MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, X-API-Key, X-Request-ID"
)
_VARY: Final = (b"vary", b"Origin")


class CorsPolicy:
    """The CORS headers of one class of routes.

    No route allows credentials: a script sets the token's header, a browser never adds it by itself. Where
    any origin may read, the headers do not depend on the request, so shared caches may store one copy;
    otherwise the answer has `Vary: Origin`.
    """

    def __init__(
        self, origins: Iterable[str], *, methods: str, always: Headers, with_local: bool = False
    ) -> None:
        """`methods` are allowed in a preflight; `always` are headers of every answer.

        `with_local` also admits pages of the browser's own machine.
        """
        allowed = list(origins)
        preflight = [
            (b"access-control-allow-methods", methods.encode()),
            (b"access-control-allow-headers", _ACCEPTED.encode()),
            (b"access-control-max-age", b"7200"),
        ]
        exposed = [(b"access-control-expose-headers", _EXPOSED.encode())]
        #: Headers of an answer, and of a preflight's, by origin; callers must not change the lists.
        self.answer = _CorsHeaders(allowed, exposed, always, with_local=with_local).headers
        self.preflight = _CorsHeaders(allowed, preflight, always, with_local=with_local).headers


class _CorsHeaders:
    """The headers of one kind of answer, by origin."""

    def __init__(
        self, origins: list[str], permissions: Headers, always: Headers, *, with_local: bool
    ) -> None:
        named = [] if ANY in origins else origins
        self._permissions = permissions
        self._always = always
        self._with_local = with_local and ANY not in origins
        self._by_origin = {origin.encode(): self._to(origin.encode()) for origin in named}
        if ANY in origins:
            self._default = [*always, (b"access-control-allow-origin", b"*"), *permissions]
        else:
            self._default = [*always, _VARY] if origins or with_local else always

    def headers(self, origin: bytes | None) -> Headers:
        if self._with_local and origin is not None and _LOCAL.fullmatch(origin):
            return self._to(origin)
        return self._by_origin.get(origin or b"", self._default)

    def _to(self, origin: bytes) -> Headers:
        return [*self._always, (b"access-control-allow-origin", origin), *self._permissions, _VARY]
