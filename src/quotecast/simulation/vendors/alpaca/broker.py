"""Alpaca's trading API as far as it is market data: assets, clock and calendar."""

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Final

from quotecast.market.calendars import VenueDay
from quotecast.market.sessions import NEW_YORK, trading_day
from quotecast.simulation.vendors.alpaca.errors import BadQuery
from quotecast.simulation.vendors.alpaca.market_source import MarketSource
from quotecast.simulation.vendors.alpaca.rows import text
from quotecast.simulation.vendors.http import Answer, Row

_DAYS_AHEAD: Final = timedelta(days=14)
#: Dates of the calendar.
_FIRST: Final = date(1970, 1, 1)
_LAST: Final = date(2029, 12, 31)
_FILTERS: Final = {"status": "status", "asset_class": "class", "exchange": "exchange"}


class Broker:
    """Answers at one moment."""

    def __init__(self, source: MarketSource, now: datetime) -> None:
        self._source = source
        self._now = now

    def routes(self) -> dict[str, Callable[[Mapping[str, str]], Answer]]:
        """Returns the answers by path."""
        return {"/v2/assets": self._assets, "/v2/clock": self._clock, "/v2/calendar": self._calendar}

    def asset(self, name: str) -> Answer:
        """Returns an asset by symbol or id."""
        for row in self._source.listed_assets():
            if name in {row["symbol"], row["id"]}:
                return Answer.of(row)
        return Answer.of({"code": 40410000, "message": f"asset not found for {name}"}, 404)

    def _assets(self, query: Mapping[str, str]) -> Answer:
        wanted = {field: query[name] for name, field in _FILTERS.items() if query.get(name)}
        # Alpaca lists stocks unless the request names another class.
        if "class" not in wanted:
            wanted["class"] = "us_equity"
        rows = self._source.listed_assets()
        return Answer.of([row for row in rows if all(row[field] == value for field, value in wanted.items())])

    def _clock(self, _query: Mapping[str, str]) -> Answer:
        now = self._now
        today = now.astimezone(NEW_YORK).date()
        days = self._source.sessions(today, today + _DAYS_AHEAD)
        return Answer.of(
            {
                "timestamp": text(now, digits=9).replace("Z", "+00:00"),
                "is_open": any(day.open <= now < day.close for day in days),
                "next_open": _local(next(day.open for day in days if day.open > now)),
                "next_close": _local(next(day.close for day in days if day.close > now)),
            }
        )

    def _calendar(self, query: Mapping[str, str]) -> Answer:
        first, last = (
            _date_of(query, name, default) for name, default in (("start", _FIRST), ("end", _LAST))
        )
        if last < first:
            raise BadQuery("end date should be after start date")
        return Answer.of([_day(each) for each in self._source.sessions(max(first, _FIRST), min(last, _LAST))])


def _day(session: VenueDay) -> Row:
    opened, closed = session.open.astimezone(NEW_YORK), session.close.astimezone(NEW_YORK)
    # A day that ends at midnight has no later time of its own date.
    close = f"{closed:%H:%M}" if closed.date() == session.date else "23:59"
    extended = trading_day(session.date)
    is_usual = extended is not None and extended.open == session.open
    hours = (extended.pre_open, extended.post_close) if extended and is_usual else (opened, closed)
    names = [f"{each.astimezone(NEW_YORK):%H%M}" for each in hours]
    return {
        "date": f"{session.date}",
        "open": f"{opened:%H:%M}",
        "close": close,
        "session_open": names[0],
        "session_close": names[1],
        "settlement_date": f"{session.date + timedelta(days=1)}",
    }


def _date_of(query: Mapping[str, str], name: str, default: date) -> date:
    try:
        return datetime.fromisoformat(query[name]).date() if name in query else default
    except ValueError as error:
        raise BadQuery(f"invalid {name}") from error


def _local(moment: datetime) -> str:
    return moment.astimezone(NEW_YORK).isoformat()
