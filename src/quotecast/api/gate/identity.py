"""Identity of a request: the user of its token, else a network address."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from quotecast.access.errors import KeyNotEnough
from quotecast.access.keys import Key
from quotecast.access.request_state import NoClaims, request_state
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.asgi import Scope, header_value
from quotecast.database.database import Run
from quotecast.errors import InvalidToken, NotAuthenticated
from quotecast.users.account import Account, open_account
from quotecast.users.tokens import Claims, Tokens

T = TypeVar("T")


def valid_claims(tokens: Tokens) -> Callable[[Scope], Claims | None]:
    """Returns a function from a request's scope to the claims of its token; to None without a valid one."""

    def claims_of(scope: Scope) -> Claims | None:
        claims = _claims(scope, tokens)
        return claims if isinstance(claims, Claims) else None

    return claims_of


def identify_by_user(tokens: Tokens, by_address: Callable[[Scope], str]) -> Callable[[Scope], str]:
    """Returns a function from a request's scope to the identity for the rate limiter.

    The identity is the user; without a valid token it is the address. A revoked token uses slots of its user
    until an account route refuses it: `Tokens.remember_void`.
    """

    def identify(scope: Scope) -> str:
        claims = _claims(scope, tokens)
        return f"user:{claims.sub}" if isinstance(claims, Claims) else by_address(scope)

    return identify


def require_token(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Checks the token before the query and the body are read; guards account routes.

    Raises NotAuthenticated, InvalidToken or KeyNotEnough.
    """
    _require_claims(connection.scope, connection.app.state.services.accounts.tokens)


def require_key(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Guards routes of API keys. Raises NotAuthenticated."""
    key_of(connection.scope)


def key_of(scope: Any) -> Key:
    """Returns the API key of a request that passed the gate. Raises NotAuthenticated without one."""
    grant = request_state(scope).grant
    if grant is None or grant.key is None:
        raise NotAuthenticated("This route needs an API key: send it as X-API-Key")
    return grant.key


async def with_account(
    request: HttpRequest, work: Callable[[Account], Awaitable[T]], *, writing: bool = False
) -> T:
    """Runs `work` in a transaction on the account of the request's user and returns its result.

    With `writing` it locks the account against other writers. Raises NotAuthenticated, InvalidToken,
    DatabaseAway, or an exception of `work`.
    """
    accounts = services_of(request).accounts
    claims = claims_of(request)

    async def run_work(run: Run) -> T:
        return await work(await open_account(run, claims, writing=writing))

    try:
        return await accounts.database.transaction(run_work)
    except InvalidToken:
        # From now on its requests count by address, and use no slot of the user.
        accounts.tokens.remember_void(bearer(request.scope) or "")
        raise


def claims_of(request: HttpRequest) -> Claims:
    """Returns the claims of the request's token. Raises NotAuthenticated or InvalidToken."""
    return _require_claims(request.scope, services_of(request).accounts.tokens)


def _require_claims(scope: Any, tokens: Tokens) -> Claims:
    """Returns the claims of the request's token. Raises NotAuthenticated or InvalidToken."""
    claims = _claims(scope, tokens)
    grant = request_state(scope).grant
    if not isinstance(claims, Claims) and grant is not None and grant.key is not None:
        raise KeyNotEnough
    if claims is NoClaims.ABSENT:
        raise NotAuthenticated
    if not isinstance(claims, Claims):
        raise InvalidToken
    return claims


def _claims(scope: Any, tokens: Tokens) -> Claims | NoClaims:
    """Returns the token's claims, or why there are none; reads the token once per request."""
    state = request_state(scope)
    if state.claims is NoClaims.UNREAD:
        token = bearer(scope)
        try:
            state.claims = NoClaims.ABSENT if token is None else tokens.read(token)
        except InvalidToken:
            state.claims = NoClaims.INVALID
    return state.claims


def bearer(scope: Any) -> str | None:
    """Returns the token of the `Authorization` header: empty under another scheme, None without one."""
    given = header_value(scope, b"authorization") or b""
    scheme, _, token = given.partition(b" ")
    if not token.strip():
        return None
    return token.strip().decode("latin-1") if scheme.lower() == b"bearer" else ""
