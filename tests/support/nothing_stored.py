"""A database without bars."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LiveInterval, OwnBar


class NothingStored:
    """Stored bars of a service that stores none."""

    async def read(
        self,
        _feed: Feed,
        _symbols: Sequence[str],
        _interval: LiveInterval,
        _start: datetime,
        _end: datetime,
        *,
        limit: int | None = None,  # noqa: ARG002 - as StoredBars
        newest: bool = False,  # noqa: ARG002 - as StoredBars
    ) -> Mapping[str, Sequence[OwnBar]]:
        """Returns nothing."""
        return {}
