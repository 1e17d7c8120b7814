"""Request bodies: JSON into structs, with errors that name the field."""

from collections.abc import Iterator
from typing import Any, Final, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import Struct

from quotecast.api.market.services import HttpRequest
from quotecast.complaints import choices_of, complaint
from quotecast.errors import InvalidValue, MalformedJson

#: Checks the syntax without reading values: a number may exceed any float.
_SYNTAX: Final = msgspec.json.Decoder(msgspec.Raw)

T = TypeVar("T")


async def body_of(request: HttpRequest, kind: type[T]) -> T:
    """Returns the request's body as a struct. Raises MalformedJson, or InvalidValue that names the field."""
    body = await request.body()
    try:
        # Finds bad syntax anywhere; a typed decoder would stop at the first wrong type.
        body.decode()
        _SYNTAX.decode(body)
    except (ValueError, RecursionError) as error:
        raise MalformedJson from error
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        text = str(error)
        field = complaint(text).field
        message = complaint(text, choices_of(_annotation(kind, field))).message
        raise InvalidValue(field or "body", message) from error


def _annotation(kind: type, field: str) -> Any:
    """Returns the annotation of a field such as `scope.feeds[0]`; None for one that no struct has."""
    name, _, rest = field.partition(".")
    annotation = get_type_hints(kind, include_extras=True).get(name.partition("[")[0])
    if not rest:
        return annotation
    inner = next(_structs(annotation), None)
    return inner and _annotation(inner, rest)


def _structs(annotation: Any) -> Iterator[type]:
    """Yields the structs in an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        yield annotation
    for part in get_args(annotation):
        yield from _structs(part)
