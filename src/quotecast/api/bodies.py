"""Request bodies: JSON into structs, with errors that name the field."""

import re
from typing import Final, TypeVar

import msgspec

from quotecast.api.parts import HttpRequest
from quotecast.errors import InvalidValue, MalformedJson

#: How the decoder ends a message on a value deeper than the whole.
_PLACE: Final = re.compile(r"(?P<message>.*?)(?: - at `\$\.?(?P<field>[^`]*)`)?", re.DOTALL)

T = TypeVar("T")


async def body_of(request: HttpRequest, kind: type[T]) -> T:
    """The request's body. Raises MalformedJson, or InvalidValue that names the field."""
    body = await request.body()
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise _invalid(str(error)) from error
    except (ValueError, RecursionError) as error:
        raise MalformedJson from error


def _invalid(text: str) -> InvalidValue:
    if missing := re.fullmatch(r"Object missing required field `(\w+)`", text):
        return InvalidValue(missing[1], "Missing")
    place = _PLACE.fullmatch(text)
    return InvalidValue(place["field"] or "body", place["message"]) if place else InvalidValue("body", text)
