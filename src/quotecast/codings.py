"""The choice of a content coding (RFC 9110, section 12.5.3)."""

from functools import lru_cache


@lru_cache(maxsize=64)
def best_coding(header: bytes, available: tuple[bytes, ...]) -> bytes:
    """Returns the coding with the greatest weight in an `Accept-Encoding`; b"" for none.

    Of codings with equal weights the earliest in `available` wins.
    """
    weights = dict(_weighted(part) for part in header.lower().split(b","))
    others = weights.get(b"*", 0.0)
    best = max(available, key=lambda coding: weights.get(coding, others), default=b"")
    return best if weights.get(best, others) > 0 else b""


def _weighted(part: bytes) -> tuple[bytes, float]:
    """Returns a coding and its weight; 0 for a weight that is not a number."""
    coding, _, parameter = part.partition(b";")
    name, _, weight = parameter.partition(b"=")
    if name.strip() != b"q":
        return coding.strip(), 1.0
    try:
        return coding.strip(), float(weight)
    except ValueError:
        return coding.strip(), 0.0
