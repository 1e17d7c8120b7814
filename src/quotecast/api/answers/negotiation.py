"""Content negotiation: entity tags and conditional requests (RFC 9110)."""

import hashlib
from collections.abc import Iterable

from quotecast.asgi import Header

VARY: Header = (b"vary", b"Accept-Encoding")


def content_tag(body: bytes) -> bytes:
    """Returns a weak entity tag: equal for equal content, on every worker."""
    return b'W/"%b"' % hashlib.blake2b(body, digest_size=9).hexdigest().encode()


def negotiation_headers(headers: Iterable[Header]) -> tuple[bytes, bytes]:
    """Returns a request's `If-None-Match` and `Accept-Encoding`, each empty where the request has none."""
    condition = encodings = b""
    for name, value in headers:
        if name == b"if-none-match":
            condition = b"%b,%b" % (condition, value)
        elif name == b"accept-encoding":
            encodings = value
    return condition, encodings


def matches(condition: bytes, tag: bytes) -> bool:
    """Whether an `If-None-Match` names the tag by weak comparison (RFC 9110, 8.8.3.2); `*` names any."""
    if not condition:
        return False
    names = {part.strip().removeprefix(b"W/") for part in condition.split(b",")}
    return b"*" in names or tag.removeprefix(b"W/") in names
