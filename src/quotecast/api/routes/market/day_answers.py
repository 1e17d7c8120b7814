"""The day of a price or a rate in requests, and answers of a day."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Final

from quotecast.api.answers.answers import CACHE_QUOTES, Answer, SharedBody, cached_for, feed_answer
from quotecast.api.bars.market import MAX_AGE
from quotecast.api.bars.sources import PAST_SECONDS
from quotecast.api.market.services import Services, combined_state
from quotecast.api.routes.days import day_parameter, past_day
from quotecast.asgi import Header
from quotecast.market.feeds import Feed

EARLIEST: Final = date(1970, 1, 1)
#: The days after which own bars are written, and no close changes any more.
_SETTLED_AFTER: Final = timedelta(days=4)

Day = Annotated[
    str | None,
    day_parameter(
        "date", "Day whose close to answer, or else the last close before it; today by default", "2026-03-31"
    ),
]


def asked_day(services: Services, text: str | None, field: str = "date") -> date | None:
    """Returns a day of the past, by default that of the view's past moment; None for the present.

    Raises InvalidValue, and PastOutOfPlan for a day before the client's past.
    """
    if text is None:
        return None if services.as_of is None else services.moment().date()
    day = past_day(field, text, services.moment(), EARLIEST)
    if services.reach is not None:
        midnight = datetime.combine(day, time(), UTC)
        services.reach.require(midnight.timestamp(), services.now())
    return day


def answer_of_day(
    services: Services,
    body: bytes,
    feeds: Iterable[Feed],
    last: date | None,
    *more: Header,
    searched: Iterable[Feed] = (),
) -> Answer:
    """Returns the answer with prices up to a day, None for those of now alone.

    `searched` are feeds that may list what the answer lacks.
    """
    used = [feed for feed in services.configured() if feed in feeds and services.mirrors[feed].loaded]
    document, state = SharedBody(body), combined_state(services, used)
    if last is None:
        cache = CACHE_QUOTES
    else:
        # What was read by a past moment may still be on its way to the database.
        is_settled = last < (services.moment() - _SETTLED_AFTER).date() and services.as_of is None
        cache = cached_for(PAST_SECONDS if is_settled else MAX_AGE)
    mirrors = [services.mirrors[feed] for feed in services.configured() if feed in {*feeds, *searched}]
    marks = [(mirror, mirror.mark) for mirror in mirrors]

    def is_current() -> bool:
        unchanged = all(mirror.mark is mark for mirror, mark in marks)
        return last is None and unchanged and combined_state(services, used) == state

    return feed_answer(document, state, cache, *more, is_current=is_current)
