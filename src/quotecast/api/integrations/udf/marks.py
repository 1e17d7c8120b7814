"""Marks on a chart: the news about a stock."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from quotecast.api.bars.market import calendar_of_venue
from quotecast.api.integrations.udf.instruments import Instrument
from quotecast.api.integrations.udf.resolutions import chart_time_of
from quotecast.api.market.services import Services
from quotecast.market.bars import Interval, opening_of_bar
from quotecast.market.feeds import Feed

_COLOR: Final = "blue"
_FONT_COLOR: Final = "white"
#: Diameter of a mark in pixels.
_SIZE: Final = 14
_NEWS: Final = "N"
_INSTANT: Final = timedelta(microseconds=1)


class Marks(Struct, frozen=True):
    """Marks as a table: the n-th value of each column is of the n-th mark."""

    id: list[str]
    time: list[int]
    color: list[str]
    text: list[str]
    label: list[str]
    labelFontColor: list[str]  # noqa: N815 - TradingView's name
    minSize: list[int]  # noqa: N815 - TradingView's name


EXAMPLE_MARKS: Final = Marks(
    ["24843171"], [1_795_188_300], [_COLOR], ["Apple opens a store"], [_NEWS], [_FONT_COLOR], [_SIZE]
)


def marks_of(services: Services, instrument: Instrument, interval: Interval, start: int, end: int) -> Marks:
    """Returns the articles about a stock on the bars of their time, from `start` to `end` in chart time."""
    found: list[tuple[int, str, str]] = []
    if instrument.feed is Feed.STOCKS:
        calendar = calendar_of_venue(services.mirrors[Feed.STOCKS])
        for article in services.documents.news.items or ():
            if instrument.quote.key in article.symbols:
                # An article outside trading hours is on the last bar before it.
                moment = datetime.fromisoformat(article.created_at)
                day = next(calendar.until(moment))
                traded = min(moment, day.close - _INSTANT)
                opened = opening_of_bar(calendar, interval, traded) or day.open
                time = chart_time_of(int(opened.timestamp()), instrument.feed, interval)
                if start <= time <= end:
                    found.append((time, article.id, article.headline))
    found.sort()
    count = len(found)
    return Marks(
        id=[name for _, name, _ in found],
        time=[time for time, _, _ in found],
        color=[_COLOR] * count,
        text=[headline for _, _, headline in found],
        label=[_NEWS] * count,
        labelFontColor=[_FONT_COLOR] * count,
        minSize=[_SIZE] * count,
    )
