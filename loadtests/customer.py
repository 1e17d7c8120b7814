"""A customer's program: makes an API key, reads with it, opens a feed with a ticket, revokes the key."""

import json
import time
from typing import Any

import websocket
from answers import ask
from locust.clients import HttpSession

KEYS = "/api/keys"
QUOTES = "/api/market/quotes/AAPL"
FEED = "/api/ws/crypto?symbols=BTC/USDT"
OPENING_SECONDS = 10


class NoSnapshot(Exception):
    """A feed that a ticket opened has no quotes."""


def use_key(client: HttpSession, host: str, token: str, environment: Any) -> None:
    """Runs a key's life from its making to its end; `token` is that of the key's user."""
    login = {"Authorization": f"Bearer {token}"}
    made = ask(client, "POST", KEYS, name=KEYS, expected=(201,), headers=login, json={"name": "Load test"})
    if made.status_code != 201:
        return
    with_key = {"X-API-Key": made.json()["secret_key"]}
    ask(client, "GET", QUOTES, name=f"{QUOTES} (key)", headers=with_key)
    ticket = ask(client, "POST", f"{KEYS}/ticket", name=f"{KEYS}/ticket", expected=(200,), headers=with_key)
    if ticket.status_code == 200:
        _open_feed(host, ticket.json()["ticket"], environment)
    ask(client, "GET", f"{KEYS}/usage", name=f"{KEYS}/usage", headers=login)
    path = f"{KEYS}/{made.json()['id']}"
    ask(client, "DELETE", path, name=f"{KEYS}/{{id}}", expected=(204,), headers=login)


def _open_feed(host: str, ticket: str, environment: Any) -> None:
    """Opens a feed, and waits for its first quotes; their age is the event's response time."""
    began, error = time.monotonic(), None
    try:
        url = f"ws{host.removeprefix('http')}{FEED}&ticket={ticket}"
        connection = websocket.create_connection(url, timeout=OPENING_SECONDS)
        try:
            while json.loads(connection.recv())["type"] != "snapshot":
                if time.monotonic() - began > OPENING_SECONDS:
                    raise NoSnapshot
        finally:
            connection.close(timeout=1)
    except (websocket.WebSocketException, OSError, ValueError, NoSnapshot) as failure:
        error = failure
    environment.events.request.fire(
        request_type="WS",
        name="/api/ws/crypto?ticket",
        response_time=1000 * (time.monotonic() - began),
        response_length=0,
        exception=error,
        context={},
    )
