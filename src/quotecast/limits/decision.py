"""Paths with limits, and the decisions of a rate limiter."""

from enum import Enum

from msgspec import Struct


class LimitedPath(Struct, frozen=True):
    """A path with a limit: the template of its route, and the text of each parameter as the client wrote it.

    `limit` is in requests per window. With `by_address` a token does not change who is counted.
    """

    group: str
    limit: int
    template: str
    parameters: tuple[str, ...]
    by_address: bool = False


class Step(Enum):
    """The task of a worker for a cache: to count, to name the window, or to answer a counted request."""

    COUNT = "count"
    NAME = "name"
    ANSWER = "answer"


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
