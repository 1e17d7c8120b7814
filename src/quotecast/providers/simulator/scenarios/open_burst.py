"""The burst of messages when an exchange opens."""

from typing import Annotated

from msgspec import Meta

from quotecast.providers.simulator.scenarios.base import Scenario
from quotecast.providers.simulator.scenarios.parameters import Seconds, milliseconds_of


class OpenBurst(Scenario, frozen=True, kw_only=True, tag="open-burst"):
    """Many times the usual rate of messages: twenty times, for two minutes."""

    factor: Annotated[float, Meta(ge=0.01, le=1000)] = 20.0
    seconds: Seconds = 120.0

    @property
    def milliseconds(self) -> int | None:
        """See Scenario."""
        return milliseconds_of(self.seconds)

    def rate(self, elapsed: int) -> float:
        """See Scenario."""
        del elapsed
        return self.factor
