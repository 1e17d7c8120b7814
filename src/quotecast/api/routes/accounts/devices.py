"""Known devices, from which users have logged in before: by a cookie, or by an earlier token."""

from collections.abc import Mapping
from typing import Any, Final

from quotecast.api.gate.identity import bearer
from quotecast.asgi import Header
from quotecast.errors import InvalidToken
from quotecast.users.tokens import Device, Tokens

COOKIE: Final = "quotecast_device"
#: The maximum that browsers accept.
COOKIE_SECONDS: Final = 400 * 86_400


def device_of(scope: Mapping[str, Any], tokens: Tokens) -> Device | None:
    """Returns the device of an earlier token in `Authorization`, expired or not, else of the cookie.

    A device has login attempts of its own; it gives no access.
    """
    for text in (bearer(scope) or "", _cookie(scope)):
        try:
            return tokens.device(text)
        except InvalidToken:
            continue
    return None


def cookie_for(scope: Mapping[str, Any], tokens: Tokens, user_id: str) -> Header:
    """Returns the header that sets the device cookie after a login."""
    attributes = f"Path=/api/auth; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict"
    secure = "; Secure" if _is_https(scope) else ""
    return b"set-cookie", f"{COOKIE}={tokens.issue_device(user_id)}; {attributes}{secure}".encode()


def _cookie(scope: Mapping[str, Any]) -> str:
    lines = (value for name, value in scope["headers"] if name == b"cookie")
    pairs = (part.strip().partition(b"=") for part in b";".join(lines).split(b";"))
    values = {name: value for name, _, value in pairs}
    return values.get(COOKIE.encode(), b"").decode("latin-1")


def _is_https(scope: Mapping[str, Any]) -> bool:
    # Trusted from any client: a false value only affects the client's own cookie.
    forwarded = (value for name, value in scope["headers"] if name == b"x-forwarded-proto")
    return scope["scheme"] == "https" or next(forwarded, b"").strip().lower() == b"https"
