"""The services behind the operator's routes, opened for one worker where the page is on."""

import contextlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from quotecast.access.plans import Plan
from quotecast.api.market.services import HttpRequest
from quotecast.operators.reports.model import Report
from quotecast.operators.reports.store import ReportStore
from quotecast.operators.tokens import OperatorTokens
from quotecast.settings.model import Settings


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
