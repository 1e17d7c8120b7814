"""Who asks: the user that a token names, else a network address."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from quotecast.accounts.account import Account, open_account
from quotecast.accounts.database import Run
from quotecast.accounts.tokens import Claims, Tokens
from quotecast.api.edge.middleware import Scope
from quotecast.api.parts import HttpRequest, parts_of
from quotecast.errors import InvalidToken, NotAuthenticated

_CLAIMS: Final = "quotecast.claims"
_NO_TOKEN: Final = object()

T = TypeVar("T")


def identify_by_user(tokens: Tokens, by_address: Callable[[Scope], str]) -> Callable[[Scope], str]:
    """A function from a request's scope to the identity that the limiter counts it under.

    A token counts for its user and token version, so that revoked tokens use no slot of their owner. A
    request without a valid token is counted by its address.
    """

    def identify(scope: Scope) -> str:
        claims = _claims(scope, tokens)
        return f"user:{claims.sub}:{claims.ver}" if isinstance(claims, Claims) else by_address(scope)

    return identify


def require_token(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Checks the token of a request before its query and body are read; guards account routes.

    Raises NotAuthenticated or InvalidToken.
    """
    _good_claims(connection.scope, connection.app.state.parts.accounts.tokens)


async def with_account(
    request: HttpRequest, work: Callable[[Account], Awaitable[T]], *, writing: bool = False
) -> T:
    """What `work` gives in a transaction on the account of whoever asks.

    With `writing` no one else writes to the account meanwhile. Raises NotAuthenticated, InvalidToken,
    DatabaseAway, or what `work` raises.
    """
    claims = _good_claims(request.scope, parts_of(request).accounts.tokens)

    async def entered(run: Run) -> T:
        return await work(await open_account(run, claims, writing=writing))

    return await parts_of(request).accounts.database.transaction(entered)


def _good_claims(scope: Any, tokens: Tokens) -> Claims:
    """What the request's token says. Raises NotAuthenticated or InvalidToken."""
    claims = _claims(scope, tokens)
    if claims is _NO_TOKEN:
        raise NotAuthenticated
    if not isinstance(claims, Claims):
        raise InvalidToken
    return claims


def _claims(scope: Any, tokens: Tokens) -> object:
    """The token's claims; None for a bad token. Read once per request."""
    if _CLAIMS not in scope:
        scope[_CLAIMS] = _read(scope, tokens)
    return scope[_CLAIMS]


def _read(scope: Any, tokens: Tokens) -> object:
    token = bearer(scope)
    if token is None:
        return _NO_TOKEN
    try:
        return tokens.read(token)
    except InvalidToken:
        return None


def bearer(scope: Any) -> str | None:
    """The token of the `Authorization` header; empty under another scheme, None where there is none."""
    given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
    scheme, _, token = given.partition(b" ")
    if not token.strip():
        return None
    return token.strip().decode("latin-1") if scheme.lower() == b"bearer" else ""
