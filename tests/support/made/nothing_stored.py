"""A database without bars and corporate actions."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from quotecast.history.known_actions import Known
from quotecast.market.own_bars import LiveInterval, OwnBar


class NothingStored:
    """What a service has that stores nothing."""

    async def read(
        self, _series: str, _symbols: Sequence[str], _interval: LiveInterval, _start: datetime, _end: datetime
    ) -> Mapping[str, Sequence[OwnBar]]:
        """Returns nothing."""
        return {}

    def note(self, *_said: object) -> None:
        """Forgets what a provider says about corporate actions."""

    async def known(self, _provider: str, symbols: Sequence[str], _at: datetime) -> Known:
        """Knows no actions."""
        return Known([], symbols)
