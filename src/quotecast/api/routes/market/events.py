"""Event streams of the feeds, as OpenAPI shows them, and the answers to the requests that they refuse.

`quotecast.stream.event_stream` serves the streams in front of the routes.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Final, NoReturn

from litestar import Router, get
from litestar.openapi import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import HeaderParameter, QueryParameter

from quotecast.access.request_state import request_state
from quotecast.api.market.parameters import number_parameter, optional_schema, text_parameter
from quotecast.api.market.services import HttpRequest
from quotecast.api.reference.openapi import ID, Reading, refused
from quotecast.asgi import EVENTS_PATH
from quotecast.errors import FieldProblem, NoData, Problem, UpgradeRequired
from quotecast.feed.commands import DEFAULT_INTERVAL, INTERVALS, MAX_HEARTBEAT_SECONDS, MIN_HEARTBEAT_SECONDS
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LIVE_INTERVALS
from quotecast.stream.handshakes import FULL

_SHOWN: Final = (
    'retry: 1731\ndata: {"type":"welcome","feed":"market","epoch":"01a1fbdce3accb15dff6.fe29","seq":2376,'
    '"heartbeatMs":15000,"limits":{"symbols":1000},"connection":"5f0c9b3a7d21e846"}\n\n'
    'id: 01a1fbdce3accb15dff6.fe29-2463\ndata: {"type":"update","epoch":"01a1fbdce3accb15dff6.fe29",'
    '"seq":2463,"data":[{"ticker":"AAPL","price":299.24}]}\n\n'
)
_CURSOR: Final = "01a1fbdce3accb15dff6.fe29-2463"


#: The feed reads the parameters itself: here they are texts, so that its own errors are answered.
Symbols = Annotated[
    str | None,
    text_parameter(
        "symbols",
        "Symbols or groups with commas between them, or `all`; at least one",
        examples=["AAPL,MSFT"],
    ),
]
Interval = Annotated[
    str | None,
    number_parameter(
        "interval",
        "Minimum milliseconds between two updates",
        examples=[500],
        enum=[*INTERVALS],
        default=DEFAULT_INTERVAL,
    ),
]
Fields = Annotated[
    str | None,
    text_parameter(
        "fields", "The fields that move which the client needs; by default all of them", examples=["price"]
    ),
]
Bars = Annotated[
    str | None,
    text_parameter(
        "bars",
        "Interval of live bars of the symbols",
        examples=["1m"],
        enum=[*LIVE_INTERVALS, "none"],
        default="none",
    ),
]
BarsSince = Annotated[
    str | None,
    text_parameter(
        "bars_since",
        "Time up to which the client has final bars, in ISO 8601",
        examples=["2026-11-20T15:30:00Z"],
    ),
]
Since = Annotated[
    str | None,
    text_parameter(
        "since",
        "`<epoch>-<seq>` of the last frame; counts only without `Last-Event-ID`",
        examples=[_CURSOR],
    ),
]
Snapshot = Annotated[
    str | None,
    QueryParameter(
        name="snapshot",
        description="`false`: no snapshot comes, only changes",
        schema_extra=optional_schema("boolean", examples=[False], default=True),
    ),
]
Heartbeat = Annotated[
    str | None,
    number_parameter(
        "heartbeat",
        "Seconds between two heartbeats; by default as the service is set (15)",
        examples=[5],
        minimum=MIN_HEARTBEAT_SECONDS,
        maximum=MAX_HEARTBEAT_SECONDS,
    ),
]
LastEventId = Annotated[
    str | None,
    HeaderParameter(
        name="Last-Event-ID",
        description="`id` of the last event: the cursor to resume from. `EventSource` sends it by itself",
        schema_extra=optional_schema("string", examples=[_CURSOR]),
    ),
]


@dataclass
class EventReading(Reading):
    """An operation whose answer is an endless stream of events."""

    def _headers_of(self, status: str) -> list[str]:
        return ["X-Request-ID"] if status == "200" else super()._headers_of(status)


def _responses(feed: Feed) -> dict[int, ResponseSpec]:
    return {
        200: ResponseSpec(
            data_container=str,
            generate_examples=False,
            media_type="text/event-stream",
            description="The frames of the feed, one message each, until the client or the worker leaves",
            examples=[Example(summary="Example", value=_SHOWN)],
        ),
        422: refused(
            "A parameter is out of bounds",
            Problem(
                "Invalid symbols",
                "invalid",
                ID,
                [FieldProblem("symbols", "Name at least one symbol, or all")],
            ),
        ),
        503: refused(
            "The worker or the address has as many feeds as it may, or the feed has no data or no provider",
            Problem(FULL["worker_full"], "service_unavailable", ID),
            Problem(f"No data yet for {feed}", "no_data", ID),
            Problem(f"No provider configured for {feed}", "no_provider", ID),
        ),
    }


_SUMMARIES: Final = {
    Feed.STOCKS: "Stream of the market's quotes",
    Feed.CRYPTO: "Stream of the pairs' quotes",
    Feed.DOVIZ: "Stream of currencies', metals' and gold's quotes",
}


def _route(feed: Feed) -> Any:
    operation_id = f"stream{feed.spec.name.capitalize()}"

    @get(
        f"/{feed.spec.name}",
        operation_id=operation_id,
        summary=_SUMMARIES[feed],
        operation_class=EventReading,
        responses=_responses(feed),
        sync_to_thread=False,
        name=operation_id,
        opt={"feed": feed},
    )
    def answer_refusal(
        request: HttpRequest,
        *,
        symbols: Symbols = None,
        interval: Interval = None,
        fields: Fields = None,
        bars: Bars = None,
        bars_since: BarsSince = None,
        since: Since = None,
        snapshot: Snapshot = None,
        heartbeat: Heartbeat = None,
        last_event_id: LastEventId = None,
    ) -> NoReturn:
        """The frames of the WebSocket feed as server-sent events, for `EventSource`, `curl -N` and proxies.

        Each frame is a plain message; its `id` is the cursor to resume from. A heartbeat is a comment unless
        the feed's state changes. See the guide for the protocol.
        """
        del symbols, interval, fields, bars, bars_since, since, snapshot, heartbeat, last_event_id
        raise request_state(request.scope).refusal or NoData(feed)

    return answer_refusal


ROUTER: Final = Router(
    EVENTS_PATH,
    route_handlers=[_route(feed) for feed in Feed],
    tags=["Event streams"],
    opt={"tag": "Feeds as server-sent events; they have no rate limit.", "door": "sse", "symbols": "nowhere"},
)


@get(
    ["/", *(f"/{part}{feed.spec.name}" for part in ("", "openbb/") for feed in Feed)],
    sync_to_thread=False,
    include_in_schema=False,
)
def ask_for_upgrade() -> None:
    """Raises UpgradeRequired: a feed is a WebSocket."""
    raise UpgradeRequired


#: Plain requests for the paths of sockets.
SOCKETS_ROUTER: Final = Router("/api/ws", route_handlers=[ask_for_upgrade], opt={"feed": None})
