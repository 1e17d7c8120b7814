"""A gap between a close and the next open."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from quotecast.providers.simulator.scenarios.base import Alteration, Scenario, jump
from quotecast.providers.simulator.scenarios.parameters import next_midnight


class GapOpen(Scenario, frozen=True, kw_only=True, tag="gap-open"):
    """Instruments open 5 % higher (`size`) on the next trading day.

    Prices jump at the next midnight in New York.
    """

    symbols: tuple[str, ...] = ("AAPL",)
    size: Annotated[float, Meta(ge=-0.9, le=10)] = 0.05

    def alterations(self, start: int) -> Sequence[Alteration]:
        """See Scenario."""
        return [jump(next_midnight(start), 1 + self.size)]
