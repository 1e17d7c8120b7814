"""Stored bars, as the API reads them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from quotecast.feed.mirror import Mirror
from quotecast.market.own_bars import LiveInterval, OwnBar, series_name


class BarStore(Protocol):
    """The final bars of all feeds, as far as they are written."""

    async def read(
        self, series: str, symbols: Sequence[str], interval: LiveInterval, start: datetime, end: datetime
    ) -> Mapping[str, Sequence[OwnBar]]:
        """Returns the bars of each symbol of a series that open in [start, end), ascending.

        Raises DatabaseAway.
        """
        ...


def series_of(mirror: Mirror) -> str:
    """Returns the name of the stored bars that belong to a mirror's quotes."""
    return series_name(mirror.feed, mirror.info.market if mirror.info is not None else "")
