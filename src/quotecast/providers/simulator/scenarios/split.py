"""A stock split."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from quotecast.providers.simulator.scenarios.base import Alteration, Scenario
from quotecast.providers.simulator.scenarios.base import Split as Shares
from quotecast.providers.simulator.scenarios.parameters import next_midnight


class Split(Scenario, frozen=True, kw_only=True, tag="split"):
    """Stocks split 2:1 (`ratio`) at the next midnight in New York, or at once without `overnight`.

    Adjusted history, previous closes and changes are in the new shares. Pairs do not split.
    """

    symbols: tuple[str, ...] = ("AAPL",)
    ratio: Annotated[float, Meta(ge=0.05, le=20)] = 2.0
    overnight: bool = True

    def alterations(self, start: int) -> Sequence[Alteration]:
        """See Scenario."""
        return [Shares(next_midnight(start) if self.overnight else start, self.ratio)]
