"""Types, dates and randomness that the parameters and hooks of scenarios share."""

from datetime import date
from typing import Annotated, Final

from msgspec import Meta

from quotecast.market.sessions import NEW_YORK
from quotecast.simulation.market.hours import local_ordinal, midnight_of
from quotecast.simulation.market.noise import noise

DAY_SECONDS: Final = 86_400

#: Seconds of market time, at most a week.
Seconds = Annotated[float, Meta(ge=0.1, le=7 * DAY_SECONDS)]
#: Milliseconds of a delay, at most a minute.
Milliseconds = Annotated[int, Meta(ge=0, le=60_000)]
#: One of so many messages, on average.
OneOf = Annotated[int, Meta(ge=1, le=1_000_000)]


def new_york_date(moment: int) -> date:
    """Returns the date in New York at a moment in Unix milliseconds."""
    return date.fromordinal(local_ordinal(moment, NEW_YORK))


def next_midnight(moment: int) -> int:
    """Returns the first midnight in New York after a moment, both in Unix milliseconds."""
    return midnight_of(local_ordinal(moment, NEW_YORK) + 1, NEW_YORK)


def draw(key: bytes, number: int) -> int:
    """Returns 32 random bits, the same ones for the same key and number."""
    return int.from_bytes(noise(key, number, 0, 4))
