"""The offer of `history`: feeds that this or another installation recorded."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from quotecast.errors import InvalidValue
from quotecast.history.folder import Folder
from quotecast.history.moments import parse_moment
from quotecast.market.feeds import Feed
from quotecast.providers.history.client import RecordedProvider
from quotecast.providers.offer import Budgets, Offer, Terms


class HistorySettings(Struct, frozen=True, kw_only=True):
    """The variables `QUOTECAST_HISTORY_*` of the provider."""

    folder: Annotated[Path, Meta(description="Folder of the segments that the provider `history` plays")] = (
        Path("history")
    )
    at: Annotated[str, Meta(description="Moment from which it plays; empty: the first one")] = ""
    speed: Annotated[float, Meta(gt=0, le=1000, description="How many times faster than recorded")] = 1.0
    loop: Annotated[Literal["on", "off"], Meta(description="Whether it starts over at its end")] = "off"


def _problems(settings: HistorySettings) -> Iterator[str]:
    if not any(Folder(settings.folder).names(feed) for feed in Feed):
        yield f"FOLDER: {str(settings.folder)!r} holds no segments"
    try:
        parse_moment("at", settings.at or "0")
    except InvalidValue as error:
        yield f"AT: {error}"


def _quotes(feed: Feed, settings: HistorySettings, _budgets: Budgets) -> RecordedProvider:
    at = parse_moment("at", settings.at) if settings.at else None
    return RecordedProvider(settings.folder, feed, at=at, speed=settings.speed, loop=settings.loop == "on")


OFFER: Final = Offer[HistorySettings](
    settings=HistorySettings,
    problems=_problems,
    simulated=True,
    terms={"history": Terms(summary="those of what it recorded")},
    quotes={feed: partial(_quotes, feed) for feed in Feed},
)
