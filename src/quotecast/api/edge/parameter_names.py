"""Query parameters that a route does not have, but that look like one of its own."""

import difflib
from functools import cache
from typing import Any, Final
from urllib.parse import parse_qsl

from litestar.handlers import BaseRouteHandler
from litestar.params import QueryParameter

from quotecast.api.services import HttpRequest
from quotecast.errors import UnknownParameter

#: Names of one thing on different routes, here and elsewhere.
_SIBLINGS: Final = (
    {"start", "from", "since"},
    {"end", "to", "until"},
    {"limit", "count", "countback"},
    {"interval", "timeframe", "resolution"},
    {"symbols", "symbol", "ticker", "tickers"},
)
#: Shorter names are of cache busters.
_LEAST_LETTERS: Final = 3
#: One or two letters off.
_LIKENESS: Final = 0.8


async def refuse_unknown(request: HttpRequest) -> None:
    """Raises UnknownParameter for a misspelt name and for another route's name; other names are ignored."""
    query: bytes = request.scope["query_string"]
    if not query:
        return
    known = _names_of(request.route_handler)
    for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name not in known and (meant := _meant(name, known)):
            raise UnknownParameter(name, meant)


@cache
def _names_of(handler: BaseRouteHandler) -> frozenset[str]:
    fields = handler.parsed_fn_signature.parameters.items()
    asked: list[tuple[str, Any]] = [(name, field.kwarg_definition) for name, field in fields]
    return frozenset(each.name or name for name, each in asked if isinstance(each, QueryParameter))


def _meant(name: str, known: frozenset[str]) -> str | None:
    for names in _SIBLINGS:
        if name in names and names & known:
            return min(names & known)
    near = (
        difflib.get_close_matches(name, known, n=1, cutoff=_LIKENESS) if len(name) >= _LEAST_LETTERS else []
    )
    return near[0] if near else None
