"""A vendor's maintenance."""

from quotecast.providers.simulator.scenarios.base import Refusal, Scenario
from quotecast.providers.simulator.scenarios.parameters import Seconds, milliseconds_of


class Maintenance(Scenario, frozen=True, kw_only=True, tag="maintenance"):
    """The vendor refuses requests and new connections, in its own words, for two minutes."""

    seconds: Seconds = 120.0

    @property
    def milliseconds(self) -> int | None:
        """See Scenario."""
        return milliseconds_of(self.seconds)

    def refusal(self, elapsed: int) -> Refusal | None:
        """See Scenario."""
        del elapsed
        return "maintenance"
