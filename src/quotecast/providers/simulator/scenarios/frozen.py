"""A stream that stays connected and carries nothing."""

from quotecast.providers.simulator.scenarios.base import Scenario
from quotecast.providers.simulator.scenarios.parameters import Seconds, milliseconds_of


class Frozen(Scenario, frozen=True, kw_only=True, tag="frozen"):
    """Connections live but are silent, without heartbeats, for a minute; or `symbols` alone are silent."""

    seconds: Seconds = 60.0

    @property
    def milliseconds(self) -> int | None:
        """See Scenario."""
        return milliseconds_of(self.seconds)

    def is_silent(self, elapsed: int) -> bool:
        """See Scenario."""
        del elapsed
        return not self.symbols

    def delays(self, elapsed: int, number: int) -> tuple[int, ...]:
        """See Scenario."""
        del elapsed, number
        return ()
