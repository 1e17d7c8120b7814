"""A day on which the stock exchange closes early."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from quotecast.providers.simulator.scenarios.base import Scenario, SpecialDay
from quotecast.providers.simulator.scenarios.parameters import new_york_date


class HalfDay(Scenario, frozen=True, kw_only=True, tag="half-day"):
    """The stock exchange closes at 13:00 in New York (`close`) on the New York date of the start."""

    close: Annotated[str, Meta(pattern="^([01][0-9]|2[0-3]):[0-5][0-9]$")] = "13:00"

    def special_days(self, start: int) -> Sequence[SpecialDay]:
        """See Scenario."""
        hours, minutes = self.close.split(":")
        return [SpecialDay(new_york_date(start), int(hours) * 60 + int(minutes))]
