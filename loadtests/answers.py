"""Expected answers of the scenarios."""

from collections.abc import Collection
from typing import Any

import gevent
from locust.clients import HttpSession

#: Longest Retry-After that a client obeys, in seconds; past it the client goes on to something else.
LONGEST_WAIT_SECONDS = 10.0


def ask(
    client: HttpSession,
    method: str,
    path: str,
    *,
    name: str,
    expected: Collection[int] = (200, 304),
    **more: Any,
) -> Any:
    """Returns the response; anything unexpected is a failure.

    429 has a name of its own, and the client waits.
    """
    with client.request(method, path, name=name, catch_response=True, **more) as response:
        if response.status_code == 429:
            response.request_meta["name"] = f"{name} (429)"
            response.success()
        elif response.status_code in expected:
            response.success()
        else:
            response.failure(f"{response.status_code}: {response.text[:200]}")
    if response.status_code == 429:
        gevent.sleep(min(float(response.headers.get("retry-after", 1)), LONGEST_WAIT_SECONDS))
    return response
