"""The meaning of the service's answers; no I/O."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from quotecast_client.errors import ApiError, error_of
from quotecast_client.retries import retry_after

if TYPE_CHECKING:
    import httpx


def body_of(response: httpx.Response) -> Any:
    """Returns the body of an answer: JSON, text, or None without one."""
    if not response.content:
        return None
    kind = response.headers.get("content-type", "")
    return response.json() if "json" in kind else response.text


def renamed_in(response: httpx.Response) -> dict[str, str]:
    """Returns what became of former symbols in the request: `FB=META,MATIC/USDT=POL/USDT`."""
    noted = response.headers.get("x-renamed-symbols", "")
    return dict(each.split("=", 1) for each in noted.split(",") if "=" in each)


def error_in(response: httpx.Response) -> ApiError:
    """Returns the error that an answer has."""
    try:
        body = response.json()
    except ValueError:  # a proxy's page
        body = None
    wait = retry_after(response.headers, time.time())
    return error_of(response.status_code, response.headers, body, wait)
