"""The parameter that asks for what was known at a past moment."""

from typing import Annotated

from litestar.params import QueryParameter
from msgspec.structs import replace

from quotecast.api.market.services import Services
from quotecast.errors import InvalidValue
from quotecast.history.moments import parse_moment

AsOf = Annotated[
    str | None,
    QueryParameter(
        description=(
            "Answers what the service knew at this moment: ISO 8601 with a time zone, or Unix seconds. Later "
            "corrections do not change it"
        ),
        schema_extra={"examples": ["2026-11-20T14:31:00Z"]},
    ),
]


def view_as_of(services: Services, text: str | None) -> Services:
    """Returns the view that knows what was known at a moment; the same one without a moment.

    Raises InvalidValue, and PastOutOfPlan.
    """
    if text is None:
        return services
    moment, now, reach = parse_moment("as_of", text), services.now(), services.reach
    if not 0 <= moment <= now:
        raise InvalidValue("as_of", "Must be a moment from 1970 to now")
    if reach is not None:
        reach.require(moment, now)
    return replace(services, as_of=moment, reach=reach and reach.at(moment, now))
