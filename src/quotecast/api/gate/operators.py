"""The operator's interface: its services, opened for one worker where the page is on, and who may use it.

That takes a token of its own in a header, from this service's own page.
"""

import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeVar

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from msgspec import Struct

from quotecast.access.plans import Plan
from quotecast.api.gate.identity import bearer
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.database.database import Run
from quotecast.operators import sessions
from quotecast.operators.actions import MAX_ACTOR, Actor
from quotecast.operators.errors import CrossSite, OperatorSessionEnded
from quotecast.operators.reports.model import Report
from quotecast.operators.reports.store import ReportStore
from quotecast.operators.sessions import OperatorSeen
from quotecast.operators.tokens import OperatorClaims, OperatorTokens
from quotecast.settings.model import Settings

#: What browsers say of a request's origin. The page's own are `same-origin`; `none` is an address typed in.
_OWN: Final = frozenset({b"same-origin", b"none"})

T = TypeVar("T")


class Reports(Protocol):
    """The part of a `ReportStore` that the routes use."""

    async def all(self) -> list[Report]:
        """Returns the reports that have not expired."""
        ...


class Admin(Struct, frozen=True, kw_only=True):
    """Everything that only operators' routes need."""

    tokens: OperatorTokens
    #: The secrets of the service: the newest first. They unseal the secrets of codes.
    secrets: Sequence[str]
    #: The plans of the file, by name.
    plans: Mapping[str, Plan]
    reports: Reports


def admin_of(request: HttpRequest) -> Admin:
    """Returns the services of the operator's routes."""
    found: Admin = request.app.state.admin
    return found


@contextlib.asynccontextmanager
async def open_admin(
    settings: Settings, plans: Mapping[str, Plan]
) -> AsyncIterator[tuple[Admin, ReportStore] | None]:
    """Yields the services and the store of reports; None where the page is off."""
    if settings.admin == "off":
        yield None
        return
    secrets = [secret for secret in (settings.jwt_secret, settings.jwt_previous_secret) if secret]
    async with ReportStore(settings.redis_url, settings.redis_prefix) as store:
        tokens = OperatorTokens(secrets, time.time)
        yield Admin(tokens=tokens, secrets=secrets, plans=plans, reports=store), store


def refuse_other_sites(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Guards all routes of operators, the login too. Raises CrossSite.

    Clients other than browsers omit the header, and pass.
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
