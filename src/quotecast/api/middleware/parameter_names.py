"""Query parameters that a route does not have, but that look like one of its own."""

from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from litestar.handlers import BaseRouteHandler
from litestar.params import QueryParameter

from quotecast.api.market.services import HttpRequest
from quotecast.errors import UnknownParameter
from quotecast.similar_names import meant_name, misspelt


async def refuse_unknown(request: HttpRequest) -> None:
    """Raises UnknownParameter for a misspelt name and for another route's name; other names are ignored."""
    query: bytes = request.scope["query_string"]
    if not query:
        return
    names = (name for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True))
    if found := misspelt(names, _names_of(request.route_handler), meant_name):
        raise UnknownParameter(*found)


@cache
def _names_of(handler: BaseRouteHandler) -> frozenset[str]:
    fields = handler.parsed_fn_signature.parameters.items()
    asked: list[tuple[str, Any]] = [(name, field.kwarg_definition) for name, field in fields]
    return frozenset(each.name or name for name, each in asked if isinstance(each, QueryParameter))
