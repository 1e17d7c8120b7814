"""The access log: one event for a share of the requests, without anything secret."""

import random
from collections.abc import Callable

import structlog

from quotecast.access.request_state import request_state
from quotecast.api.limits.requests import route_of
from quotecast.api.middleware.middleware import Observer
from quotecast.asgi import Scope

log = structlog.get_logger()


def access_log(fraction: float, chance: Callable[[], float] = random.random) -> Observer:
    """Returns an observer that logs each request with the probability `fraction`.

    `chance` draws a number from 0 to just below 1. The event has the route in place of the path, and no
    query: either may hold private data.
    """

    def observe(scope: Scope, status: int, seconds: float) -> None:
        if chance() < fraction:
            method, route = route_of(scope)
            log.info(
                "request",
                method=method,
                route=route,
                status=status,
                milliseconds=round(seconds * 1000, 3),
                request_id=request_state(scope).request_id,
            )

    return observe
