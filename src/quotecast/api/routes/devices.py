"""Devices from which users have logged in before: a cookie for browsers, an earlier token for others."""

from collections.abc import Mapping
from typing import Any, Final

from quotecast.accounts.tokens import Device, Tokens
from quotecast.api.edge.identity import bearer
from quotecast.asgi import Header
from quotecast.errors import InvalidToken

COOKIE: Final = "quotecast_device"
#: As long as browsers keep any cookie.
COOKIE_SECONDS: Final = 400 * 86_400


def device_of(scope: Mapping[str, Any], tokens: Tokens) -> Device | None:
    """The device that an earlier token in `Authorization` names, expired or not, else the cookie's.

    It gives a device attempts of its own to log in, and opens nothing.
    """
    for text in (bearer(scope) or "", _cookie(scope)):
        try:
            return tokens.device(text)
        except InvalidToken:
            continue
    return None


def cookie_for(scope: Mapping[str, Any], tokens: Tokens, user_id: str) -> Header:
    """The header that has a browser remember that this user has logged in there."""
    attributes = f"Path=/api/auth; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict"
    secure = "; Secure" if _is_https(scope) else ""
    return b"set-cookie", f"{COOKIE}={tokens.issue_device(user_id)}; {attributes}{secure}".encode()


def _cookie(scope: Mapping[str, Any]) -> str:
    lines = (value for name, value in scope["headers"] if name == b"cookie")
    pairs = (part.strip().partition(b"=") for part in b";".join(lines).split(b";"))
    values = {name: value for name, _, value in pairs}
    return values.get(COOKIE.encode(), b"").decode("latin-1")


def _is_https(scope: Mapping[str, Any]) -> bool:
    # Believed from anybody: a client that invents it loses its own cookie, no other's.
    forwarded = (value for name, value in scope["headers"] if name == b"x-forwarded-proto")
    return scope["scheme"] == "https" or next(forwarded, b"").strip().lower() == b"https"
