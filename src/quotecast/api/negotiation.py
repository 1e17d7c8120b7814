"""Content negotiation: entity tags, conditional requests and content codings (RFC 9110)."""

import hashlib
from collections.abc import Iterable
from functools import lru_cache

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


@lru_cache(maxsize=64)
def best_coding(header: bytes, available: tuple[bytes, ...]) -> bytes:
    """Returns the coding with the greatest weight in an `Accept-Encoding` (RFC 9110, 12.5.3); b"" for none.

    Of codings with equal weights the earliest in `available` wins.
    """
    weights = dict(_weighted(part) for part in header.lower().split(b","))
    others = weights.get(b"*", 0.0)
    best = max(available, key=lambda coding: weights.get(coding, others), default=b"")
    return best if weights.get(best, others) > 0 else b""


def _weighted(part: bytes) -> tuple[bytes, float]:
    """Returns a coding and its weight; 0 for a weight that is no number."""
    coding, _, parameter = part.partition(b";")
    name, _, weight = parameter.partition(b"=")
    if name.strip() != b"q":
        return coding.strip(), 1.0
    try:
        return coding.strip(), float(weight)
    except ValueError:
        return coding.strip(), 0.0
