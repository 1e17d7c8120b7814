"""An instrument that trades no longer."""

from collections.abc import Sequence

from quotecast.providers.simulator.scenarios.base import Alteration, Listed, Scenario


class Delisting(Scenario, frozen=True, kw_only=True, tag="delisting"):
    """Instruments are listed until the start: after it they have no new quotes and bars."""

    symbols: tuple[str, ...] = ("INTC",)

    def alterations(self, start: int) -> Sequence[Alteration]:
        """See Scenario."""
        return [Listed(end=start)]
