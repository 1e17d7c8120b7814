"""An operator's login, session and logout."""

import contextlib
import secrets
from functools import partial
from typing import Annotated, Final

from litestar import get, post
from msgspec import Meta, Struct

from quotecast.api.accounts.logins import Attempt
from quotecast.api.answers.answers import Answer
from quotecast.api.gate.operators import actor_of, admin_of, with_operator
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import AccountOperation, answer, secret_answer, taking
from quotecast.api.reference.openapi import ID, refused
from quotecast.api.routes.accounts.attempts import count_outcome
from quotecast.api.routes.admin.operations import operator_done, operator_outcomes
from quotecast.api.routes.bodies import body_of
from quotecast.background import in_background
from quotecast.database.database import Run
from quotecast.database.ids import new_id
from quotecast.errors import DatabaseAway, Problem, TooManyRequests
from quotecast.market.codec import iso_utc
from quotecast.operators import sessions, storage, totp
from quotecast.operators.actions import record
from quotecast.operators.errors import Unsealable, WrongOperator
from quotecast.operators.sessions import OperatorSeen
from quotecast.operators.storage import OperatorRow
from quotecast.operators.tokens import IDLE_SECONDS, LIFETIME_SECONDS
from quotecast.operators.totp import unseal
from quotecast.users import rules

MAX_CODE: Final = 16
#: Begins the names of attempts. No email has a line break: no login of a user uses up attempts of operators.
_OWN_ATTEMPTS: Final = "operator\n"


class OperatorCredentials(Struct, frozen=True):
    """The body of an operator's login; `code` only where the operator has codes."""

    email: Annotated[str, Meta(extra_json_schema={"minLength": 3})]
    password: Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": rules.MAX_PASSWORD})]
    code: Annotated[str, Meta(max_length=MAX_CODE, description="Six digits of an app for codes")] = ""

    def __repr__(self) -> str:
        """Omits password and code, so that no log contains them."""
        return f"OperatorCredentials(email={self.email!r})"


class OperatorSession(Struct, frozen=True):
    """The session of an operator, which ends after `idle_seconds` without use."""

    email: str
    has_totp: bool
    expires_at: str
    idle_seconds: int

    @classmethod
    def of(cls, operator: OperatorSeen) -> "OperatorSession":
        """Returns what an operator sees of the session."""
        return cls(operator.email, operator.has_totp, iso_utc(operator.expires_at.timestamp()), IDLE_SECONDS)


class OperatorToken(OperatorSession, frozen=True):
    """A session with its token, which no later answer shows."""

    token: str

    def __repr__(self) -> str:
        """Omits the token, so that no log contains it."""
        return f"OperatorToken(email={self.email!r})"


_SESSION: Final = OperatorSession("ayse@example.com", True, "2026-11-20T23:30:00.000Z", IDLE_SECONDS)
_TOKEN: Final = OperatorToken(_SESSION.email, True, _SESSION.expires_at, IDLE_SECONDS, "eyJhbGciOi...")
_WRONG: Final = refused(
    "No operator has this email, password and code",
    Problem("Email, password or code is wrong", "wrong_operator", ID),
)


@post(
    "/login",
    status_code=200,
    operation_id="loginOperator",
    summary="Sign in as an operator",
    operation_class=taking(
        OperatorCredentials, {"email": "ayse@example.com", "password": "correct horse", "code": "287082"}
    ),
    responses=operator_outcomes(OperatorToken, _TOKEN, "Signed in", body=True, others={401: _WRONG}),
    opt={"by_address": True, "limit": "auth"},
)
async def login(request: HttpRequest) -> Answer:
    """Returns a token for these routes alone; a user's token opens none of them.

    A session ends after 30 minutes without use, and after eight hours. Attempts are limited as those of users
    are. Each code works once.
    """
    given = await body_of(request, OperatorCredentials)
    email, password = rules.lower_email(given.email), rules.password(given.password, 1)
    attempt = services_of(request).accounts.logins.attempt(f"{_OWN_ATTEMPTS}{email}")
    signing_in = _sign_in(request, attempt, email, password, given.code.replace(" ", ""))
    return secret_answer(await count_outcome(request, attempt, signing_in))


@get(
    "/session",
    operation_id="getOperatorSession",
    summary="Your session",
    operation_class=AccountOperation,
    responses=operator_outcomes(OperatorSession, _SESSION, "The session, which is in use again"),
)
async def session(request: HttpRequest) -> Answer:
    """Counts as a use of the session."""

    async def read(_: Run, operator: OperatorSeen) -> OperatorSession:
        return OperatorSession.of(operator)

    return answer(await with_operator(request, read))


@post(
    "/logout",
    status_code=204,
    operation_id="logoutOperator",
    summary="Sign out",
    operation_class=AccountOperation,
    responses=operator_done("The session has ended, on every worker"),
)
async def logout(request: HttpRequest) -> None:
    """Ends the session of the token."""

    async def write(run: Run, operator: OperatorSeen) -> None:
        await sessions.end(run, operator.session)
        await record(run, actor_of(request, operator.email), "operators.logout", target=operator.id)

    await with_operator(request, write, renewing=False, ending=True)


async def _sign_in(
    request: HttpRequest, attempt: Attempt, email: str, password: str, code: str
) -> OperatorToken:
    """Returns the token of a new session. Raises WrongOperator, TooManyRequests, DatabaseAway or Busy.

    Whatever is wrong takes the same steps: a look-up, a hash, a count and a code.
    """
    accounts = services_of(request).accounts
    await attempt.count_address(accounts.address_of(request.scope))
    operator = await accounts.database.transaction(partial(storage.find, email=email))
    is_right = await accounts.passwords.verify(operator.password_hash if operator else None, password)
    codes = await _count_code(request, operator.id if operator and is_right else secrets.token_hex(12))
    if operator is None:
        raise WrongOperator
    try:
        step = _check(request, operator, code, is_right=is_right, may_try=codes is not None)
        token = await accounts.database.transaction(
            partial(_begin, request=request, operator=operator, step=step)
        )
    except WrongOperator as error:
        _note_failure(request, operator, error.reason)
        raise
    if codes is not None:
        await codes.succeed()
    return token


async def _count_code(request: HttpRequest, name: str) -> Attempt | None:
    """Counts an attempt at a code; None past the limit.

    Only who knows the password reaches an operator's own count. No answer says that it is used up: that would
    tell that the password is right.
    """
    codes = services_of(request).accounts.logins.attempt(f"{_OWN_ATTEMPTS}codes {name}")
    try:
        await codes.count_device("codes")
    except TooManyRequests:
        return None
    return codes


def _check(
    request: HttpRequest, operator: OperatorRow, code: str, *, is_right: bool, may_try: bool
) -> int | None:
    """Returns the step of the operator's code, None for an operator without codes. Raises WrongOperator."""
    step, trouble = None, ""
    if operator.totp is not None:
        try:
            secret = unseal(operator.totp, operator.id, admin_of(request).secrets)
        except Unsealable:
            trouble = "codes sealed with another secret"
        else:
            step = totp.step_of(secret, code, services_of(request).clock())
            trouble = "" if step is not None else "wrong code"
    if not is_right:
        raise WrongOperator("wrong password")
    if operator.disabled:
        raise WrongOperator("disabled user")
    if not may_try:
        raise WrongOperator("too many wrong codes")
    if trouble:
        raise WrongOperator(trouble)
    return step


async def _begin(run: Run, request: HttpRequest, operator: OperatorRow, step: int | None) -> OperatorToken:
    """Adds a session. Raises WrongOperator for a code that was used before, and for a changed operator."""
    if not await storage.lock(run, operator):
        raise WrongOperator("changed during the login")
    if step is not None and not await storage.use_step(run, operator.id, step):
        raise WrongOperator("code used before")
    now, session_id = services_of(request).wall_time(), new_id(services_of(request).clock)
    actor = actor_of(request, operator.email)
    await sessions.begin(run, operator, session_id, actor.address, now)
    await record(run, actor, "operators.login", target=operator.id)
    expires_at = iso_utc(now.timestamp() + LIFETIME_SECONDS)
    token = admin_of(request).tokens.issue(operator.id, session_id)
    return OperatorToken(operator.email, operator.totp is not None, expires_at, IDLE_SECONDS, token)


def _note_failure(request: HttpRequest, operator: OperatorRow, reason: str) -> None:
    """Adds a failed login of an operator to the log, after the answer.

    The answer must not wait for it: a longer one would tell who is an operator. Logins with other emails
    leave no row, so that nobody fills a table whose rows stay.
    """
    actor, database = actor_of(request, operator.email), services_of(request).accounts.database
    write = partial(
        record, actor=actor, action="operators.login", target=operator.id, detail=reason, outcome="refused"
    )

    async def note() -> None:
        with contextlib.suppress(DatabaseAway):
            await database.transaction(write)

    in_background(note())
