"""A vendor's limit of requests."""

from quotecast.providers.simulator.scenarios.base import Refusal, Scenario
from quotecast.providers.simulator.scenarios.parameters import Seconds, milliseconds_of


class RateLimited(Scenario, frozen=True, kw_only=True, tag="rate-limited"):
    """The vendor refuses requests and new connections because there were too many, for a minute."""

    seconds: Seconds = 60.0

    @property
    def milliseconds(self) -> int | None:
        """See Scenario."""
        return milliseconds_of(self.seconds)

    def refusal(self, elapsed: int) -> Refusal | None:
        """See Scenario."""
        del elapsed
        return "rate-limited"
