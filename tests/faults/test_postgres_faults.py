"""PostgreSQL dies and freezes, and clients of accounts disconnect, with the whole service running."""

import asyncio
import json
import random
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import httpx
import pytest

from quotecast.ingest import alerts
from support.clients.plain_http import NO_TLS
from support.oracles.transactions import until_idle
from support.runs.deadlines import scaled
from support.runs.figures import Figures
from support.runs.waits import wait_until
from support.servers.whole_service import Whole
from support.stages.account_outage import HOLDINGS, WritingUser, judge_outage

OUTAGE_SECONDS = 10.0
#: PostgreSQL connections of both workers together.
CONNECTIONS: Final = 16
#: Those of the pools of all processes: two workers and two ingests.
MOST_CONNECTIONS: Final = CONNECTIONS + 2 * alerts.DELIVERY_CONNECTIONS
RESET: Final = struct.pack("ii", 1, 0)


@pytest.mark.parametrize("how", ["killed", "frozen"])
@pytest.mark.vital
def test_postgres_is_away(whole: Whole, figures: Figures, how: str) -> None:
    """Markets go on; account routes answer 503 in time, recover soon, and lose no acknowledged write."""
    if how == "killed":
        judge_outage(whole, figures, whole.postgres.kill, whole.postgres.start, OUTAGE_SECONDS)
    else:
        judge_outage(whole, figures, whole.postgres.freeze, whole.postgres.thaw, OUTAGE_SECONDS)


def test_own_bars_without_postgres(whole: Whole, figures: Figures) -> None:
    """Bars that a worker has a copy of stay; others are simulated, in time; own ones are back soon."""
    path = f"{whole.service.url}/api/doviz/bars"
    copied = httpx.get(f"{path}/USD?timeframe=1m", timeout=scaled(20), verify=NO_TLS)
    assert copied.status_code == 200
    whole.postgres.kill()
    try:
        again = httpx.get(f"{path}/USD?timeframe=1m", timeout=scaled(20), verify=NO_TLS)
        assert again.status_code == 200
        # If a minute has ended meanwhile, the oldest bar leaves for it.
        assert {bar["time"] for bar in copied.json()[1:]} <= {bar["time"] for bar in again.json()}
        began = time.monotonic()
        others = httpx.get(f"{path}/EUR?timeframe=4h", timeout=scaled(20), verify=NO_TLS)
        figures.at_most("bars without a copy are answered", time.monotonic() - began, 2.5)
        price = httpx.get(
            f"{whole.service.url}/api/doviz/quotes/EUR", timeout=scaled(20), verify=NO_TLS
        ).json()["price"]
        assert others.status_code == 200
        assert len(others.json()) > 1
        assert others.json()[-1]["close"] == pytest.approx(price, rel=0.01)
        lines = httpx.get(
            f"{whole.service.url}/api/doviz/sparklines?symbols=EUR", timeout=scaled(20), verify=NO_TLS
        )
        assert lines.headers["x-cache"] == "STALE"
        assert (lines.status_code, len(lines.json()["EUR"]["closes"]) > 0) == (200, True)
    finally:
        whole.postgres.start()
    began = time.monotonic()
    lines_of = f"{whole.service.url}/api/doviz/sparklines?symbols=GBP"
    wait_until(
        lambda: httpx.get(lines_of, timeout=scaled(20), verify=NO_TLS).headers["x-cache"] != "STALE",
        "the lines stay stale",
        pause=0.1,
    )
    figures.at_most("bars are back", time.monotonic() - began, 10)


def test_clients_cut_off_cost_no_connection(whole: Whole, figures: Figures) -> None:
    """Clients that disconnect during a request leak no connection and mix up no answers."""
    users = [WritingUser(whole) for _ in range(4)]
    moments = random.Random(20)
    for user in users:
        wait_until(lambda: user.buy() == 201, "nobody can buy")  # noqa: B023 - called at once
    for _ in range(60):
        disconnect_after(
            whole, moments.choice(users), moments.uniform(0, 0.02), moments.choice(["GET", "POST"])
        )
    began = time.monotonic()
    with ThreadPoolExecutor(2 * CONNECTIONS) as pool:
        answers = list(pool.map(WritingUser.holding_ids, users * (2 * CONNECTIONS // len(users))))
    figures.at_most("pools are whole", time.monotonic() - began, 5)
    # What a client did not wait for may be written meanwhile.
    held = [set(user.holding_ids()) for user in users]
    for number, user in enumerate(users):
        assert all(
            set(user.acknowledged) <= set(each) <= held[number] for each in answers[number :: len(users)]
        )
    assert sum(map(len, held)) == len(set().union(*held))
    asyncio.run(until_idle(whole.postgres.url, at_most=MOST_CONNECTIONS))


def disconnect_after(whole: Whole, user: WritingUser, seconds: float, method: str) -> None:
    """Sends a request and disconnects that much later without reading."""
    body = json.dumps({"ticker": "AAPL", "shares": 1, "avg_cost": 2})
    head: dict[str, Any] = {**user.headers, "Host": "quotecast", "Content-Type": "application/json"}
    lines = [f"{method} {HOLDINGS} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items())]
    with socket.create_connection(("127.0.0.1", whole.service.port)) as client:
        client.sendall("\r\n".join([*lines, f"Content-Length: {len(body)}", "", body]).encode())
        time.sleep(seconds)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
