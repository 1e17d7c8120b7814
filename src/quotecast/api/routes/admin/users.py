"""Users, as operators see and change them."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, Final

from litestar import get, post
from litestar.params import FromPath, QueryParameter
from msgspec import Struct
from msgspec.structs import asdict

from quotecast.api.answers.answers import Answer
from quotecast.api.gate.operators import actor_of, with_operator
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import AccountOperation, answer, not_found
from quotecast.api.routes.admin.operations import operator_done, operator_outcomes
from quotecast.database.database import Run
from quotecast.database.ids import require_id
from quotecast.market.codec import iso_utc
from quotecast.operators import lists
from quotecast.operators.actions import record
from quotecast.operators.sessions import OperatorSeen
from quotecast.users import users as accounts

#: Characters of a search.
MAX_FIND: Final = 254

Find = Annotated[
    str,
    QueryParameter(max_length=MAX_FIND, description="An id, or a part of a name or an email; all without it"),
]
BeforeId = Annotated[
    str, QueryParameter(max_length=24, description="Rows before this id; the newest without it")
]


class UserShown(Struct, frozen=True, kw_only=True):
    """A user; `sessions` and `keys` count those that last."""

    id: str
    name: str
    email: str
    disabled: bool
    created_at: str
    operator: bool
    sessions: int
    keys: int


_SHOWN: Final = UserShown(
    id="019a9c3f5b2d4f6a8c0e1b2d",
    name="Ayşe Yılmaz",
    email="ayse@example.com",
    disabled=False,
    created_at="2026-11-20T15:30:00.000Z",
    operator=False,
    sessions=2,
    keys=1,
)
_UNKNOWN: Final = {404: not_found("User")}


@get(
    "/users",
    operation_id="listUsers",
    summary="Users",
    operation_class=AccountOperation,
    responses=operator_outcomes(list[UserShown], [_SHOWN], "At most 50, the newest first", 422),
)
async def list_users(request: HttpRequest, find: Find = "", before: BeforeId = "") -> Answer:
    """The id of the last user is `before` of the next page."""

    async def read(run: Run, _: OperatorSeen) -> list[UserShown]:
        now = services_of(request).wall_time()
        found = await lists.users(run, find.replace("\0", ""), before.replace("\0", ""), now)
        return [
            UserShown(**asdict(each) | {"created_at": iso_utc(each.created_at.timestamp())}) for each in found
        ]

    return answer(await with_operator(request, read))


def _action(name: str, operation: str, summary: str, done: str) -> Callable[[Any], Any]:
    return post(
        f"/users/{{user_id:str}}/{name}",
        status_code=204,
        operation_id=operation,
        summary=summary,
        operation_class=AccountOperation,
        responses=operator_done(done, others=_UNKNOWN),
    )


@_action("disable", "disableUser", "Disable a user", "Disabled, and signed out everywhere")
async def disable(request: HttpRequest, user_id: FromPath[str]) -> None:
    """Refuses the user's logins, ends all sessions, and ends the user's API keys within a second."""
    await _change(request, user_id, "users.disable", partial(accounts.set_disabled, disabled=True))


@_action("enable", "enableUser", "Enable a user", "Enabled")
async def enable(request: HttpRequest, user_id: FromPath[str]) -> None:
    """Admits the user and the user's API keys again."""
    await _change(request, user_id, "users.enable", partial(accounts.set_disabled, disabled=False))


@_action("revoke", "endSessionsOfUser", "End a user's sessions", "Signed out everywhere")
async def revoke(request: HttpRequest, user_id: FromPath[str]) -> None:
    """Ends all sessions of the user; API keys stay."""
    await _change(request, user_id, "users.revoke", accounts.revoke_tokens)


async def _change(
    request: HttpRequest, user_id: str, action: str, change: Callable[[Run, str], Awaitable[None]]
) -> None:
    """Changes a user, and adds a row to the log: both or neither. Raises NotFound."""
    require_id("User", user_id)

    async def write(run: Run, operator: OperatorSeen) -> None:
        await change(run, await accounts.email_of(run, user_id))
        await record(run, actor_of(request, operator.email), action, target=user_id)

    await with_operator(request, write)
