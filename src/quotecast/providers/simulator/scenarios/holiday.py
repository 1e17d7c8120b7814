"""A day on which the stock exchange stays closed."""

from collections.abc import Sequence

from quotecast.providers.simulator.scenarios.base import Scenario, SpecialDay
from quotecast.providers.simulator.scenarios.parameters import new_york_date


class Holiday(Scenario, frozen=True, kw_only=True, tag="holiday"):
    """The stock exchange stays closed on the New York date of the start, from midnight to midnight."""

    def special_days(self, start: int) -> Sequence[SpecialDay]:
        """See Scenario."""
        return [SpecialDay(new_york_date(start))]
