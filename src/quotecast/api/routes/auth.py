"""Register, log in, and the profile."""

from typing import Annotated, Final

from litestar import Router, get, patch, post
from msgspec import UNSET, Meta, Struct, UnsetType

from quotecast.accounts import rules, users
from quotecast.accounts.account import Account
from quotecast.accounts.ids import new_id
from quotecast.accounts.users import UserRow
from quotecast.api.answers import Answer
from quotecast.api.edge.identity import require_token, with_account
from quotecast.api.edge.throttle import BY_ADDRESS, overrule
from quotecast.api.logins import Attempt
from quotecast.api.parts import Accounts, HttpRequest, parts_of
from quotecast.api.reference.account_operations import (
    SECURED,
    AccountOperation,
    answer,
    outcomes,
    secret_answer,
    taking,
)
from quotecast.api.reference.openapi import ID, refused
from quotecast.api.routes.bodies import body_of
from quotecast.api.routes.devices import cookie_for, device_of
from quotecast.errors import Busy, DatabaseAway, InvalidValue, Problem, TooManyRequests, WrongCredentials
from quotecast.limits.decision import Decision

Name = Annotated[
    str,
    Meta(
        description=f"1 to {rules.MAX_NAME} characters; blanks around it do not count",
        extra_json_schema={"minLength": 1},
    ),
]
Email = Annotated[
    str,
    Meta(
        description=f"At most {rules.MAX_EMAIL} characters; letter case makes no difference",
        extra_json_schema={"minLength": 3},
    ),
]


class Registration(Struct, frozen=True):
    """Who wants to register."""

    name: Name
    email: Email
    password: Annotated[
        str,
        Meta(
            description=f"{rules.MIN_PASSWORD} to {rules.MAX_PASSWORD} characters of any kind",
            extra_json_schema={"minLength": rules.MIN_PASSWORD, "maxLength": rules.MAX_PASSWORD},
        ),
    ]

    def __repr__(self) -> str:
        """Without the password, which no log may hold."""
        return f"Registration(email={self.email!r})"


class Credentials(Struct, frozen=True):
    """Who wants to log in."""

    email: Email
    password: Annotated[
        str,
        Meta(
            description=f"At most {rules.MAX_PASSWORD} characters",
            extra_json_schema={"minLength": 1, "maxLength": rules.MAX_PASSWORD},
        ),
    ]

    def __repr__(self) -> str:
        """Without the password, which no log may hold."""
        return f"Credentials(email={self.email!r})"


class ProfileChange(Struct, frozen=True):
    """Another name, the end of all sessions, or both."""

    name: Name | UnsetType = UNSET
    end_sessions: Annotated[
        bool, Meta(description="Makes every token of yours void, the one that you send included")
    ] = False


class Profile(Struct, frozen=True):
    """A user as others of our routes name them."""

    id: str
    name: str
    email: str

    @classmethod
    def of(cls, user: UserRow) -> "Profile":
        """What of a row is shown."""
        return cls(user.id, user.name, user.email)


class Session(Struct, frozen=True):
    """A token to send as `Authorization: Bearer <token>`, and whose it is."""

    token: str
    user: Profile

    def __repr__(self) -> str:
        """Without the token, which no log may hold."""
        return f"Session(user={self.user!r})"


_PROFILE: Final = Profile("019a9c3f5b2d4f6a8c0e1b2d", "Ayşe Yılmaz", "ayse@example.com")
_SESSION: Final = Session("eyJhbGciOiJIUzI1NiIsImtpZCI6IjVkN...", _PROFILE)
_GIVEN: Final = {"email": "ayse@example.com", "password": "correct horse battery"}
_TAKEN: Final = refused("Somebody has this email", Problem("Email already registered", "email_taken", ID))
_GUESSED: Final = refused(
    "The limit of this address and path is used up, or a bound on attempts; the headers tell of that one",
    Problem("Too Many Requests"),
)
_WRONG: Final = refused(
    "Email and password do not belong together",
    Problem("Invalid email or password", "wrong_credentials", ID),
)


@post(
    "/register",
    summary="Register",
    operation_class=taking(Registration, {"name": "Ayşe Yılmaz", **_GIVEN}),
    responses={
        status: spec
        for status, spec in outcomes(
            201, Session, _SESSION, "The new user, logged in", body=True, others={409: _TAKEN}
        ).items()
        if status != 401
    },
    opt={BY_ADDRESS: True},
)
async def register(request: HttpRequest) -> Answer:
    """Makes a user and logs them in. Counted by address."""
    given = await body_of(request, Registration)
    name, email = rules.name(given.name), rules.email(given.email)
    password = rules.password(given.password, rules.MIN_PASSWORD)
    parts = parts_of(request)
    password_hash = await parts.accounts.passwords.hash(password)
    user_id = new_id(parts.clock)
    user = await parts.accounts.database.transaction(
        lambda run: users.create(run, user_id=user_id, name=name, email=email, password_hash=password_hash)
    )
    return _session(request, user, 201)


@post(
    "/login",
    status_code=200,
    summary="Log in",
    operation_class=taking(Credentials, _GIVEN),
    responses=outcomes(200, Session, _SESSION, "Logged in", body=True, others={401: _WRONG, 429: _GUESSED}),
    opt={BY_ADDRESS: True},
)
async def login(request: HttpRequest) -> Answer:
    """Gives a token. Counted by address.

    Attempts on an account are counted too, until one succeeds: within 15 minutes an address has 10, and all
    addresses together have 100. A device that has logged in to the account before has 10 of its own. It is
    known by an earlier token in `Authorization`, expired or not, or by a cookie that browsers keep. Past
    these bounds the answer is 429 and uses no slot of the path; its headers tell of the bound that refused.
    """
    given = await body_of(request, Credentials)
    email, password = rules.lower_email(given.email), rules.password(given.password, 1)
    logins = parts_of(request).accounts.logins
    attempt = logins.attempt(email)
    try:
        user = await _entered(request, attempt, email, password)
    except WrongCredentials:
        logins.outcomes["refused"] += 1
        raise
    except TooManyRequests as error:
        logins.outcomes["limited"] += 1
        await overrule(request.scope, Decision(False, error.limit, 0, error.retry_after))
        raise
    except (Busy, DatabaseAway):
        logins.outcomes["unavailable"] += 1
        await attempt.void()
        raise
    logins.outcomes["ok"] += 1
    await attempt.succeed()
    return _session(request, user)


@get(
    "/profile",
    summary="Your profile",
    guards=[require_token],
    operation_class=AccountOperation,
    security=SECURED,
    responses=outcomes(200, Profile, _PROFILE, "Your name and email"),
)
async def profile(request: HttpRequest) -> Answer:
    """Who the token belongs to."""

    async def read(account: Account) -> UserRow:
        return account.user

    return answer(Profile.of(await with_account(request, read)))


@patch(
    "/profile",
    summary="Change your name, or end your sessions",
    guards=[require_token],
    operation_class=taking(ProfileChange, {"name": "Ayşe Demir"}),
    security=SECURED,
    responses=outcomes(200, Profile, _PROFILE, "The profile as it is now", body=True),
)
async def change(request: HttpRequest) -> Answer:
    """The email stays as it is. Log out with `{"end_sessions": true}`: then no token of yours is valid."""
    given = await body_of(request, ProfileChange)
    if given.name is UNSET and not given.end_sessions:
        raise InvalidValue("name", "Missing")
    name = None if given.name is UNSET else rules.name(given.name)

    async def write(account: Account) -> UserRow:
        user = await account.rename(name) if name else account.user
        return await account.end_sessions() if given.end_sessions else user

    return answer(Profile.of(await with_account(request, write, writing=True)))


async def _entered(request: HttpRequest, attempt: Attempt, email: str, password: str) -> UserRow:
    """The user who logs in. Raises TooManyRequests or WrongCredentials, alike for an unknown email."""
    accounts = parts_of(request).accounts
    address = accounts.address_of(request.scope)
    device = device_of(request.scope, accounts.tokens)
    # Counted before anything costs more than counting.
    await (attempt.count_device(device.jti) if device else attempt.count_address(address))
    user = await accounts.database.transaction(lambda run: users.find(run, email=email))
    if device and not (user and user.id == device.sub):
        await attempt.count_address(address)
    return await _verified(accounts, user, password)


async def _verified(accounts: Accounts, user: UserRow | None, password: str) -> UserRow:
    """The user who logs in. Raises WrongCredentials, as late for an unknown email as for a wrong password."""
    right = await accounts.passwords.verify(user.password_hash if user else None, password)
    if user is None or not right or user.disabled:
        raise WrongCredentials
    if accounts.passwords.is_outdated(user.password_hash):
        newer = await accounts.passwords.hash(password)
        await accounts.database.transaction(lambda run: users.rehash(run, user, newer))
    return user


def _session(request: HttpRequest, user: UserRow, status: int = 200) -> Answer:
    tokens = parts_of(request).accounts.tokens
    session = Session(tokens.issue(user.id, user.token_version), Profile.of(user))
    return secret_answer(session, status, cookie_for(request.scope, tokens, user.id))


BODIES: Final[tuple[type[Struct], ...]] = (Registration, Credentials, ProfileChange)

ROUTER: Final = Router(
    "/api/auth", route_handlers=[register, login, profile, change], tags=["Accounts"], opt={"limit": "auth"}
)
