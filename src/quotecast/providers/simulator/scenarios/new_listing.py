"""An instrument that begins to trade."""

from collections.abc import Sequence

from quotecast.providers.simulator.scenarios.base import Alteration, Listed, Scenario


class NewListing(Scenario, frozen=True, kw_only=True, tag="new-listing"):
    """Instruments are listed from the start on: before it they have neither quotes nor bars."""

    symbols: tuple[str, ...] = ("RDDT",)

    def alterations(self, start: int) -> Sequence[Alteration]:
        """See Scenario."""
        return [Listed(start=start)]
