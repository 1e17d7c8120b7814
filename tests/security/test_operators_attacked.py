"""Attacks on the operator's interface, over a real PostgreSQL."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final

import jwt
import pytest
import structlog

from quotecast.access import key_text
from quotecast.operators.tokens import OperatorTokens
from support.made.factories import NOW
from support.stages.account_service import PASSWORD, SECRET
from support.stages.operators import EMAIL, Operations, operations

KEY_ID: Final = "01a1fc87e0c47a905dd5d088"
USER_ID: Final = "5f3a9c0e1b2d4f6a8c0e1b2d"
ROUTES: Final = [
    ("GET", "/session"),
    ("POST", "/logout"),
    ("GET", "/overview"),
    ("GET", "/usage"),
    ("GET", "/quality"),
    ("GET", "/actions"),
    ("GET", "/users"),
    ("POST", f"/users/{USER_ID}/disable"),
    ("POST", f"/users/{USER_ID}/enable"),
    ("POST", f"/users/{USER_ID}/revoke"),
    ("GET", "/keys"),
    ("POST", f"/keys/{KEY_ID}/revoke"),
    ("POST", f"/keys/{KEY_ID}/plan"),
]


async def statuses(service: Operations, headers: Mapping[str, str]) -> set[int]:
    """Returns the statuses of all routes but the login."""
    answers = [
        await service.client.request(method, f"/api/admin{path}", headers=headers, json={"plan": "user"})
        for method, path in ROUTES
    ]
    return {answer.status_code for answer in answers}


async def test_list_of_routes_is_whole(accounts_url: str) -> None:
    """The rows below try every route that the document has."""
    async with operations(accounts_url) as service:
        document = (await service.client.get("/api/openapi.json")).json()
    found = {path for path in document["paths"] if path.startswith("/api/admin/")} - {"/api/admin/login"}
    tried = {path.replace(USER_ID, "{user_id}").replace(KEY_ID, "{key_id}") for _, path in ROUTES}
    assert found == {f"/api/admin{path}" for path in tried}


async def test_no_other_credential_opens_a_route(accounts_url: str) -> None:
    """Neither a user's token, an operator's own one included, nor an API key, nor forged claims."""
    async with operations(accounts_url) as service:
        user = await service.operator()
        operator = await service.signed_in()
        made = await user.post("/api/keys", {"name": "Mine"})
        claims = jwt.decode(operator.token, options={"verify_signature": False})
        users_key = service.service.accounts.tokens
        forged = {
            "a user's token": user.token,
            "an API key": made.json()["secret_key"],
            "a user's key signs": jwt.encode(claims, SECRET, "HS256"),
            "no algorithm": jwt.encode(claims, None, "none"),  # type: ignore[arg-type]  # an attack
            "another secret": OperatorTokens(["another"], lambda: NOW).issue(user.id, claims["sid"]),
            "an unknown session": OperatorTokens([SECRET], lambda: NOW).issue(user.id, KEY_ID),
            "another user's session": OperatorTokens([SECRET], lambda: NOW).issue(USER_ID, claims["sid"]),
            "a device": users_key.issue_device(user.id),
            "too long": operator.token + "x" * 2000,
            "cut short": operator.token[:-4],
        }
        for name, token in forged.items():
            assert await statuses(service, {"authorization": f"Bearer {token}"}) <= {401, 403}, name
        assert await statuses(service, {}) == {401}
        assert await statuses(service, {"cookie": f"token={operator.token}"}) == {401}
        key = made.json()["secret_key"]
        assert await statuses(service, {"x-api-key": key, "authorization": f"Bearer {user.token}"}) <= {
            401,
            403,
        }


async def test_purpose_is_part_of_the_token(accounts_url: str) -> None:
    """The right key alone opens nothing without the purpose; an operator's token opens no account."""
    async with operations(accounts_url) as service:
        user = await service.operator()
        session = await service.signed_in()
        tokens = OperatorTokens([SECRET], lambda: NOW)
        claims = jwt.decode(session.token, options={"verify_signature": False})
        for changed in ({**claims, "use": "user"}, {name: claims[name] for name in claims if name != "use"}):
            token = jwt.encode(changed, tokens._keys[0], "HS256")
            answer = await service.client.get(
                "/api/admin/users", headers={"authorization": f"Bearer {token}"}
            )
            assert answer.status_code == 401
        for path in ("/api/auth/profile", "/api/keys", "/api/portfolio/holdings"):
            answer = await service.client.get(path, headers={"authorization": f"Bearer {session.token}"})
            assert answer.status_code == 401
        assert (await user.get("/api/auth/profile")).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "CROSS-SITE", "", "none, cross-site"])
async def test_other_sites_can_do_nothing(accounts_url: str, site: str) -> None:
    """What a browser sends for another page is refused, with a good token and at the login too."""
    async with operations(accounts_url) as service:
        await service.operator()
        session = await service.signed_in()
        headers = {"authorization": f"Bearer {session.token}", "sec-fetch-site": site}
        assert await statuses(service, headers) == {403}
        assert (await service.login(**{"sec-fetch-site": site})).status_code == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "http://localhost:3000", "null"])
async def test_no_origin_may_read_or_preflight(accounts_url: str, origin: str) -> None:
    """No answer has a CORS permission, so no browser sends an operator's header from elsewhere."""
    async with operations(accounts_url) as service:
        preflight = await service.client.request(
            "OPTIONS",
            "/api/admin/users",
            headers={
                "origin": origin,
                "access-control-request-method": "POST",
                "access-control-request-headers": "authorization",
            },
        )
        answer = await service.client.get("/api/admin/users", headers={"origin": origin})
    assert "access-control-allow-origin" not in preflight.headers
    assert "access-control-allow-origin" not in answer.headers


async def test_refusals_of_a_login_are_alike(accounts_url: str) -> None:
    """Unknown email, user without the role, wrong password and wrong code have one status, text and code."""
    async with operations(accounts_url) as service:
        await service.operator(with_codes=True)
        await service.service.register("user@example.com")
        tries = {
            "unknown": ("nobody@example.com", PASSWORD, service.code),
            "no operator": ("user@example.com", PASSWORD, ""),
            "wrong password": (EMAIL, "wrong password", service.code),
            "no code": (EMAIL, PASSWORD, ""),
            "wrong code": (EMAIL, PASSWORD, "000000"),
            "no digits": (EMAIL, PASSWORD, "٢٨٧٠٨٢"),
        }
        seen = []
        for given in tries.values():
            answer = await service.login(*given)
            body = {name: value for name, value in answer.json().items() if name != "request_id"}
            seen.append((answer.status_code, json.dumps(body), answer.headers.get("www-authenticate")))
        assert len(set(seen)) == 1, dict(zip(tries, seen, strict=True))
        assert {row[2] for row in await service.rows()} == {"wrong password", "wrong code"}


@pytest.mark.parametrize("email", ["nobody@example.com", "user@example.com", EMAIL])
async def test_refused_login_takes_the_same_steps(
    accounts_url: str, monkeypatch: pytest.MonkeyPatch, email: str
) -> None:
    """Unknown email, user and operator cost one hash and three counts; no answer waits for the log."""
    async with operations(accounts_url) as service:
        await service.operator(with_codes=True)
        await service.service.register("user@example.com")
        steps: list[str] = []

        def noting(owner: Any, name: str) -> None:
            plain = getattr(owner, name)

            def noted(*arguments: Any, **others: Any) -> Any:
                steps.append(name)
                return plain(*arguments, **others)

            monkeypatch.setattr(owner, name, noted)

        accounts = service.service.accounts
        noting(accounts.passwords, "verify")
        noting(accounts.logins._limits, "check")
        for password in ("wrong password", PASSWORD):
            steps.clear()
            assert (await service.login(email, password, "000000")).status_code == 401
            assert sorted(steps) == ["check", "check", "check", "verify"]


async def test_guesses_are_bounded(accounts_url: str) -> None:
    """After ten guesses from an address the right password is refused too, for that operator alone."""
    async with operations(accounts_url) as service:
        await service.operator()
        await service.operator("other@example.com")
        for _ in range(10):
            assert (await service.login(password=f"wrong {_} password")).status_code == 401
        assert (await service.login()).status_code == 429
        assert (await service.login("other@example.com")).status_code == 200
        # The window of the terminal is another one.
        body = {"email": EMAIL, "password": PASSWORD}
        assert (await service.client.post("/api/auth/login", json=body)).status_code == 200


async def test_logins_of_users_use_up_no_attempts_of_operators(accounts_url: str) -> None:
    """No email at the terminal's login counts as an operator's: a proxy closes only the operator's own."""
    async with operations(accounts_url) as service:
        await service.operator()
        # Without the cookie of the registration each request is that of an unknown device.
        service.client.cookies.clear()
        body = {"email": f"operator {EMAIL}", "password": "wrong password"}
        for number in range(100):
            headers = {"x-forwarded-for": f"203.{number}.1.1"}
            answer = await service.client.post("/api/auth/login", json=body, headers=headers)
            assert answer.status_code == 401
        assert (await service.login(**{"x-forwarded-for": "198.51.100.1"})).status_code == 200


async def test_codes_are_not_guessed_from_many_addresses(accounts_url: str) -> None:
    """Ten wrong codes after the right password lock the operator out; the answer stays the same."""
    async with operations(accounts_url) as service:
        await service.operator(with_codes=True)
        answers = []
        for number in range(12):
            # Proxies on the loopback interface are trusted in tests.
            address = {"x-forwarded-for": f"203.0.{number}.1"}
            answers.append(await service.login(code="000000", **address))
        last = await service.login(code=service.code, **{"x-forwarded-for": "203.0.99.1"})
        assert {answer.status_code for answer in [*answers, last]} == {401}
        # Rows come after the answers, in any order.
        details = sorted(row[2] for row in await service.rows())
        assert details == ["too many wrong codes"] * 3 + ["wrong code"] * 10


async def test_same_code_at_once_signs_in_once(accounts_url: str) -> None:
    """Of ten requests with one code, one gets a session."""
    async with operations(accounts_url) as service:
        await service.operator(with_codes=True)
        answers = await asyncio.gather(*(service.login(code=service.code) for _ in range(5)))
        assert sorted(answer.status_code for answer in answers) == [200, 401, 401, 401, 401]


async def test_unknown_logins_fill_no_table(accounts_url: str) -> None:
    """Nobody without the role can add rows to a log whose rows stay."""
    async with operations(accounts_url) as service:
        await service.operator()
        await service.service.register("user@example.com")
        for email in ("nobody@example.com", "user@example.com"):
            for _ in range(5):
                await service.login(email, "wrong password")
        assert await service.rows() == []


async def test_no_secret_is_in_a_log_or_an_answer(accounts_url: str) -> None:
    """Neither password, code, token, hash nor the secret of codes, in the table, the logs or any list."""
    with structlog.testing.capture_logs() as logged:
        async with operations(accounts_url) as service:
            user = await service.operator(with_codes=True)
            code = service.code
            key = key_text.parse((await user.post("/api/keys", {"name": "Mine"})).json()["secret_key"])
            session = await service.signed_in(code=code)
            await service.login(password="a password of another service")
            shown = [(await session.get(path)).text for path in ("/users", "/keys", "/actions", "/session")]
            texts = f"{shown} {await service.rows()} {logged}"
    assert key
    for secret in (PASSWORD, code, session.token, key.secret, "argon2", "another service"):
        assert secret not in texts


@pytest.mark.parametrize(
    "find", ["' OR 1=1 --", "%", "_", "\\", "{}", "\u0000", "x" * 255, "\U0001f600", "$1", "{user_id}"]
)
async def test_search_is_a_text(accounts_url: str, find: str) -> None:
    """No search is a pattern or a statement; one that is too long is 422."""
    async with operations(accounts_url) as service:
        await service.operator()
        session = await service.signed_in()
        for path in ("users", "keys"):
            answer = await service.client.get(
                f"/api/admin/{path}",
                params={"find": find, "before": find[:24]},
                headers={"authorization": f"Bearer {session.token}"},
            )
            assert answer.status_code == (422 if len(find) > 254 else 200)
            if answer.status_code == 200 and find.strip("\0"):
                listed: Any = answer.json()
                assert (listed if path == "users" else listed["keys"]) == []
