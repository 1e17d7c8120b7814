"""Registration, login and the profile."""

from typing import Annotated, Final

from litestar import Router, get, patch, post
from msgspec import UNSET, Meta, Struct, UnsetType

from quotecast.api.accounts.logins import Attempt
from quotecast.api.answers.answers import Answer
from quotecast.api.gate.identity import require_token, with_account
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import SECURED, AccountOperation, answer, outcomes, taking
from quotecast.api.reference.openapi import ID, refused
from quotecast.api.routes.accounts import account_safety
from quotecast.api.routes.accounts.attempts import count_outcome
from quotecast.api.routes.accounts.signed_in import (
    PROFILE,
    SESSION,
    Profile,
    Session,
    begin_session,
    device_of,
    session_answer,
)
from quotecast.api.routes.bodies import body_of
from quotecast.database.database import Run
from quotecast.database.ids import new_id
from quotecast.errors import InvalidValue, Problem, WrongCredentials
from quotecast.users import rules, users
from quotecast.users.account import Account
from quotecast.users.users import UserRow

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
    """The body of a registration."""

    name: Name
    email: Email
    password: account_safety.NewPassword

    def __repr__(self) -> str:
        """Omits the password, so that no log contains it."""
        return f"Registration(email={self.email!r})"


class Credentials(Struct, frozen=True):
    """The body of a login."""

    email: Email
    password: Annotated[
        str,
        Meta(
            description=f"At most {rules.MAX_PASSWORD} characters",
            extra_json_schema={"minLength": 1, "maxLength": rules.MAX_PASSWORD},
        ),
    ]

    def __repr__(self) -> str:
        """Omits the password, so that no log contains it."""
        return f"Credentials(email={self.email!r})"


class ProfileChange(Struct, frozen=True):
    """A change of the profile: a new name, the end of all sessions, or both."""

    name: Name | UnsetType = UNSET
    end_sessions: Annotated[
        bool, Meta(description="Revokes all your tokens, including the one of this request")
    ] = False


_GIVEN: Final = {"email": "ayse@example.com", "password": "correct horse battery"}
_TAKEN: Final = refused("Another user has this email", Problem("Email already registered", "email_taken", ID))
_GUESSED: Final = refused(
    "The rate limit of this address and path, or the limit of attempts, is exhausted: see the headers",
    Problem("Too Many Requests"),
)
_WRONG: Final = refused(
    "Unknown email or wrong password",
    Problem("Invalid email or password", "wrong_credentials", ID),
)


@post(
    "/register",
    operation_id="register",
    summary="Register",
    operation_class=taking(Registration, {"name": "Ayşe Yılmaz", **_GIVEN}),
    responses={
        status: spec
        for status, spec in outcomes(
            201, Session, SESSION, "The new user, logged in", body=True, others={409: _TAKEN}
        ).items()
        if status != 401
    },
    opt={"by_address": True},
)
async def register(request: HttpRequest) -> Answer:
    """Creates a user and logs them in. The rate limit counts by address."""
    given = await body_of(request, Registration)
    name, email = rules.name(given.name), rules.email(given.email)
    password = rules.password(given.password, rules.MIN_PASSWORD)
    services = services_of(request)
    password_hash = await services.accounts.passwords.hash(password)
    user_id = new_id(services.clock)

    async def write(run: Run) -> Session:
        user = await users.create(run, user_id=user_id, name=name, email=email, password_hash=password_hash)
        return await begin_session(request, Account(run, user))

    return session_answer(request, await services.accounts.database.transaction(write), 201)


@post(
    "/login",
    status_code=200,
    operation_id="login",
    summary="Log in",
    operation_class=taking(Credentials, _GIVEN),
    responses=outcomes(200, Session, SESSION, "Logged in", body=True, others={401: _WRONG, 429: _GUESSED}),
    opt={"by_address": True},
)
async def login(request: HttpRequest) -> Answer:
    """Returns a token. The rate limit counts by address.

    Failed attempts on an account are limited too: within 15 minutes an address has 10, and all addresses
    together have 100. A device that has logged in to the account before has 10 of its own; it identifies
    itself by an earlier token in `Authorization`, expired or not, or by a cookie. A successful login resets
    the count. Above these limits the answer is 429; it uses no slot of the path, and its headers describe
    the exhausted limit.
    """
    given = await body_of(request, Credentials)
    email, password = rules.lower_email(given.email), rules.password(given.password, 1)
    accounts = services_of(request).accounts
    attempt = accounts.logins.attempt(email)

    async def log_in() -> Session:
        user = await _authenticate(request, attempt, email, password)

        async def write(run: Run) -> Session:
            # The password may have changed since it was checked.
            if not await users.lock(run, user):
                raise WrongCredentials
            return await begin_session(request, Account(run, user))

        return await accounts.database.transaction(write)

    return session_answer(request, await count_outcome(request, attempt, log_in()))


@get(
    "/profile",
    operation_id="getProfile",
    summary="Your profile",
    operation_class=AccountOperation,
    responses=outcomes(200, Profile, PROFILE, "Your name and email"),
)
async def profile(request: HttpRequest) -> Answer:
    """Returns the user of the token."""

    async def read(account: Account) -> UserRow:
        return account.user

    return answer(Profile.of(await with_account(request, read)))


@patch(
    "/profile",
    operation_id="updateProfile",
    summary="Change your name, or end your sessions",
    operation_class=taking(ProfileChange, {"name": "Ayşe Demir"}),
    responses=outcomes(200, Profile, PROFILE, "The profile after the change", body=True),
)
async def change(request: HttpRequest) -> Answer:
    """Changes the name. `{"end_sessions": true}` logs out: it revokes all your tokens."""
    given = await body_of(request, ProfileChange)
    if given.name is UNSET and not given.end_sessions:
        raise InvalidValue("name", "Must be given")
    name = None if given.name is UNSET else rules.name(given.name)

    async def write(account: Account) -> UserRow:
        user = await account.rename(name) if name else account.user
        return await account.end_sessions() if given.end_sessions else user

    return answer(Profile.of(await with_account(request, write, writing=True)))


async def _authenticate(request: HttpRequest, attempt: Attempt, email: str, password: str) -> UserRow:
    """Returns the user who logs in. Raises TooManyRequests or WrongCredentials, also for an unknown email."""
    accounts = services_of(request).accounts
    address = accounts.address_of(request.scope)
    device = device_of(request.scope, accounts.tokens)
    # Count first: it is cheaper than the look-up and the hash.
    await (attempt.count_device(device.jti) if device else attempt.count_address(address))
    user = await accounts.database.transaction(lambda run: users.find(run, email=email))
    if device and not (user and user.id == device.sub):
        await attempt.count_address(address)
    # An unknown email takes as long as a wrong password, so that timing reveals nothing.
    right = await accounts.passwords.verify(user.password_hash if user else None, password)
    if user is None or not right or user.disabled:
        raise WrongCredentials
    if accounts.passwords.is_outdated(user.password_hash):
        newer = await accounts.passwords.hash(password)
        await accounts.database.transaction(lambda run: users.rehash(run, user, newer))
    return user


BODIES: Final[tuple[type[Struct], ...]] = (
    Registration,
    Credentials,
    ProfileChange,
    *account_safety.BODIES,
)

#: The routes of a user who has logged in.
_OWN: Final = Router(
    "/",
    route_handlers=[profile, change, *account_safety.HANDLERS],
    guards=[require_token],
    security=SECURED,
)
ROUTER: Final = Router(
    "/api/auth",
    route_handlers=[register, login, _OWN],
    tags=["Accounts"],
    opt={"tag": "Register, log in, the profile and the sessions.", "feed": None, "limit": "auth"},
)
