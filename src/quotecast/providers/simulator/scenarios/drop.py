"""Connections that break."""

from quotecast.providers.simulator.scenarios.base import Scenario
from quotecast.providers.simulator.scenarios.parameters import Seconds, milliseconds_of


class Drop(Scenario, frozen=True, kw_only=True, tag="drop"):
    """All connections break every 30 seconds, without a close frame; the first time after 30 seconds."""

    every: Seconds = 30.0
    seconds: Seconds | None = None

    @property
    def milliseconds(self) -> int | None:
        """See Scenario."""
        return milliseconds_of(self.seconds)

    def drops(self, before: int, elapsed: int) -> bool:
        """See Scenario."""
        period = round(self.every * 1000)
        return before // period < elapsed // period
