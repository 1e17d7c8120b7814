"""Query parameters that a route does not have, but that look like one of its own."""

from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from litestar.handlers import BaseRouteHandler
from litestar.params import QueryParameter

from quotecast.api.services import HttpRequest
from quotecast.errors import UnknownParameter
from quotecast.similar_names import meant_name


async def refuse_unknown(request: HttpRequest) -> None:
    """Raises UnknownParameter for a misspelt name and for another route's name; other names are ignored."""
    query: bytes = request.scope["query_string"]
    if not query:
        return
    known = _names_of(request.route_handler)
    for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name not in known and (meant := meant_name(name, known)):
            raise UnknownParameter(name, meant)


@cache
def _names_of(handler: BaseRouteHandler) -> frozenset[str]:
    fields = handler.parsed_fn_signature.parameters.items()
    asked: list[tuple[str, Any]] = [(name, field.kwarg_definition) for name, field in fields]
    return frozenset(each.name or name for name, each in asked if isinstance(each, QueryParameter))
