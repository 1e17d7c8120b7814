"""Whose window counts a request: that of its user, of its API key, or of its address."""

from datetime import UTC, datetime
from typing import Any, Final

import pytest

from quotecast.access.grant import Grant
from quotecast.access.key_book import Holder
from quotecast.access.keys import key_of_session
from quotecast.access.plans import Plan
from quotecast.access.request_state import request_state
from quotecast.api.gate.identity import identify_by_user
from quotecast.api.limits.throttle import Throttle
from quotecast.limits.decision import Decision, LimitedPath
from quotecast.users.tokens import Tokens
from support.made.factories import NOW

BEGUN: Final = datetime.fromtimestamp(NOW, UTC)
USER: Final = "0" * 24
TOKENS: Final = Tokens(["a secret of tests, known to everybody"], lifetime_seconds=60, clock=lambda: NOW)


def client_of(group: str, *, token: str = "", key: str = "") -> str:
    """Returns the client whose window counts a request."""
    counted: list[str] = []

    def check(window: str, limit: int) -> Decision:
        counted.append(window)
        return Decision(admitted=True, limit=limit, remaining=limit, reset=0)

    async def give_back(_: str) -> None:
        raise AssertionError

    def by_address(_: Any) -> str:
        return "address"

    throttle = Throttle(
        check,
        give_back,
        limits={group: 60},
        find=lambda _group, name: name,
        identify=identify_by_user(TOKENS, by_address),
        by_address=by_address,
    )
    scope: dict[str, Any] = {"headers": [(b"authorization", f"Bearer {token}".encode())] if token else []}
    state = request_state(scope)
    if key:
        state.grant = Grant.of(Holder(key_of_session(key, USER, BEGUN, BEGUN), "user", Plan()))
    throttle.decide(scope, state, LimitedPath(group, 60, "/path", (), by_address=False))
    return counted[0].removesuffix(" /path")


def issue(version: int = 0) -> str:
    return TOKENS.issue(USER, version, USER)


@pytest.mark.parametrize("group", ["auth", "portfolio", "watchlist", "alerts", "terminal", "mcp"])
def test_a_key_beside_a_token_gives_no_other_window_on_account_routes(group: str) -> None:
    """A user with 20 keys has one window of an account's path; a key alone has its own."""
    of_user = client_of(group, token=issue())
    assert client_of(group, token=issue(), key="a") == client_of(group, token=issue(), key="b") == of_user
    assert client_of(group, key="a") not in {client_of(group, key="b"), of_user, "address"}
    assert client_of(group, token="void", key="a") == client_of(group, key="a")


@pytest.mark.parametrize("group", ["auth", "market"])
def test_a_new_version_of_the_tokens_gives_no_new_window(group: str) -> None:
    """A user raises it by changing the password, or by ending all sessions."""
    assert client_of(group, token=issue(1)) == client_of(group, token=issue()) != "address"


@pytest.mark.parametrize("group", ["market", "crypto", "doviz", "financials", "search", "prices"])
def test_public_reads_with_a_key_count_for_the_key(group: str) -> None:
    """Its plan has limits of its own there, whatever token comes with it."""
    assert client_of(group, token=issue(), key="a") == client_of(group, key="a") != client_of(group)
    assert client_of(group, token=issue()) != client_of(group) == "address"
