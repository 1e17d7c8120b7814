"""Requests within and outside of the OpenAPI document on the operator's routes, over real processes."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from security.test_openapi_fuzzed import run_schemathesis
from support.servers.users_command import command
from support.servers.whole_service import Whole, whole_service
from support.stages.account_service import PASSWORD, SECRET

EMAIL: Final = "ops@example.com"
ROUTES: Final = ("--include-path-regex", "^/api/admin/")
#: These may end the session that all other requests need.
ENDING: Final = "(logout|users/.*/[a-z]+)$"


@pytest.fixture(scope="module")
def operated() -> Iterator[Whole]:
    """Runs the service with the operator's page."""
    with whole_service({"QUOTECAST_ADMIN": "on", "QUOTECAST_LIMIT_ADMIN": "1000000"}) as running:
        yield running


@pytest.mark.slow
def test_operators_routes_have_no_fault(operated: Whole, tmp_path: Path) -> None:
    """Neither a stranger nor an operator gets a 5xx, an undocumented status or an unknown answer."""
    body = {"name": "Ops", "email": EMAIL, "password": PASSWORD}
    operated.post("/api/auth/register", body)
    added = command("add", EMAIL, of="operators", database_url=operated.postgres.url, jwt_secret=SECRET)
    assert asyncio.run(added)[0] == 0
    status, session = operated.post("/api/admin/login", {"email": EMAIL, "password": PASSWORD, "code": ""})
    assert status == 200
    given = ("--header", f"Authorization: Bearer {session['token']}")
    assert f"Tested: {operations(operated)}" in run_schemathesis(operated, tmp_path, 5, *ROUTES)
    more = (*given, "--exclude-path-regex", ENDING)
    assert f"Tested: {operations(operated, but=ENDING)}" in run_schemathesis(
        operated, tmp_path, 5, *ROUTES, *more
    )
    headers = {"Authorization": f"Bearer {session['token']}"}
    assert operated.service.get("/api/admin/session", headers=headers).status_code == 200


def operations(operated: Whole, but: str = "^$") -> int:
    """Returns how many operations of the operator's page the OpenAPI document has, but for some paths."""
    paths = operated.service.get("/api/openapi.json").json()["paths"]
    return sum(
        len(item)
        for path, item in paths.items()
        if path.startswith("/api/admin/") and not re.search(but, path)
    )
