"""Ambiguous requests: a proxy and the server behind it may understand them differently."""

from collections.abc import Mapping, Sequence
from typing import Any


def is_ambiguous(scope: Mapping[str, Any]) -> bool:
    """Whether a request breaks a rule of RFC 9112, sections 3.2 and 6.1, that the HTTP server accepts.

    A request must name one host (HTTP/1.0 may name none), be chunked at most once, and have one
    `Authorization`.
    """
    headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
    host, hosts, authorizations, codings = b"", 0, 0, None
    # One loop: every request passes here.
    for name, value in headers:
        if name == b"host":
            host = value
            hosts += 1
        elif name == b"authorization":
            authorizations += 1
        elif name == b"transfer-encoding":
            codings = [*(codings or []), value.strip().lower()]
    # Granian adds an empty Host to a request without one.
    if hosts > 1 or (not host and scope.get("http_version") == "1.1"):
        return True
    return authorizations > 1 or codings not in (None, [b"chunked"])
