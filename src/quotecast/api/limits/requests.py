"""Counts of HTTP requests: by route, status and time, taken when the answer begins."""

import random
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final

import structlog

from quotecast.access.request_state import request_state
from quotecast.api.middleware.middleware import Observer
from quotecast.asgi import Scope
from quotecast.observe.histograms import Histogram

log = structlog.get_logger()
#: The route and method of a request that matches no route, so that no client's text becomes a label.
NO_ROUTE: Final = "other"


def route_of(scope: Mapping[str, Any]) -> tuple[str, str]:
    """Returns method and path template; both are `other` if no route matched."""
    template = scope.get("path_template")
    return (scope["method"], template) if template else (NO_ROUTE, NO_ROUTE)


def span_attributes(scope: Mapping[str, Any]) -> dict[str, str]:
    """Returns the attributes of a request's trace span: its id, and its route if one matched."""
    method, route = route_of(scope)
    attributes = {"quotecast.request_id": request_state(scope).request_id}
    return attributes if method == NO_ROUTE else attributes | {"http.route": route}


class Requests:
    """Counts requests by method, route and status, and decisions of rate limits by group."""

    def __init__(self) -> None:
        # Raw tuples; formatted as labels when scraped.
        self._latencies: defaultdict[tuple[str, str, int], Histogram] = defaultdict(Histogram)
        self._decisions: defaultdict[tuple[str, bool, bool], int] = defaultdict(int)

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Counts one request."""
        method, route = route_of(scope)
        self._latencies[method, route, status].observe(seconds)
        state = request_state(scope)
        decision, path = state.decision, state.path
        if decision is not None and path is not None:
            self._decisions[path.group, decision.admitted, decision.remembered] += 1

    def latencies(self) -> dict[tuple[str, str, str], Histogram]:
        """Returns histograms of seconds by method, route and status."""
        return {
            (method, route, str(status)): each for (method, route, status), each in self._latencies.items()
        }

    def decisions(self) -> dict[tuple[str, str], int]:
        """Returns counts by group and outcome: `admitted`, `refused` or `remembered`.

        `remembered` is a refusal that needed no call of Redis.
        """
        return {
            (group, "admitted" if admitted else "remembered" if remembered else "refused"): count
            for (group, admitted, remembered), count in self._decisions.items()
        }


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
