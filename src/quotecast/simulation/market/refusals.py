"""How the simulator refuses requests while a scenario says so."""

from typing import Final

from quotecast.errors import UpstreamError
from quotecast.simulation.market.scenarios.base import Refusal
from quotecast.simulation.market.scenarios.schedule import Schedule

#: Seconds that a refusal asks to wait.
RETRY_SECONDS: Final = 5.0
_REASONS: Final[dict[Refusal, str]] = {
    "maintenance": "The simulator is under maintenance",
    "rate-limited": "The simulator refuses requests: too many of them",
}


def refusal_at(schedule: Schedule, moment: int) -> UpstreamError | None:
    """Returns the refusal of a request at a moment in Unix milliseconds; None for one that is answered."""
    refusal = schedule.refusal(moment)
    return UpstreamError(_REASONS[refusal], retry_after=RETRY_SECONDS) if refusal else None


def admit(schedule: Schedule, moment: int) -> None:
    """Lets a request pass. Raises UpstreamError, with `retry_after`, while a scenario refuses requests."""
    if refused := refusal_at(schedule, moment):
        raise refused
