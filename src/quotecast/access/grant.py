"""The rights of a client: its plan, narrowed by the scope of its key."""

import zlib
from typing import Final

from msgspec import Struct

from quotecast.access.errors import DoorOutOfPlan, FeedOutOfPlan, OutOfScope
from quotecast.access.key_book import Holder
from quotecast.access.keys import Key
from quotecast.access.plans import Door, Plan
from quotecast.feed.frames import Limits
from quotecast.market.feeds import Feed

_DOOR_NAMES: Final[dict[Door, str]] = {
    "bars": "no bars",
    "financials": "no company financials",
    "mcp": "no tools for language models",
    "openbb": "no OpenBB Workspace",
    "replay": "no recorded moments and replays",
    "sse": "no event streams",
    "udf": "no TradingView data",
    "websocket": "no WebSocket feeds",
}


class Grant(Struct, frozen=True):
    """The rights of one client; without a key those of all clients on a plan."""

    plan_name: str
    plan: Plan
    key: Key | None = None
    #: Under which name requests count; empty for those without a key.
    client: str = ""
    #: Whether another client gets another answer at the same address.
    is_private: bool = False

    @classmethod
    def of(cls, holder: Holder) -> "Grant":
        """Returns the rights of a key's holder."""
        key, name = holder.key, holder.plan_name
        # Another plan has other limits, and a window has one limit.
        limits = zlib.crc32(repr(sorted(holder.plan.requests.items())).encode())
        return cls(name, holder.plan, key, f"key:{key.id}:{limits:08x}", is_private=True)

    def equals(self, other: "Grant") -> bool:
        """Whether two grants allow the same; the name and the secrets of a key do not count."""
        mine, others = (each.key.scope if each.key else None for each in (self, other))
        return (self.plan_name, self.plan, mine) == (other.plan_name, other.plan, others)

    def has_feed(self, feed: Feed) -> bool:
        """Whether the client may have quotes of a feed."""
        scope = self.key.scope.feeds if self.key else ()
        return self.plan.has_feed(feed) and (not scope or feed.spec.name in scope)

    def require_feed(self, feed: Feed) -> None:
        """Raises FeedOutOfPlan or OutOfScope for a feed that the client may not have."""
        if not self.plan.has_feed(feed):
            feeds = ", ".join(self.plan.feeds)
            raise FeedOutOfPlan(self.plan_name, f"includes {feeds} only" if feeds else "includes no feeds")
        if not self.has_feed(feed):
            raise OutOfScope(f"This API key is not for {feed.spec.name}")

    def require_door(self, door: Door) -> None:
        """Raises DoorOutOfPlan for a way to data that the plan leaves out."""
        if door not in self.plan.doors:
            raise DoorOutOfPlan(self.plan_name, f"has {_DOOR_NAMES[door]}")

    @property
    def only(self) -> tuple[str, ...]:
        """The names of symbols and groups that the client may have; empty for all."""
        return self.key.scope.symbols if self.key else ()

    @property
    def limits(self) -> Limits:
        """The bounds of a socket."""
        plan = self.plan
        return Limits(
            symbols=plan.symbols,
            interval=0 if plan.interval_ms == Plan().interval_ms else plan.interval_ms,
            only=self.only,
            bars="bars" in plan.doors,
            plan=self.plan_name,
        )
