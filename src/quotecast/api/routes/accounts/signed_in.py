"""Sessions as clients get them, a token and its user; and the devices from which users have logged in."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from msgspec import Struct

from quotecast.api.answers.answers import Answer
from quotecast.api.gate.addresses import network_of
from quotecast.api.gate.identity import bearer
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.reference.account_operations import secret_answer
from quotecast.asgi import Header, header_value
from quotecast.database.ids import new_id
from quotecast.errors import InvalidToken
from quotecast.users import sessions
from quotecast.users.account import Account
from quotecast.users.tokens import Device, Tokens
from quotecast.users.users import UserRow

COOKIE: Final = "quotecast_device"
#: The maximum that browsers accept.
COOKIE_SECONDS: Final = 400 * 86_400


class Profile(Struct, frozen=True):
    """A user: id, name and email."""

    id: str
    name: str
    email: str

    @classmethod
    def of(cls, user: UserRow) -> "Profile":
        """Returns the public fields of a row."""
        return cls(user.id, user.name, user.email)


class Session(Struct, frozen=True):
    """A token to send as `Authorization: Bearer <token>`, and its user."""

    token: str
    user: Profile

    def __repr__(self) -> str:
        """Omits the token, so that no log contains it."""
        return f"Session(user={self.user!r})"


PROFILE: Final = Profile("019a9c3f5b2d4f6a8c0e1b2d", "Ayşe Yılmaz", "ayse@example.com")
SESSION: Final = Session("eyJhbGciOiJIUzI1NiIsImtpZCI6IjVkN...", PROFILE)


async def begin_session(request: HttpRequest, account: Account) -> Session:
    """Adds a session of the account's user, whom the transaction added or locked; returns its token."""
    services = services_of(request)
    tokens, now = services.accounts.tokens, services.wall_time()
    session = sessions.UserSession(
        id=new_id(services.clock),
        device=device_name(request.scope),
        address=network_of(services.accounts.address_of(request.scope)),
        created_at=now,
        expires_at=now + timedelta(seconds=tokens.lifetime_seconds),
    )
    await sessions.begin(account, session)
    user = account.user
    return Session(tokens.issue(user.id, user.token_version, session.id), Profile.of(user))


def session_answer(request: HttpRequest, session: Session, status: int = 200) -> Answer:
    """Returns the answer with a token, and the cookie that makes the device a known one."""
    tokens = services_of(request).accounts.tokens
    return secret_answer(session, status, cookie_for(request.scope, tokens, session.user.id))


def device_name(scope: Mapping[str, Any]) -> str:
    """Returns the beginning of the `User-Agent`, without characters that cannot be shown."""
    given = header_value(scope, b"user-agent") or b""
    text = given.decode("utf-8", "replace")
    return "".join(filter(str.isprintable, text))[: sessions.MAX_DEVICE]


def device_of(scope: Mapping[str, Any], tokens: Tokens) -> Device | None:
    """Returns the device of an earlier token in `Authorization`, expired or not, else of the cookie.

    A device has login attempts of its own; it gives no access.
    """
    lines = b";".join(value for name, value in scope["headers"] if name == b"cookie")
    pairs = (part.strip().partition(b"=") for part in lines.split(b";"))
    cookie = {name: value for name, _, value in pairs}.get(COOKIE.encode(), b"")
    for text in (bearer(scope) or "", cookie.decode("latin-1")):
        try:
            return tokens.device(text)
        except InvalidToken:
            continue
    return None


def cookie_for(scope: Mapping[str, Any], tokens: Tokens, user_id: str) -> Header:
    """Returns the header that sets the device cookie after a login."""
    attributes = f"Path=/api/auth; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict"
    # Trusted from any client: a false value only affects the client's own cookie.
    forwarded = header_value(scope, b"x-forwarded-proto") or b""
    is_https = scope["scheme"] == "https" or forwarded.strip().lower() == b"https"
    secure = "; Secure" if is_https else ""
    return b"set-cookie", f"{COOKIE}={tokens.issue_device(user_id)}; {attributes}{secure}".encode()
