"""Ambiguous requests: a proxy and the server behind it may understand them differently."""

from collections.abc import Mapping, Sequence
from typing import Any


def is_ambiguous(scope: Mapping[str, Any]) -> bool:
    """Whether a request breaks a rule of RFC 9112, sections 3.2 and 6.1, that the HTTP server accepts.

    A request must name one host (HTTP/1.0 may name none), be chunked at most once, and have one
    `Authorization`.
    """
    headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
    names = [name for name, _ in headers]
    hosts = [value for name, value in headers if name == b"host"]
    # Granian adds an empty Host to a request without one.
    if len(hosts) > 1 or (hosts in ([], [b""]) and scope.get("http_version") == "1.1"):
        return True
    if names.count(b"authorization") > 1:
        return True
    if b"transfer-encoding" not in names:
        return False
    codings = [value.strip().lower() for name, value in headers if name == b"transfer-encoding"]
    return codings != [b"chunked"]
