"""Users who write during an outage of accounts, and the promises of the service to them."""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import httpx

from support.runs.figures import Figures
from support.runs.waits import wait_until
from support.servers.whole_service import Whole

HOLDINGS: Final = "/api/portfolio/holdings"
WRITERS: Final = 2
PACE_SECONDS: Final = 0.05
PATIENCE_SECONDS: Final = 30.0

_emails = (f"{number}@example.com" for number in itertools.count())


def register(whole: Whole) -> dict[str, Any]:
    """Registers a new user; a busy machine may take longer than the deadline of accounts."""

    def registered() -> dict[str, Any] | None:
        body = {"name": "Ayşe", "email": next(_emails), "password": "correct horse battery"}
        status, session = whole.post("/api/auth/register", body)
        assert status in {201, 503}, session
        return session if status == 201 else None

    return wait_until(registered, "nobody can register", seconds=PATIENCE_SECONDS)


class WritingUser:
    """A registered user, and the holdings whose writes the service acknowledged."""

    def __init__(self, whole: Whole) -> None:
        self._whole = whole
        session = register(whole)
        self.headers = {"Authorization": f"Bearer {session['token']}"}
        self.acknowledged: list[str] = []
        self.statuses: Counter[int] = Counter()
        self.slowest = 0.0

    def buy(self) -> int:
        """Adds a holding, notes whether the service acknowledged it, and returns the status."""
        began = time.monotonic()
        body = {"ticker": "AAPL", "shares": 1, "avg_cost": 2}
        status, created = self._whole.post(HOLDINGS, body, self.headers)
        self.slowest = max(self.slowest, time.monotonic() - began)
        self.statuses[status] += 1
        if status == 201:
            self.acknowledged.append(created["id"])
        return status

    def buy_until(self, over: threading.Event) -> None:
        while not over.wait(PACE_SECONDS):
            self.buy()

    def holding_ids(self) -> list[str]:
        """Returns the ids of the user's holdings, as the service lists them."""

        def listed() -> httpx.Response | None:
            answer = self._whole.service.get(HOLDINGS, headers=self.headers)
            assert answer.status_code in {200, 503}
            return answer if answer.status_code == 200 else None

        answer = wait_until(listed, "no holdings are listed", seconds=PATIENCE_SECONDS)
        return [each["id"] for each in answer.json()]


def judge_outage(
    whole: Whole, figures: Figures, begin: Callable[[], None], end: Callable[[], None], seconds: float
) -> None:
    """Fails unless markets go on, writes answer 503 in time and recover soon, and none is lost."""
    users = [WritingUser(whole) for _ in range(WRITERS)]
    over = threading.Event()
    with whole.under_load() as load, ThreadPoolExecutor(WRITERS) as pool:
        try:
            writing = [pool.submit(user.buy_until, over) for user in users]
            load.until(lambda: all(user.acknowledged for user in users), PATIENCE_SECONDS)
            begin()
            time.sleep(seconds)
            # A thread that did not run all this time has not met the outage yet.
            load.until(lambda: all(user.statuses[503] for user in users), PATIENCE_SECONDS)
            end()
            before = [len(user.acknowledged) for user in users]
            figures.at_most("back", load.until(lambda: have_recovered(users, before), PATIENCE_SECONDS), 3)
        finally:
            over.set()
        for each in writing:
            each.result()
        load.until_newer(time.time(), PATIENCE_SECONDS)
        load.check_reads(PATIENCE_SECONDS)
        assert not load.closes
    figures.at_most("slowest answer", max(user.slowest for user in users), 2)
    for user in users:
        assert set(user.statuses) == {201, 503}
        held = user.holding_ids()
        assert len(held) == len(set(held))
        assert set(user.acknowledged) <= set(held)


def have_recovered(users: list[WritingUser], before: list[int]) -> bool:
    return all(len(user.acknowledged) > count for user, count in zip(users, before, strict=True))
