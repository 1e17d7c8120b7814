"""A visit to an account: log in, read holdings, change them, save the layout, log out."""

import random
import secrets
from typing import Any
from urllib.parse import quote

from answers import ask
from locust import HttpUser, between, task

TICKERS = ("AAPL", "MSFT", "NVDA", "BTC/USDT", "gram-altin")
HOLDINGS = "/api/portfolio/holdings"
WATCHLIST = "/api/watchlist"
LAYOUT = "/api/terminal/layout"


class Account(HttpUser):
    """A user with an account of its own.

    Each visit deletes what it added. The account itself stays: no route deletes it.
    """

    weight = 1
    wait_time = between(3, 10)

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.credentials = {
            "email": f"load-{secrets.token_hex(8)}@example.com",
            "password": secrets.token_urlsafe(16),
        }
        self.token = ""
        self.registered = False
        self.holdings: list[str] = []
        self.watched: set[str] = set()

    def on_stop(self) -> None:
        """Deletes what an interrupted visit added."""
        self.tidy()

    @task
    def visit(self) -> None:
        """Runs a visit from login to logout, with pauses between the steps."""
        if not self.log_in():
            return
        for step in (self.look, self.buy, self.look, self.save, self.tidy):
            step()
            self.wait()
        # A token is valid until it expires: a client logs out by forgetting it.
        self.token = ""

    def log_in(self) -> bool:
        """Logs in; the first time it registers."""
        if not self.registered:
            body = {**self.credentials, "name": "Load Test"}
            self.registered = (
                self.send("POST", "/api/auth/register", body, expected=(201,)).status_code == 201
            )
        if self.registered:
            answer = self.send("POST", "/api/auth/login", self.credentials)
            if answer.status_code == 200:
                self.token = answer.json()["token"]
        return bool(self.token)

    def look(self) -> None:
        """Reads the portfolio and the watchlist with their quotes."""
        self.send("GET", f"{HOLDINGS}?include=quote")
        self.send("GET", f"{WATCHLIST}?include=quote")

    def buy(self) -> None:
        """Adds a holding, and watches it."""
        ticker = random.choice(TICKERS)
        holding = {"ticker": ticker, "shares": random.randint(1, 100), "avg_cost": 10.5}
        key = {"Idempotency-Key": secrets.token_hex(8)}
        answer = self.send("POST", HOLDINGS, holding, expected=(201,), headers=key)
        if answer.status_code == 201:
            self.holdings.append(answer.json()["id"])
        if self.send("POST", WATCHLIST, {"ticker": ticker}, expected=(200, 201)).ok:
            self.watched.add(ticker)

    def save(self) -> None:
        """Saves the terminal's layout over the version that it read."""
        answer = self.send("GET", LAYOUT)
        if answer.status_code == 200:
            layout = {"panes": [{"kind": "chart", "symbol": "AAPL"}]}
            self.send("PUT", LAYOUT, {"layout": layout, "version": answer.json()["version"]})

    def tidy(self) -> None:
        """Deletes holdings and watchlist entries; those that a 429 saves stay for the next visit."""
        for identity in list(self.holdings):
            if self.send("DELETE", f"{HOLDINGS}/{identity}", name=f"{HOLDINGS}/{{id}}", expected=(204,)).ok:
                self.holdings.remove(identity)
        for ticker in list(self.watched):
            path = f"{WATCHLIST}/{quote(ticker, safe='')}"
            if self.send("DELETE", path, name=f"{WATCHLIST}/{{ticker}}", expected=(204,)).ok:
                self.watched.remove(ticker)

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        name: str = "",
        expected: tuple[int, ...] = (200,),
        headers: dict[str, str] | None = None,
    ) -> Any:
        """Sends one request of this user's."""
        bearer = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return ask(
            self.client,
            method,
            path,
            name=name or path,
            expected=expected,
            headers=bearer | (headers or {}),
            json=body,
        )
