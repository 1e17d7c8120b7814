"""A service that has read the days of one stock several times, and was told of a correction."""

from datetime import UTC, datetime, timedelta
from typing import Final

from quotecast.database.database import Database
from quotecast.history.known_bars import KnownBars, Series
from quotecast.market.bars import Bar
from support.stages.bar_service import bar

APPLE: Final = Series("stocks", "AAPL", "test")
DAY: Final = timedelta(days=1)
HOUR: Final = timedelta(hours=1)
#: Thursday evening, when the service reads for the first time.
FIRST: Final = datetime(2026, 11, 19, 22, tzinfo=UTC)
_MONDAY: Final = datetime(2026, 11, 16, 5, tzinfo=UTC)


def days(*closes: float) -> list[Bar]:
    """Returns daily bars of New York from Monday on."""
    return [bar(_MONDAY + number * DAY, close) for number, close in enumerate(closes)]


async def days_read(database: Database) -> KnownBars:
    """Reads three days, then the same, then a correction of the second one, and then a fourth day."""
    known = KnownBars(database)
    corrected = days(1, 2.5, 3, 4)
    for hours, said in enumerate((days(1, 2, 3), days(1, 2, 3), corrected[:3], corrected[2:])):
        await known.record(APPLE, said, FIRST + hours * HOUR)
    return known
