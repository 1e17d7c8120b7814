"""Operators' logins, sessions and codes, over a real PostgreSQL."""

from datetime import UTC, datetime

import pytest

from quotecast.access.plans import Plan
from quotecast.operators import storage
from quotecast.operators.tokens import IDLE_SECONDS, LIFETIME_SECONDS
from quotecast.operators.totp import seal
from support.stages.account_service import account_service
from support.stages.operators import CODES, EMAIL, operations


async def test_operator_signs_in_and_out(accounts_url: str) -> None:
    """The token opens the routes until the logout; both are in the log."""
    async with operations(accounts_url) as service:
        user = await service.operator()
        session = await service.signed_in()
        shown = (await session.get("/session")).json()
        assert (shown["email"], shown["has_totp"], shown["idle_seconds"]) == (EMAIL, False, IDLE_SECONDS)
        assert (await session.post("/logout")).status_code == 204
        ended = await session.get("/session")
        assert (ended.status_code, ended.json()["code"]) == (401, "operator_session_ended")
        assert await service.rows() == [
            ("operators.login", user.id, "", "done"),
            ("operators.logout", user.id, "", "done"),
        ]


async def test_code_works_once(accounts_url: str) -> None:
    """The same code again, and the one before it, are wrong; the next one is right."""
    async with operations(accounts_url) as service:
        await service.operator(with_codes=True)
        service.pass_time(60)
        used = service.code
        await service.signed_in(code=f"{used[:3]} {used[3:]}")
        assert (await service.login(code=used)).status_code == 401
        service.pass_time(30)
        await service.signed_in(code=service.code)
        service.pass_time(-30)
        assert (await service.login(code=used)).status_code == 401
        # Rows of failed logins come after the answers, in any order.
        outcomes = sorted((detail, outcome) for _, _, detail, outcome in await service.rows())
        assert outcomes == [("", "done")] * 2 + [("code used before", "refused")] * 2


@pytest.mark.parametrize("code", ["", "000000", "12345"])
async def test_operator_with_codes_needs_one(accounts_url: str, code: str) -> None:
    """The right password alone opens nothing."""
    async with operations(accounts_url) as service:
        await service.operator(with_codes=True)
        answer = await service.login(code=code)
        assert (answer.status_code, answer.json()["code"]) == (401, "wrong_operator")


async def test_log_tells_codes_of_another_secret(accounts_url: str) -> None:
    """The answer is that of a wrong code; the log says that the operator needs new ones."""
    async with operations(accounts_url) as service:
        user = await service.operator(with_codes=True)
        sealed = seal(CODES, user.id, "a secret before both")
        await service.service.accounts.database.transaction(
            lambda run: storage.add(run, user.id, sealed, datetime.now(UTC))
        )
        assert (await service.login(code=service.code)).status_code == 401
        assert [row[2] for row in await service.rows()] == ["codes sealed with another secret"]


async def test_idle_session_ends(accounts_url: str) -> None:
    """The page's own questions do not renew a session; any other request does."""
    async with operations(accounts_url) as service:
        await service.operator()
        session = await service.signed_in()
        service.pass_time(IDLE_SECONDS - 1)
        assert (await session.get("/session")).status_code == 200
        service.pass_time(IDLE_SECONDS - 1)
        assert (await session.get("/overview")).status_code == 200
        service.pass_time(1)
        assert (await session.get("/overview")).status_code == 401


async def test_session_ends_however_much_it_is_used(accounts_url: str) -> None:
    """After its lifetime no use renews it."""
    async with operations(accounts_url) as service:
        await service.operator()
        session = await service.signed_in()
        for _ in range(LIFETIME_SECONDS // IDLE_SECONDS * 2 - 1):
            service.pass_time(IDLE_SECONDS / 2)
            assert (await session.get("/users")).status_code == 200
        service.pass_time(IDLE_SECONDS / 2)
        assert (await session.get("/users")).status_code == 401


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM operators",
        "DELETE FROM operator_sessions",
        "UPDATE users SET disabled = true",
        "UPDATE users SET token_version = token_version + 1",
        "DELETE FROM users",
    ],
)
async def test_session_ends_at_once(accounts_url: str, statement: str) -> None:
    """Without the role, the session, the user, or with other credentials, the next request is refused."""
    async with operations(accounts_url) as service:
        await service.operator()
        session = await service.signed_in()

        async def change(connection: object) -> None:
            await connection.execute(statement)  # type: ignore[attr-defined]  # asyncpg's

        await service.service.accounts.database.session(change)
        assert (await session.get("/overview")).status_code == 401
        assert (await session.post("/users/5f3a9c0e1b2d4f6a8c0e1b2d/disable")).status_code == 401


async def test_sixth_session_ends_the_oldest(accounts_url: str) -> None:
    """An operator has five sessions at most."""
    async with operations(accounts_url) as service:
        await service.operator()
        sessions = []
        for _ in range(6):
            service.pass_time(1)
            sessions.append(await service.signed_in())
        assert [(await each.get("/overview")).status_code for each in sessions] == [401, *[200] * 5]


async def test_closed_plans_do_not_close_the_page(accounts_url: str) -> None:
    """Where clients without a key have nothing at all, operators sign in and act all the same."""
    nothing = Plan(feeds=(), doors=())
    async with operations(accounts_url, plans={"anonymous": nothing, "user": nothing}) as service:
        await service.operator()
        session = await service.signed_in()
        for path in ("/overview", "/users", "/keys", "/actions", "/usage", "/quality"):
            assert (await session.get(path)).status_code == 200


async def test_routes_are_not_there_while_the_page_is_off(accounts_url: str) -> None:
    """Without QUOTECAST_ADMIN=on every path of operators is a 404, and no document names it."""
    async with account_service(accounts_url) as service:
        for method, path in (("POST", "login"), ("GET", "overview"), ("GET", "users")):
            answer = await service.client.request(method, f"/api/admin/{path}")
            assert answer.status_code == 404
        assert "/api/admin" not in (await service.client.get("/api/openapi.json")).text


async def test_document_has_the_routes_of_operators(accounts_url: str) -> None:
    """Where the page is on, the OpenAPI document has its routes under a security scheme of their own."""
    async with operations(accounts_url) as service:
        document = (await service.client.get("/api/openapi.json")).json()
    routes = {path: item for path, item in document["paths"].items() if path.startswith("/api/admin/")}
    assert len(routes) == 14
    assert "operator" in document["components"]["securitySchemes"]
    secured = [operation.get("security") for item in routes.values() for operation in item.values()]
    assert secured.count([{"operator": []}]) == 13
