"""How far into the past a plan reaches."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.access.errors import PastOutOfPlan

_DAY: Final = 86_400


class Reach(Struct, frozen=True):
    """The days of the past that a plan has."""

    plan_name: str
    days: int
    #: Days by which a view of the past is behind the present, from which the plan counts.
    behind: int = 0

    def start(self, now: float) -> int:
        """Returns the Unix time at which the plan's past begins: the start of a day, in UTC."""
        return (int(now) // _DAY + self.behind - self.days) * _DAY

    def at(self, moment: float, now: float) -> "Reach":
        """Returns the same past, as a view of a moment counts it."""
        return replace(self, behind=int(now) // _DAY - int(moment) // _DAY)

    def require(self, moment: float, now: float) -> None:
        """Raises PastOutOfPlan for a moment before the plan's past."""
        if moment < self.start(now):
            raise PastOutOfPlan(self.plan_name, f"has at most {self.days} days of the past")
