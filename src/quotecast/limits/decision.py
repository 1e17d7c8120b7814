"""The answer of a rate limiter."""

from msgspec import Struct


class Decision(Struct, frozen=True, gc=False):
    """A rate limiter's answer to one request, and the state of its window after it."""

    admitted: bool
    limit: int
    #: Requests that the window would still admit.
    remaining: int
    #: Whole seconds, rounded up, until the oldest counted request leaves the window.
    reset: int
    #: Whether the worker refused from memory, without a call to Redis.
    remembered: bool = False
