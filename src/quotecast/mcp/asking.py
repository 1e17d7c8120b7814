"""Reads of the service's REST routes on behalf of one MCP client.

Tools have no other way to data, so limits, bounds and errors are those of the routes.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import httpx
import msgspec
from msgspec import Struct

from quotecast.errors import FieldProblem

#: Seconds that one tool call may take, with all its reads.
CALL_SECONDS: Final = 20.0
#: Seconds between tries while the service does not answer; its workers restart within them.
_PAUSES: Final = (0.1, 0.4, 1.0, 2.0, 4.0)


class ToolAnswer(Struct, frozen=True):
    """A successful answer: decoded JSON, and the headers by lower-case name."""

    data: Any
    headers: Mapping[str, str]


class ToolRefused(Exception):
    """The service refused a read or failed; the message is for the model and its user.

    `proposal` says what an unknown symbol may mean.
    """

    def __init__(self, message: str, status: int = 400, proposal: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.proposal = proposal


class _Problem(Struct):
    detail: str = "The service sent an unreadable answer"
    code: str = ""
    request_id: str = ""
    errors: Sequence[FieldProblem] = ()


class Asking:
    """Sends GET requests through `client`, which knows the service's address and the caller's headers."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def read(self, path: str, **query: str | int | None) -> ToolAnswer:
        """Returns a route's answer; None leaves a parameter out. Raises ToolRefused."""
        given = {name: value for name, value in query.items() if value is not None}
        response = await self._get(path, given)
        if not response.is_success:
            try:
                problem = msgspec.json.decode(response.content, type=_Problem)
            except msgspec.MsgspecError:
                problem = _Problem()
            proposals = [each.message for each in problem.errors if problem.code == "symbol_not_found"]
            proposal = proposals[0] if proposals else None
            raise ToolRefused(_message(response, problem), response.status_code, proposal)
        return ToolAnswer(msgspec.json.decode(response.content), response.headers)

    async def _get(self, path: str, query: Mapping[str, str | int]) -> httpx.Response:
        for pause in _PAUSES:
            try:
                return await self._client.get(path, params=query)
            except httpx.TransportError:
                await asyncio.sleep(pause)
        try:
            return await self._client.get(path, params=query)
        except httpx.TransportError:
            raise ToolRefused(f"The service does not answer at {self._client.base_url}", 503) from None


def path_of(*segments: str) -> str:
    """Returns a path below `/api`; a slash inside a segment, as in `BTC/USDT`, stays in it."""
    return "/".join(("/api", *(quote(segment, safe="") for segment in segments)))


def _message(response: httpx.Response, problem: _Problem) -> str:
    """Returns the service's error in one line, with what helps to mend the call."""
    parts = [problem.detail]
    parts += [f"{each.field}: {each.message}" for each in problem.errors]
    if retry := response.headers.get("retry-after"):
        parts.append(f"try again in {retry} s")
    known = [problem.code, problem.request_id and f"request {problem.request_id}"]
    return f"{'; '.join(parts)} ({', '.join([f'HTTP {response.status_code}', *filter(None, known)])})"
