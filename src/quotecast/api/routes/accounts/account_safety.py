"""The safety of an account: its password, its sessions, and its end."""

from typing import Annotated, Final

from litestar import delete, get, post
from litestar.params import FromPath
from msgspec import Meta, Struct

from quotecast.api.answers.answers import Answer
from quotecast.api.gate.identity import with_account
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import (
    AccountOperation,
    answer,
    none_left,
    not_found,
    outcomes,
    taking,
)
from quotecast.api.reference.openapi import ID, refused
from quotecast.api.routes.accounts import signed_in
from quotecast.api.routes.accounts.attempts import confirm_password, require_unchanged
from quotecast.api.routes.accounts.signed_in import Session, begin_session, session_answer
from quotecast.api.routes.bodies import body_of
from quotecast.database.ids import require_id
from quotecast.database.tables import AlertEvent
from quotecast.errors import Problem
from quotecast.market import codec
from quotecast.users import rules, sessions
from quotecast.users.account import Account

#: In place of an id: the session of the request.
CURRENT: Final = "current"

NewPassword = Annotated[
    str,
    Meta(
        description=f"{rules.MIN_PASSWORD} to {rules.MAX_PASSWORD} characters of any kind",
        extra_json_schema={"minLength": rules.MIN_PASSWORD, "maxLength": rules.MAX_PASSWORD},
    ),
]
_CURRENT: Final = Meta(
    description="Your present password", extra_json_schema={"minLength": 1, "maxLength": rules.MAX_PASSWORD}
)


class PasswordChange(Struct, frozen=True):
    """The body of a change of the password."""

    current: Annotated[str, _CURRENT]
    new: NewPassword

    def __repr__(self) -> str:
        """Omits the passwords, so that no log contains them."""
        return "PasswordChange()"


class AccountDeletion(Struct, frozen=True):
    """The body of the deletion of an account."""

    password: Annotated[str, _CURRENT]

    def __repr__(self) -> str:
        """Omits the password, so that no log contains it."""
        return "AccountDeletion()"


class SessionShown(Struct, frozen=True, kw_only=True):
    """A session: since when, until when, and from which device and network.

    `device` is the beginning of the client's `User-Agent`, `address` its network (a /24 or a /48); both may
    be empty. `current` is the session of this request.
    """

    id: str
    device: str
    address: str
    created_at: str
    expires_at: str
    current: bool


_SHOWN: Final = SessionShown(
    id="01a1fc87e0c47a905dd5d086",
    device="Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    address="203.0.113.0/24",
    created_at="2026-11-20T15:30:00.000Z",
    expires_at="2026-11-27T15:30:00.000Z",
    current=True,
)
_WRONG: Final = refused("The password is wrong", Problem("The password is wrong", "wrong_password", ID))


@post(
    "/password",
    status_code=200,
    operation_id="updatePassword",
    summary="Change your password",
    operation_class=taking(
        PasswordChange, {"current": "my present password", "new": "correct horse battery"}
    ),
    responses=outcomes(200, Session, signed_in.SESSION, "A new token", body=True, others={403: _WRONG}),
)
async def change_password(request: HttpRequest) -> Answer:
    """Ends all sessions, this one too, and answers the token of a new one.

    Attempts with a wrong password count like those of logins: 10 in 15 minutes with one token.
    """
    given = await body_of(request, PasswordChange)
    current = rules.password(given.current, 1, "current")
    new = rules.password(given.new, rules.MIN_PASSWORD, "new")
    confirmed = await confirm_password(request, current)
    password_hash = await services_of(request).accounts.passwords.hash(new)

    async def write(account: Account) -> Session:
        require_unchanged(account, confirmed)
        return await begin_session(request, await account.with_password(password_hash))

    return session_answer(request, await with_account(request, write, writing=True))


@delete(
    "/profile",
    operation_id="deleteAccount",
    summary="Delete your account",
    operation_class=taking(AccountDeletion, {"password": "my present password"}),
    responses=none_left("Deleted", 400, 408, 413, 422, others={403: _WRONG}),
)
async def delete_account(request: HttpRequest) -> None:
    """Deletes you with everything that is stored for you, at once and for good; all your tokens are void.

    Attempts with a wrong password count like those of logins: 10 in 15 minutes with one token.
    """
    given = await body_of(request, AccountDeletion)
    confirmed = await confirm_password(request, rules.password(given.password, 1))

    async def write_some(account: Account) -> bool:
        require_unchanged(account, confirmed)
        return await account.delete_some(AlertEvent)

    async def write(account: Account) -> None:
        require_unchanged(account, confirmed)
        await account.delete_user()

    while await with_account(request, write_some, writing=True):
        pass
    await with_account(request, write, writing=True)


@get(
    "/sessions",
    operation_id="listSessions",
    summary="Your sessions",
    operation_class=AccountOperation,
    responses=outcomes(200, list[SessionShown], [_SHOWN], "The newest first"),
)
async def list_sessions(request: HttpRequest) -> Answer:
    """Each login and registration begins a session. You have at most 100: one more ends the oldest."""
    now = services_of(request).wall_time()

    async def read(account: Account) -> list[SessionShown]:
        return [
            SessionShown(
                id=each.id,
                device=each.device,
                address=each.address,
                created_at=codec.iso_utc(each.created_at.timestamp()),
                expires_at=codec.iso_utc(each.expires_at.timestamp()),
                current=each.id == account.session,
            )
            for each in await sessions.sessions(account, now)
        ]

    return answer(await with_account(request, read))


@delete(
    "/sessions/{session_id:str}",
    operation_id="deleteSession",
    summary="End a session",
    operation_class=AccountOperation,
    responses=none_left("Ended", others={404: not_found("Session")}),
)
async def end_session(request: HttpRequest, session_id: FromPath[str]) -> None:
    """Its token is void at once. `current` is the session of this request: that logs out."""
    if session_id != CURRENT:
        require_id("Session", session_id)
    await with_account(
        request,
        lambda account: sessions.end(account, account.session if session_id == CURRENT else session_id),
        writing=True,
    )


BODIES: Final[tuple[type[Struct], ...]] = (PasswordChange, AccountDeletion)
HANDLERS: Final = (change_password, delete_account, list_sessions, end_session)
