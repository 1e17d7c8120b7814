"""Ways around the rate limits, tried over real sockets against two workers."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

import httpx
import pytest
import redis

from whole_service import GROUPS, Whole, whole_service

LIMIT: Final = 10
PASSWORD: Final = "correct horse battery"
#: A route of each kind that takes a name, and one that takes an id.
NAMED: Final = (
    "/api/market/quotes/{}",
    "/api/market/bars/{}",
    "/api/crypto/quotes/{}%2FUSDT",
    "/api/crypto/bars/{}-USDT",
    "/api/doviz/quotes/{}",
    "/api/financials/company/{}/metrics",
    "/api/financials/company/{}/overview",
)
HOLDING: Final = "/api/portfolio/holdings/{}"


@pytest.fixture(scope="module")
def limited() -> Iterator[Whole]:
    """The service with small limits."""
    with whole_service({f"QUOTECAST_LIMIT_{group}": str(LIMIT) for group in GROUPS}) as running:
        yield running


@pytest.fixture
def client(limited: Whole) -> Iterator[httpx.Client]:
    """Windows are empty at the start. Each request opens a connection, so that both workers answer."""
    with redis.Redis.from_url(limited.redis.url) as server:
        for key in server.scan_iter("*:limits:*"):
            server.delete(key)
    limits = httpx.Limits(max_keepalive_connections=0)
    with httpx.Client(base_url=limited.service.url, timeout=20, limits=limits) as client:
        yield client


def keys(limited: Whole) -> set[bytes]:
    """The windows that Redis holds."""
    with redis.Redis.from_url(limited.redis.url) as server:
        return {key for key in server.scan_iter("*:limits:*") if b":budgets:" not in key}


@pytest.mark.parametrize("path", NAMED)
def test_invented_names_share_one_window(limited: Whole, client: httpx.Client, path: str) -> None:
    """They get 404 up to the limit, then 429, and one key in Redis."""
    statuses = Counter(client.get(path.format(f"INV{n}")).status_code for n in range(3 * LIMIT))
    assert statuses == {404: LIMIT, 429: 2 * LIMIT}
    assert len(keys(limited)) == 1


@pytest.mark.parametrize("signed_in", [False, True])
def test_ids_of_account_items_share_one_window(
    limited: Whole, client: httpx.Client, *, signed_in: bool
) -> None:
    """With a token and without."""
    headers = {}
    if signed_in:
        body = {"name": "Ayşe", "email": "holder@example.com", "password": PASSWORD}
        token = client.post("/api/auth/register", json=body).json()["token"]
        headers = {"authorization": f"Bearer {token}"}
    before = keys(limited)
    paths = [HOLDING.format(f"{number:024x}") for number in range(3 * LIMIT)]
    statuses = Counter(client.delete(path, headers=headers).status_code for path in paths)
    assert statuses == {404 if signed_in else 401: LIMIT, 429: 2 * LIMIT}
    assert len(keys(limited) - before) == 1


def test_known_names_have_windows_of_their_own(client: httpx.Client) -> None:
    """Inventing names costs real ones nothing."""
    for number in range(2 * LIMIT):
        client.get(f"/api/market/quotes/INV{number}")
    for symbol in ("AAPL", "MSFT"):
        left = client.get(f"/api/market/quotes/{symbol}").headers["x-ratelimit-remaining"]
        assert left == str(LIMIT - 1)
