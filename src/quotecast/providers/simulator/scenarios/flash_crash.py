"""A fall of prices within a minute, and their recovery."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from quotecast.providers.simulator.scenarios.base import Alteration, Ramp, Scenario
from quotecast.providers.simulator.scenarios.parameters import Seconds


class FlashCrash(Scenario, frozen=True, kw_only=True, tag="flash-crash"):
    """Prices fall by a tenth (`depth`) within a minute and recover within four."""

    depth: Annotated[float, Meta(ge=0.001, le=0.99)] = 0.1
    fall_seconds: Seconds = 60.0
    recovery_seconds: Seconds = 240.0

    @property
    def milliseconds(self) -> int | None:
        """See Scenario."""
        return round((self.fall_seconds + self.recovery_seconds) * 1000)

    def alterations(self, start: int) -> Sequence[Alteration]:
        """See Scenario."""
        bottom = start + round(self.fall_seconds * 1000)
        end = bottom + round(self.recovery_seconds * 1000)
        return [Ramp(((start, 1.0), (bottom, 1 - self.depth), (end, 1.0)))]
