"""Hostile JSON bodies, at every operation that takes one."""

from collections.abc import AsyncIterator, Mapping
from typing import Final

import pytest

from support.stages.account_service import PASSWORD, AccountService, User, account_service

OPERATIONS: Final[Mapping[tuple[str, str], str]] = {
    ("POST", "/api/auth/register"): f'"name":"A","email":"other@example.com","password":"{PASSWORD}"',
    ("POST", "/api/auth/login"): f'"email":"ayse@example.com","password":"{PASSWORD}"',
    ("PATCH", "/api/auth/profile"): '"name":"Ayşe"',
    ("POST", "/api/portfolio/holdings"): '"ticker":"AAPL","shares":1,"avg_cost":1',
    ("POST", "/api/watchlist"): '"ticker":"AAPL"',
    ("PUT", "/api/watchlist/order"): '"symbols":[{"ticker":"AAPL","type":"stock"}]',
    ("PATCH", "/api/watchlists/default"): '"name":"Metals"',
    ("PUT", "/api/terminal/layout"): '"layout":{}',
}
#: Bodies with the statuses that refuse them; `{}` is the operation's valid body.
REFUSED: Final[Mapping[str, tuple[str, set[int]]]] = {
    "nothing": ("", {400}),
    "a byte order mark": ("\ufeff{{{}}}", {400}),
    "nesting": ('{{"x":' + "[" * 30_000 + "]" * 30_000 + ",{}}}", {400}),
    "nesting that never ends": ("{{" + '"x":{{' * 10_000, {400}),
    "not a number": ('{{{},"x":NaN}}', {400}),
    "infinity": ('{{{},"x":-Infinity}}', {400}),
    "a lone surrogate as a name": ('{{{},"\\ud800":1}}', {400}),
    "a raw NUL": ('{{{},"x":"\0"}}', {400}),
    "an end too many": ("{{{}}}}}", {400}),
    "a list": ("[{{{}}}]", {422}),
    "80 KB and a byte": ("{{{}}}" + " " * 81_921, {413}),
}
#: Bodies that the service accepts, because the attack is in fields that it ignores.
PASSED_OVER: Final[Mapping[str, str]] = {
    "a huge number": '{{{},"x":' + "9" * 5000 + ',"y":1e999999,"z":-1e-999999}}',
    "an escaped NUL": '{{{},"\\u0000":"\\u0000"}}',
    "names of objects' insides": '{{{},"__proto__":{{"a":1}},"constructor":null,"__class__":"x"}}',
    "a name twice": "{{{0},{0}}}",
}


@pytest.fixture
async def service(accounts_url: str) -> AsyncIterator[AccountService]:
    async with account_service(accounts_url) as service:
        yield service


@pytest.fixture
async def user(service: AccountService) -> User:
    return await service.register()


@pytest.mark.parametrize("name", REFUSED)
async def test_unreadable_bodies_are_rejected(user: User, name: str) -> None:
    """Unreadable bodies get 400, 422 or 413; never 500."""
    text, statuses = REFUSED[name]
    for (method, path), asked_for in OPERATIONS.items():
        answer = await user.ask(method, path, content=text.format(asked_for).encode())
        assert answer.status_code in statuses, (path, answer.text)
        assert isinstance(answer.json()["detail"], str)


@pytest.mark.parametrize("name", PASSED_OVER)
async def test_unknown_fields_are_ignored(user: User, name: str) -> None:
    """Unknown fields do not change the result."""
    for (method, path), asked_for in OPERATIONS.items():
        answer = await user.ask(method, path, content=PASSED_OVER[name].format(asked_for).encode())
        assert answer.status_code in {200, 201}, (path, answer.text)
