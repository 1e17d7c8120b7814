"""Which plan a request has that carries the token of a login."""

from typing import Any

import pytest

from quotecast.access.plans import Plan
from quotecast.access.request_state import request_state
from quotecast.access.usage import Usage
from quotecast.api.gate.gate import Everybody, Gate
from quotecast.api.views.delayed import DelayedMarket
from quotecast.api.views.views import Views
from quotecast.feed.documents import Documents
from quotecast.users.tokens import Claims
from support.made.factories import app_of, full_mirrors, services

PLANS = {"anonymous": Plan(freshness="delayed"), "user": Plan()}
HEADERS = [(b"authorization", b"Bearer of.a.login")]


class Sessions:
    """Finds one open session."""

    async def is_open_session(self, session_id: str) -> bool:
        return session_id == "open"


async def plan_of(kind: str, path: str, session: str = "") -> str:
    """Returns the name of the plan that a request with the token of a session gets."""
    seen: list[dict[str, Any]] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        seen.append(scope)

    finder: Any = Sessions()
    made = services(full_mirrors())
    gate = Gate(
        app,
        app_of(made).state.table,
        finder=finder,
        usage=Usage(),
        everybody=Everybody.of(PLANS),
        views=Views(made, DelayedMarket(full_mirrors(), Documents(), 900)),
        address_of=lambda _: "client",
        client_of=lambda _: None,
        claims_of=lambda _: Claims("5f3a9c0e1b2d4f6a8c0e1b2d", 0, 2**40, "token", 0, session),
    )
    scope = {"type": kind, "path": path, "query_string": b"", "headers": HEADERS, "method": "GET"}
    nothing: Any = None
    await gate(scope, nothing, nothing)
    grant = request_state(seen[0]).grant
    assert grant is not None
    return grant.plan_name


@pytest.mark.parametrize(("session", "plan"), [("open", "user"), ("ended", "anonymous")])
async def test_reads_have_the_plan_of_users_until_the_session_ends(session: str, plan: str) -> None:
    assert await plan_of("http", "/api/market/quotes", session) == plan
