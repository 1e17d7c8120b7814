"""Plans: how much of the market a client may have, and how often.

A plan without a bound leaves the specification's bound in force. Two plans have names of their own:
`anonymous` is the plan of requests without a key, `user` that of users who are logged in and of the keys that
they make.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from quotecast.errors import QuotecastError
from quotecast.feed.commands import INTERVALS
from quotecast.feed.frames import Limits
from quotecast.market.feeds import Feed

ANONYMOUS: Final = "anonymous"
USER: Final = "user"
RESERVED: Final = (ANONYMOUS, USER)

#: Ways to data, apart from quotes over REST.
Door = Literal["bars", "financials", "mcp", "openbb", "replay", "sse", "udf", "websocket"]
DOORS: Final[tuple[Door, ...]] = (
    "bars", "financials", "mcp", "openbb", "replay", "sse", "udf", "websocket",
)  # fmt: skip
FeedName = Literal["market", "crypto", "doviz"]
FEEDS: Final[tuple[FeedName, ...]] = ("market", "crypto", "doviz")
#: Groups of routes with a limit that a plan may change.
Group = Literal["market", "crypto", "doviz", "financials", "search"]
PlanName = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9-]{0,39}\Z")]

MAX_PLANS: Final = 100


class Plan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The bounds of one plan; None leaves the specification's bound in force."""

    #: Requests in 60 seconds on one path, by group of routes.
    requests: Mapping[Group, Annotated[int, Meta(ge=1, le=1_000_000)]] = {}
    #: Open sockets and event streams of one key, over all workers.
    sockets: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    #: Named symbols of one socket.
    symbols: Annotated[int, Meta(ge=1, le=1000)] = Limits().symbols
    #: The least interval of updates in milliseconds.
    interval_ms: Literal[100, 250, 500, 1000, 5000] = INTERVALS[0]
    feeds: tuple[FeedName, ...] = FEEDS
    #: Days of the past that bars and recorded moments reach back.
    history_days: Annotated[int, Meta(ge=1, le=36_500)] | None = None
    doors: tuple[Door, ...] = DOORS

    def has_feed(self, feed: Feed) -> bool:
        """Whether the plan includes a feed."""
        return feed.spec.name in self.feeds


class PlanFileError(QuotecastError):
    """A file of plans is unreadable; the message says where."""

    code = "plans"


class _File(Struct, forbid_unknown_fields=True):
    plans: dict[PlanName, Plan] = {}


UNLIMITED: Final = Plan()


def read_plans(path: Path) -> dict[str, Plan]:
    """Returns the plans of a TOML file by name. Raises PlanFileError."""
    try:
        return parse_plans(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise PlanFileError(f"{path}: {error}") from None
    except PlanFileError as error:
        raise PlanFileError(f"{path}: {error}") from None


def parse_plans(text: str) -> dict[str, Plan]:
    """Returns the plans of a TOML text, each a table `[plans.<name>]`. Raises PlanFileError."""
    try:
        plans = msgspec.convert(tomllib.loads(text), _File).plans
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise PlanFileError(str(error)) from None
    if len(plans) > MAX_PLANS:
        raise PlanFileError(f"At most {MAX_PLANS} plans")
    return plans
