"""A database without bars."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from quotecast.market.own_bars import LiveInterval, OwnBar


class NothingStored:
    """Stored bars of a service that stores none."""

    async def read(
        self, _series: str, _symbols: Sequence[str], _interval: LiveInterval, _start: datetime, _end: datetime
    ) -> Mapping[str, Sequence[OwnBar]]:
        """Returns nothing."""
        return {}
