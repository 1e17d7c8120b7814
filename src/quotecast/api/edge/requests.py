"""What HTTP requests came to: their route, status and time, told as each is answered."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from quotecast.api.edge.middleware import REQUEST_ID
from quotecast.api.edge.throttle import DECISION, LIMITED
from quotecast.asgi import Scope
from quotecast.observe.histograms import Histogram

#: Stands for the route and method of what no route answered: no client's words become labels.
NO_ROUTE: Final = "other"


def route_of(scope: Mapping[str, Any]) -> tuple[str, str]:
    """Method and path template; both `other` if there was no route."""
    template = scope.get("path_template")
    return (scope["method"], template) if template else (NO_ROUTE, NO_ROUTE)


def described(scope: Mapping[str, Any]) -> dict[str, str]:
    """What a trace tells of a request: its route, if there was one, and its id."""
    method, route = route_of(scope)
    told = {"quotecast.request_id": scope.get(REQUEST_ID, "")}
    return told if method == NO_ROUTE else told | {"http.route": route}


class Requests:
    """Counts requests by method, route and status, and what limits decided by their group."""

    def __init__(self) -> None:
        # Keys as they are at hand: they become words when they are read.
        self._latencies: defaultdict[tuple[str, str, int], Histogram] = defaultdict(Histogram)
        self._decisions: defaultdict[tuple[str, bool, bool], int] = defaultdict(int)

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Counts one."""
        method, route = route_of(scope)
        self._latencies[method, route, status].observe(seconds)
        decision = scope.get(DECISION)
        if decision is not None:
            self._decisions[scope[LIMITED].group, decision.admitted, decision.remembered] += 1

    def latencies(self) -> dict[tuple[str, str, str], Histogram]:
        """By method, route and status."""
        return {
            (method, route, str(status)): each for (method, route, status), each in self._latencies.items()
        }

    def decisions(self) -> dict[tuple[str, str], int]:
        """By group and outcome: `admitted`, `refused`, or `remembered`, which is refused without asking."""
        return {
            (group, "admitted" if admitted else "remembered" if remembered else "refused"): count
            for (group, admitted, remembered), count in self._decisions.items()
        }
