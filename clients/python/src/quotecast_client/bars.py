"""Requests for bars of any feed; no I/O."""

from __future__ import annotations

from typing import Any, NamedTuple, Union

from quotecast_client.calls import Call, Moment, path
from quotecast_client.names import split_name
from quotecast_client.rest_types import Adjusted, Bar, DovizBar, Hours, Interval, Order, Source, Span

#: A bar; the volume of doviz is None.
AnyBar = Union[Bar, DovizBar]


class BarWish(NamedTuple):
    """The bars of a symbol to read."""

    interval: Interval | None
    span: Span | None
    start: Moment | None
    end: Moment | None
    limit: int | None
    order: Order | None
    source: Source | None
    session: Hours | None
    as_of: Moment | None = None
    adjustment: Adjusted | None = None


def bar_calls(name: str, wish: BarWish) -> list[Call[list[AnyBar]]]:
    """Returns the requests to the feeds that may have a symbol, in the order in which to ask them."""
    feeds, symbol = split_name(name)
    calls = []
    for feed in feeds:
        query: dict[str, Any] = {
            "start": wish.start,
            "end": wish.end,
            "limit": wish.limit,
            "order": wish.order,
            "source": wish.source,
            "as_of": wish.as_of,
        }
        if feed == "market":
            query.update({"interval": wish.interval, "range": wish.span, "session": wish.session})
            query["adjustment"] = wish.adjustment
        else:
            query["timeframe"] = wish.interval
        calls.append(Call[list[AnyBar]]("GET", path(f"/api/{feed}/bars/{{}}", symbol), query))
    return calls
