"""A visit to an account: log in, read holdings, change them, save the layout, log out."""

import random
import secrets
from typing import Any
from urllib.parse import quote

from answers import ask
from customer import use_key
from locust import HttpUser, between, task

TICKERS = ("AAPL", "MSFT", "NVDA", "BTC/USDT", "gram-altin")
HOLDINGS = "/api/portfolio/holdings"
WATCHLIST = "/api/watchlist"
LISTS = "/api/watchlists"
LAYOUT = "/api/terminal/layout"
ALERTS = "/api/alerts"


class Account(HttpUser):
    """A user with an account of its own.

    Each visit deletes what it added. The account itself goes when the user stops.
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
        self.lists: list[str] = []
        self.last_event = 0

    def on_stop(self) -> None:
        """Deletes the account, with what an interrupted visit added."""
        if self.registered and (self.token or self.log_in()):
            body = {"password": self.credentials["password"]}
            self.send("DELETE", "/api/auth/profile", body, expected=(204,))

    @task
    def visit(self) -> None:
        """Runs a visit from login to logout, with pauses between the steps."""
        if not self.log_in():
            return
        for step in (
            *(self.look, self.buy, self.change, self.arrange),
            *(self.look, self.move, self.wait_for_price, self.save, self.sell, self.tidy),
        ):
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
        for identity in self.lists:
            self.send("GET", f"{WATCHLIST}?list={identity}", name=f"{WATCHLIST}?list={{id}}")

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

    def arrange(self) -> None:
        """Adds a second watchlist, and turns its order around."""
        symbols = [{"ticker": ticker, "type": "stock"} for ticker in TICKERS[:3]]
        body = {"name": f"List {secrets.token_hex(4)}", "symbols": symbols}
        answer = self.send("POST", LISTS, body, expected=(201,))
        if answer.status_code == 201:
            identity = answer.json()["id"]
            self.lists.append(identity)
            path = f"{WATCHLIST}/order?list={identity}"
            self.send("PUT", path, {"symbols": symbols[::-1]}, name=f"{WATCHLIST}/order?list={{id}}")

    def change(self) -> None:
        """Changes a holding, and reads the value over time."""
        if self.holdings:
            path = f"{HOLDINGS}/{self.holdings[-1]}"
            self.send("PATCH", path, {"shares": random.randint(1, 100)}, name=f"{HOLDINGS}/{{id}}")
        self.send("GET", "/api/portfolio/value?range=3M")

    def move(self) -> None:
        """Exports the holdings, checks the file for an import, and reads the sessions."""
        answer = self.send("GET", "/api/portfolio/export")
        if answer.status_code == 200 and self.holdings:
            self.send("POST", "/api/portfolio/import?dry_run=true", data=answer.content)
        self.send("GET", "/api/auth/sessions")

    def wait_for_price(self) -> None:
        """Adds an alert, waits a moment for its event, pauses the alert, and removes it."""
        body = {"ticker": "AAPL", "condition": "rises", "value": 0.01, "window": "5m", "repeats": True}
        answer = self.send("POST", ALERTS, body, expected=(201,))
        if answer.status_code != 201:
            return
        path = f"{ALERTS}/{answer.json()['id']}"
        events = self.send("GET", f"{ALERTS}/events?after={self.last_event}&wait=2", name=f"{ALERTS}/events")
        if events.status_code == 200:
            self.last_event = events.json()["last"]
        self.send("PATCH", path, {"active": False}, name=f"{ALERTS}/{{id}}")
        self.send("DELETE", path, expected=(204,), name=f"{ALERTS}/{{id}}")

    def save(self) -> None:
        """Saves the terminal's layout over the version that it read."""
        answer = self.send("GET", LAYOUT)
        if answer.status_code == 200:
            layout = {"panes": [{"kind": "chart", "symbol": "AAPL"}]}
            self.send("PUT", LAYOUT, {"layout": layout, "version": answer.json()["version"]})

    def sell(self) -> None:
        """Gives a program of its own a key to the quotes, and takes it back."""
        use_key(self.client, self.host or "", self.token, self.environment)

    def tidy(self) -> None:
        """Deletes holdings, lists and watchlist entries; those that a 429 saves stay for the next visit."""
        for identity in list(self.holdings):
            if self.send("DELETE", f"{HOLDINGS}/{identity}", name=f"{HOLDINGS}/{{id}}", expected=(204,)).ok:
                self.holdings.remove(identity)
        for identity in list(self.lists):
            if self.send("DELETE", f"{LISTS}/{identity}", name=f"{LISTS}/{{id}}", expected=(204,)).ok:
                self.lists.remove(identity)
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
        data: bytes | None = None,
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
            data=data,
        )
