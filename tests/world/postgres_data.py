"""The tables of a simulated PostgreSQL, and how statements on them are declared.

Rows do not change: a statement replaces them. So a transaction copies the tables, not their rows.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

from msgspec import Struct

from world.postgres_types import Type


class PostgresError(Exception):
    """An answer with an SQLSTATE."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Alert(Struct, frozen=True, kw_only=True):
    """A row of `alerts`."""

    id: str
    user_id: str
    kind: str
    ticker: str
    threshold: float
    armed_at: datetime
    measure: str = "price"
    direction: str = "up"
    note: str = ""
    repeats: bool = False
    active: bool = True
    by_webhook: bool = False
    events: int = 0


class Event(Struct, frozen=True):
    """A row of `alert_events`, as far as worlds look at it."""

    id: int
    user_id: str
    alert_id: str
    crossing: str
    ticker: str
    value: float
    price: float
    happened_at: datetime
    #: When it was written, by PostgreSQL's clock.
    made_at: datetime


class Webhook(Struct, frozen=True, kw_only=True):
    """A row of `webhooks`."""

    user_id: str
    url: str
    signing_secret: str


class Delivery(Struct, frozen=True, kw_only=True):
    """A row of `alert_deliveries`, to a webhook."""

    id: int
    event_id: int
    user_id: str
    created_at: datetime
    next_at: datetime
    attempts: int = 0
    state: str = "waiting"


class KeyRow(Struct, frozen=True, kw_only=True):
    """A row of `api_keys`."""

    id: str
    secret_hash: str
    created_at: datetime
    user_id: str | None = None
    name: str = "key"
    plan: str = ""
    previous_hash: str | None = None
    previous_until: datetime | None = None
    scope: str = "{}"
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


class Tables:
    """All tables; each has its rows by their primary key."""

    #: The time of the running statement.
    now: datetime

    def __init__(self) -> None:
        self.alerts: dict[str, Alert] = {}
        self.alert_changes: dict[str, int] = {}
        self.alert_crossings_written: dict[str, str] = {}
        self.alert_events: dict[int, Event] = {}
        self.alert_deliveries: dict[int, Delivery] = {}
        #: The users of sessions.
        self.sessions: dict[str, str] = {}
        self.webhooks: dict[str, Webhook] = {}
        self.api_keys: dict[str, KeyRow] = {}
        self.key_changes: dict[bool, int] = {True: 0}
        self.plans: dict[str, str] = {}
        self.api_key_usage: dict[tuple[str, Any], tuple[int, ...]] = {}
        self.api_key_usage_batches: dict[str, int] = {}
        self.bars_written: dict[str, datetime] = {}
        #: Bars by interval, feed, symbol and opening.
        self.bars: dict[tuple[str, str, str, datetime], tuple[Any, ...]] = {}
        self.partitions: dict[str, str] = {}
        #: Figures by feed, day and process.
        self.feed_days: dict[tuple[str, Any, str], str] = {}
        #: The temporary table of arriving bars.
        self.arriving: dict[int, tuple[Any, ...]] = {}

    def copy(self) -> "Tables":
        """Returns tables that change apart from these."""
        other = Tables()
        for name, rows in vars(self).items():
            setattr(other, name, dict(rows) if isinstance(rows, dict) else rows)
        return other

    def without_temporary(self) -> "Tables":
        """Drops the temporary table."""
        self.arriving = {}
        return self


class Statement(Struct, frozen=True):
    """What a statement does: `run` returns its rows, or one item for each row that it changed."""

    run: Callable[..., Iterable[Any]]
    parameters: Sequence[Type] = ()
    columns: Mapping[str, Type] = {}
    #: The tag of its answer, before the number of rows.
    tag: str = "SELECT "
    writes: bool = False


#: The statements by their text, and those whose text has names in it.
STATEMENTS: Final[dict[str, Statement]] = {}
SHAPES: Final[dict[re.Pattern[str], Callable[..., Statement]]] = {}

Run = TypeVar("Run", bound=Callable[..., Any])


def reads(text: str, *parameters: Type, **columns: Type) -> Callable[[Run], Run]:
    """Declares what a statement reads."""

    def declare(run: Run) -> Run:
        STATEMENTS[text] = Statement(run, parameters, columns)
        return run

    return declare


def writes(text: str, *parameters: Type, tag: str = "INSERT 0 ", **columns: Type) -> Callable[[Run], Run]:
    """Declares a statement that writes or locks."""

    def declare(run: Run) -> Run:
        STATEMENTS[text] = Statement(run, parameters, columns, tag, writes=True)
        return run

    return declare
