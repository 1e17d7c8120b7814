"""Requests to a running service, each on its own connection."""

from typing import Any, Final

import httpx

from support.clients.plain_http import NO_TLS
from support.runs.deadlines import scaled
from support.servers.service import Service

#: Origin of a page on the browser's own machine.
LOCAL_ORIGIN: Final = "http://localhost:5173"


def ask(service: Service, method: str, path: str, **more: Any) -> httpx.Response:
    return httpx.request(method, service.url + path, timeout=scaled(30), verify=NO_TLS, **more)


def fields(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 422, answer.text
    return [each["field"] for each in answer.json()["errors"]]
