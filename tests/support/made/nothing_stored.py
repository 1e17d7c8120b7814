"""A database without bars, corporate actions and days."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from quotecast.history.feed_days import FeedMinutes, StoredDay
from quotecast.history.known_actions import ActionsAt
from quotecast.market.own_bars import LiveInterval, OwnBar


class NothingStored:
    """Stored bars of a service that stores none."""

    async def read(
        self, _series: str, _symbols: Sequence[str], _interval: LiveInterval, _start: datetime, _end: datetime
    ) -> Mapping[str, Sequence[OwnBar]]:
        """Returns nothing."""
        return {}


class NoDaysKnown:
    """What a service knows of past days that stores none."""

    async def record(self, *_said: object) -> None:
        """Forgets what a provider says."""

    async def read(self, _feed: str, _symbol: str, _at: datetime) -> None:
        """Knows no days."""


class NothingKnown:
    """What a service knows of corporate actions that stores none."""

    async def record(self, *_said: object) -> None:
        """Forgets what a provider says."""

    async def read(self, _provider: str, symbols: Sequence[str], _at: datetime) -> ActionsAt:
        """Knows no actions."""
        return ActionsAt([], symbols)


class NoDays:
    """The figures of days of a service that stores none."""

    minute_days = 30

    async def read(self, *_asked: object) -> Mapping[tuple[str, date], StoredDay]:
        """Knows no days."""
        return {}

    async def count_minutes(self, *_asked: object) -> FeedMinutes:
        """Counts nothing."""
        return FeedMinutes(0, 0, {})
