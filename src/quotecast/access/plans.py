"""Plans: how much of the market a client may have, how often, and how far into the past.

A plan without a bound leaves the specification's bound in force. Two plans have names of their own:
`anonymous` is the plan of requests without a key, `user` that of users who are logged in and of the keys that
they make.
"""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar, get_args

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from quotecast.access.errors import PastOutOfPlan
from quotecast.complaints import complaint
from quotecast.errors import QuotecastError
from quotecast.feed.commands import INTERVALS
from quotecast.feed.frames import Limits
from quotecast.market.feeds import Feed

ANONYMOUS: Final = "anonymous"
USER: Final = "user"
RESERVED: Final = (ANONYMOUS, USER)

#: Ways to data, apart from quotes over REST.
Door = Literal["bars", "financials", "mcp", "openbb", "replay", "sse", "udf", "websocket"]
DOORS: Final[tuple[Door, ...]] = get_args(Door)
FeedName = Literal["market", "crypto", "doviz"]
FEEDS: Final[tuple[FeedName, ...]] = get_args(FeedName)
#: Groups of routes with a limit that a plan may change.
Group = Literal["market", "crypto", "doviz", "financials", "search", "prices"]
#: How late quotes are: `delayed` ones by the service's one delay.
Freshness = Literal["live", "delayed"]
PlanName = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9-]{0,39}\Z")]

MAX_PLANS: Final = 100
_DAY: Final = 86_400


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
    freshness: Freshness = "live"
    #: Days of the past that bars and recorded moments reach back.
    history_days: Annotated[int, Meta(ge=1, le=36_500)] | None = None
    doors: tuple[Door, ...] = DOORS

    @property
    def is_delayed(self) -> bool:
        """Whether all that the plan shows of the market is late."""
        return self.freshness == "delayed"

    def has_feed(self, feed: Feed) -> bool:
        """Whether the plan includes a feed."""
        return feed.spec.name in self.feeds


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


class PlanFileError(QuotecastError):
    """A file of plans is unreadable; the message says where."""

    code = "plans"


class _File(Struct, forbid_unknown_fields=True):
    plans: dict[str, dict[str, Any]] = {}


UNLIMITED: Final = Plan()

#: The values of a plan's fields that have choices.
_CHOICES: Final[Mapping[str, Sequence[object]]] = {
    "interval_ms": INTERVALS,
    "feeds": FEEDS,
    "freshness": get_args(Freshness),
    "doors": DOORS,
}
T = TypeVar("T")


def of_everybody(plans: Mapping[str, Plan]) -> tuple[Plan, Plan]:
    """Returns the plans of clients without a key: that without a login, and that of users.

    Without a plan of their own, users have that of clients without a login.
    """
    anonymous = plans.get(ANONYMOUS, UNLIMITED)
    return anonymous, plans.get(USER, anonymous)


def read_plans(path: Path) -> dict[str, Plan]:
    """Returns the plans of a TOML file by name. Raises PlanFileError."""
    try:
        return parse_plans(path.read_text("utf-8"))
    except OSError as error:
        raise PlanFileError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise PlanFileError(f"{path} is not UTF-8") from None
    except PlanFileError as error:
        raise PlanFileError(f"{path}: {error}") from None


def parse_plans(text: str) -> dict[str, Plan]:
    """Returns the plans of a TOML text, each a table `[plans.<name>]`. Raises PlanFileError."""
    tables = _converted(_tables(text), _File, "").plans
    if len(tables) > MAX_PLANS:
        raise PlanFileError(f"Must have at most {MAX_PLANS} plans")
    return {check_name(name): _converted(table, Plan, f"plans.{name}") for name, table in tables.items()}


def parse_plan(text: str, name: str) -> Plan:
    """Returns one plan of a TOML text: the content of its table, or a whole file with `[plans.<name>]`.

    Raises PlanFileError.
    """
    tables = _tables(text)
    if "plans" not in tables:
        return _converted(tables, Plan, "")
    plans = parse_plans(text)
    if name not in plans:
        raise PlanFileError(f"The file has no table [plans.{name}]")
    return plans[name]


def check_name(name: str) -> str:
    """Returns the name of a plan. Raises PlanFileError."""
    try:
        return msgspec.convert(name, PlanName)
    except msgspec.ValidationError:
        rule = "1 to 40 of a-z, 0-9 and -, a letter first"
        raise PlanFileError(f"A plan's name has {rule}, not {name!r}") from None


def _tables(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanFileError(str(error)) from None


def _converted(value: dict[str, Any], kind: type[T], place: str) -> T:
    """Returns TOML as a struct. Raises PlanFileError, which names the field after `place`."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        field = complaint(str(error)).field
        choices = _CHOICES.get(field.partition("[")[0], ())
        where = ".".join(filter(None, (place, field)))
        raise PlanFileError(f"{where or 'plan'}: {complaint(str(error), choices).message}") from None
