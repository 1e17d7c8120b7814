"""The log of what operators did: rows are added in the transaction of the action, and never change.

The log names users and keys by id, so that nothing of a deleted user stays in it.
"""

from datetime import datetime
from typing import Any, Final, Literal

from msgspec import Struct

from quotecast.database.database import Run, row_as
from quotecast.database.tables import Operator

#: Where an action came from.
Via = Literal["page", "shell"]
Outcome = Literal["done", "refused"]

MAX_ACTOR: Final = 254
MAX_TARGET: Final = 60
MAX_DETAIL: Final = 100

_ADD: Final = (
    "INSERT INTO operator_actions (via, actor, address, action, target, detail, outcome)"
    " VALUES ({}, {}, {}, {}, {}, {}, {})"
)
_PAGE: Final = (
    "SELECT actions.*, coalesce(users.email, owners.email, '') AS email,"
    " coalesce(api_keys.name, '') AS key_name"
    " FROM operator_actions AS actions LEFT JOIN users ON users.id = actions.target"
    " LEFT JOIN api_keys ON api_keys.id = actions.target"
    " LEFT JOIN users AS owners ON owners.id = api_keys.user_id"
    " WHERE {}::bigint IS NULL OR actions.id < {}::bigint ORDER BY actions.id DESC LIMIT {}::int"
)


class Actor(Struct, frozen=True):
    """The actor: an operator's email or the name of a user of the machine, and the client's network."""

    via: Via
    name: str
    address: str = ""


class Action(Struct, frozen=True, kw_only=True):
    """A row of the log. `email` and `key_name` are of the present: empty when the target is gone."""

    id: int
    happened_at: datetime
    via: Via
    actor: str
    address: str
    action: str
    target: str
    detail: str
    outcome: Outcome
    email: str
    key_name: str


async def record(
    run: Run, actor: Actor, action: str, *, target: str = "", detail: str = "", outcome: Outcome = "done"
) -> None:
    """Adds a row. `action` is such as `keys.revoke`; `target` is the id of a user or a key, or a plan's name.

    Details never hold a secret.
    """
    values = (actor.via, actor.name[:MAX_ACTOR], actor.address, action, target[:MAX_TARGET])
    await run(Operator.raw(_ADD, *values, detail[:MAX_DETAIL], outcome))


async def page(run: Run, *, before: int | None = None, limit: int = 50) -> list[Action]:
    """Returns up to `limit` rows before an id, the newest first."""
    rows: list[Any] = await run(Operator.raw(_PAGE, before, before, limit))
    return [row_as(Action, row) for row in rows]
