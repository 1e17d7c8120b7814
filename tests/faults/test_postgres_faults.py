"""PostgreSQL dies and freezes, and clients of accounts go away, with the whole service running."""

import asyncio
import itertools
import json
import random
import socket
import struct
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest

from figures import Figures
from transactions import until_idle
from whole_service import Whole

HOLDINGS: Final = "/api/portfolio/holdings"
OUTAGES = [pytest.param(10.0, marks=pytest.mark.slow), 3.0]
WRITERS: Final = 2
PACE_SECONDS: Final = 0.05
PATIENCE_SECONDS: Final = 30.0
#: PostgreSQL connections of both workers together.
CONNECTIONS: Final = 16
RESET: Final = struct.pack("ii", 1, 0)

_emails = (f"{number}@example.com" for number in itertools.count())


class User:
    """Somebody who has registered, and what was acknowledged to them."""

    def __init__(self, whole: Whole) -> None:
        self._whole = whole
        body = {"name": "Ayşe", "email": next(_emails), "password": "correct horse battery"}
        status, session = whole.post("/api/auth/register", body)
        assert status == 201
        self.headers = {"Authorization": f"Bearer {session['token']}"}
        self.acknowledged: list[str] = []
        self.statuses: Counter[int] = Counter()
        self.slowest = 0.0

    def buy(self) -> int:
        """The status of a write, which is noted."""
        began = time.monotonic()
        body = {"ticker": "AAPL", "shares": 1, "avg_cost": 2}
        status, told = self._whole.post(HOLDINGS, body, self.headers)
        self.slowest = max(self.slowest, time.monotonic() - began)
        self.statuses[status] += 1
        if status == 201:
            self.acknowledged.append(told["id"])
        return status

    def buy_until(self, over: threading.Event) -> None:
        while not over.wait(PACE_SECONDS):
            self.buy()

    def held(self) -> list[str]:
        """The ids of their holdings, as they are told."""
        answer = self._whole.service.get(HOLDINGS, headers=self.headers)
        assert answer.status_code == 200
        return [each["id"] for each in answer.json()]


@pytest.mark.parametrize("how", ["killed", "frozen"])
@pytest.mark.parametrize("seconds", OUTAGES)
def test_postgres_is_away(whole: Whole, figures: Figures, how: str, seconds: float) -> None:
    """Markets do not notice; account routes say so in time, are back soon, and forget nothing."""
    users = [User(whole) for _ in range(WRITERS)]
    over = threading.Event()
    with whole.loaded() as load, ThreadPoolExecutor(WRITERS) as pool:
        try:
            writing = [pool.submit(user.buy_until, over) for user in users]
            load.until(lambda: all(user.acknowledged for user in users), PATIENCE_SECONDS)
            (whole.postgres.kill if how == "killed" else whole.postgres.freeze)()
            time.sleep(seconds)
            (whole.postgres.start if how == "killed" else whole.postgres.thaw)()
            before = [len(user.acknowledged) for user in users]
            figures.at_most("back", load.until(lambda: back(users, before), PATIENCE_SECONDS), 3)
        finally:
            over.set()
        for each in writing:
            each.result()
        load.until_newer(time.time(), PATIENCE_SECONDS)
        assert (load.errors, load.closes, set(load.statuses())) == ([], {}, {200})
    figures.at_most("slowest answer", max(user.slowest for user in users), 2)
    for user in users:
        assert set(user.statuses) == {201, 503}
        held = user.held()
        assert len(held) == len(set(held))
        assert set(user.acknowledged) <= set(held)


def back(users: list[User], before: list[int]) -> bool:
    return all(len(user.acknowledged) > count for user, count in zip(users, before, strict=True))


def test_clients_cut_off_cost_no_connection(whole: Whole, figures: Figures) -> None:
    """At any moment of any request: the pools are whole soon after, and nobody gets another's answer."""
    users = [User(whole) for _ in range(4)]
    moments = random.Random(20)
    for user in users:
        assert user.buy() == 201
    for _ in range(60):
        cut_off(whole, moments.choice(users), moments.uniform(0, 0.02), moments.choice(["GET", "POST"]))
    began = time.monotonic()
    with ThreadPoolExecutor(2 * CONNECTIONS) as pool:
        told = list(pool.map(User.held, users * (2 * CONNECTIONS // len(users))))
    figures.at_most("pools are whole", time.monotonic() - began, 5)
    for number, user in enumerate(users):
        own = set(told[number])
        assert set(user.acknowledged) <= own
        assert all(set(each) == own for each in told[number :: len(users)])
    assert sum(len({*each}) for each in told[: len(users)]) == len({*itertools.chain(*told)})
    asyncio.run(until_idle(whole.postgres.url, at_most=CONNECTIONS))


def cut_off(whole: Whole, user: User, seconds: float, method: str) -> None:
    """Asks, and is gone that much later without having read."""
    body = json.dumps({"ticker": "AAPL", "shares": 1, "avg_cost": 2})
    head: dict[str, Any] = {**user.headers, "Host": "quotecast", "Content-Type": "application/json"}
    lines = [f"{method} {HOLDINGS} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items())]
    with socket.create_connection(("127.0.0.1", whole.service.port)) as client:
        client.sendall("\r\n".join([*lines, f"Content-Length: {len(body)}", "", body]).encode())
        time.sleep(seconds)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
