"""Scenarios of the list of stocks and of the exchange's days."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from quotecast.simulation.market.hours import new_york_date
from quotecast.simulation.market.scenarios.base import Alteration, Listed, Scenario, SpecialDay


class NewListing(Scenario, frozen=True, kw_only=True, tag="new-listing"):
    """Instruments are listed from the start on: before it they have neither quotes nor bars."""

    symbols: tuple[str, ...] = ("RDDT",)

    def alterations(self, start: int) -> Sequence[Alteration]:
        """See Scenario."""
        return [Listed(start=start)]


class Delisting(Scenario, frozen=True, kw_only=True, tag="delisting"):
    """Instruments are listed until the start: after it they have no new quotes and bars."""

    symbols: tuple[str, ...] = ("INTC",)

    def alterations(self, start: int) -> Sequence[Alteration]:
        """See Scenario."""
        return [Listed(end=start)]


class Holiday(Scenario, frozen=True, kw_only=True, tag="holiday"):
    """The stock exchange stays closed on the New York date of the start, from midnight to midnight."""

    def special_days(self, start: int) -> Sequence[SpecialDay]:
        """See Scenario."""
        return [SpecialDay(new_york_date(start))]


class HalfDay(Scenario, frozen=True, kw_only=True, tag="half-day"):
    """The stock exchange closes at 13:00 in New York (`close`) on the New York date of the start."""

    close: Annotated[str, Meta(pattern="^([01][0-9]|2[0-3]):[0-5][0-9]$")] = "13:00"

    def special_days(self, start: int) -> Sequence[SpecialDay]:
        """See Scenario."""
        hours, minutes = self.close.split(":")
        return [SpecialDay(new_york_date(start), int(hours) * 60 + int(minutes))]
