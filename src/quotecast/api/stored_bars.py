"""Stored bars, as the API reads them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LiveInterval, OwnBar


class StoredBars(Protocol):
    """The final bars of all feeds, as far as they are written."""

    async def read(
        self,
        feed: Feed,
        symbols: Sequence[str],
        interval: LiveInterval,
        start: datetime,
        end: datetime,
        *,
        limit: int | None = None,
        newest: bool = False,
    ) -> Mapping[str, Sequence[OwnBar]]:
        """Returns each symbol's bars that open in [start, end), ascending. Raises DatabaseAway."""
        ...
