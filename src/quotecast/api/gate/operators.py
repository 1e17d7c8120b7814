"""Who may use the operator's interface: a token of its own in a header, from this service's own page."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from quotecast.api.gate.admin_services import Admin, admin_of
from quotecast.api.gate.identity import bearer
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.database.database import Run
from quotecast.operators import sessions
from quotecast.operators.actions import MAX_ACTOR, Actor
from quotecast.operators.errors import CrossSite, OperatorSessionEnded
from quotecast.operators.sessions import OperatorSeen
from quotecast.operators.tokens import OperatorClaims

#: What browsers say of a request's origin. The page's own are `same-origin`; `none` is an address typed in.
_OWN: Final = frozenset({b"same-origin", b"none"})

T = TypeVar("T")


def refuse_other_sites(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Guards all routes of operators, the login too. Raises CrossSite.

    Programs that are no browsers send no such header, and pass.
    """
    for name, value in connection.scope["headers"]:
        if name == b"sec-fetch-site" and value.strip().lower() not in _OWN:
            raise CrossSite


def require_operator(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Checks the token before the query and the body are read. Raises OperatorSessionEnded."""
    _claims(connection.scope, connection.app.state.admin)


async def with_operator(
    request: HttpRequest,
    work: Callable[[Run, OperatorSeen], Awaitable[T]],
    *,
    renewing: bool = True,
    ending: bool = False,
) -> T:
    """Runs `work` in a transaction of a lasting session, and returns its result.

    With `renewing` the session is idle from now on only; with `ending` `work` deletes it.
    Raises OperatorSessionEnded, DatabaseAway, or an exception of `work`.
    """
    claims = _claims(request.scope, admin_of(request))
    now = services_of(request).wall_time()

    async def run_work(run: Run) -> T:
        seen = await sessions.resume(run, claims, now, renewing=renewing, ending=ending)
        return await work(run, seen)

    return await services_of(request).accounts.database.transaction(run_work)


def actor_of(request: HttpRequest, email: str) -> Actor:
    """Returns who acts, for the log: the operator, and the address that limits count."""
    return Actor("page", email[:MAX_ACTOR], services_of(request).accounts.address_of(request.scope)[:50])


def _claims(scope: Any, admin: Admin) -> OperatorClaims:
    token = bearer(scope)
    if not token:
        raise OperatorSessionEnded
    return admin.tokens.read(token)
