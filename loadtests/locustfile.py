"""Scenarios of clients: `just load`, or `locust -f loadtests/locustfile.py`."""

import sys
from typing import Any

import requests
from account import Account
from feeds import FeedReader
from frontend import Frontend
from locust import events
from locust.runners import WorkerRunner
from replays import ReplayReader
from scenarios import add_arguments
from streams import EventReader

__all__ = ["Account", "EventReader", "FeedReader", "Frontend", "ReplayReader", "add_arguments"]


@events.init.add_listener
def must_answer(environment: Any, **_: object) -> None:
    """Exits with a hint if no service answers; a locust worker leaves that to its master."""
    if isinstance(environment.runner, WorkerRunner) or not environment.host:
        return
    try:
        requests.get(f"{environment.host}/api/health", timeout=10).raise_for_status()
    except requests.HTTPError as error:
        sys.exit(f"Is this quotecast? {error}")
    except requests.RequestException:
        sys.exit(f"Nothing answers at {environment.host}: start it with `just up` first")
