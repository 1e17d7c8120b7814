"""Requests, repeated as the service asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from quotecast_client._async import io
from quotecast_client.answers import body_of, error_in, renamed_in
from quotecast_client.calls import Call, Page
from quotecast_client.errors import ConnectionFailed
from quotecast_client.keys import key_headers
from quotecast_client.retries import Retries
from quotecast_client.settings import SOCKET_SECONDS, USER_AGENT

if TYPE_CHECKING:
    from quotecast_client.retries import Limits

T = TypeVar("T")


class AsyncHttp:
    """Sends calls to one service, with the token of the user who has logged in, and the API key."""

    def __init__(self, address: str, token: str | None, api_key: str | None, limits: Limits) -> None:
        self.token = token
        self._api_key = api_key
        self._limits = limits
        self._client = io.Http(
            base_url=address,
            timeout=SOCKET_SECONDS,
            headers={"User-Agent": USER_AGENT},
            # httpx would send the key to another origin, too.
            follow_redirects=api_key is None,
        )

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def send(self, call: Call[T]) -> T:
        """Returns the body of the answer. Raises ApiError and ConnectionFailed."""
        body: T = body_of(await self._answer(call))
        return body

    async def page(self, call: Call[T]) -> Page[T]:
        """Returns the body and the next page of the answer. Raises ApiError and ConnectionFailed."""
        response = await self._answer(call)
        following = response.headers.get("x-next-page") or response.headers.get("x-next-after")
        return Page(body_of(response), following, renamed_in(response))

    def credentials(self) -> dict[str, str]:
        """Returns the headers with the API key and the token, as far as there are any."""
        token = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        return {**key_headers(self._api_key), **token}

    async def _answer(self, call: Call[Any]) -> httpx.Response:
        retries = Retries(call, self._limits)
        while True:
            try:
                response = await self._request(call)
            except httpx.TransportError as error:
                wait = retries.after_failure()
                if wait is None:
                    raise ConnectionFailed(f"{call.method} {call.path}: {error!r}") from error
            else:
                if response.is_success:
                    return response
                wait = retries.after_answer(response.status_code, response.headers)
                if wait is None:
                    raise error_in(response)
            await io.sleep(wait)

    async def _request(self, call: Call[Any]) -> httpx.Response:
        return await self._client.request(
            call.method,
            call.path,
            params=call.parameters(),
            headers={**call.headers, **self.credentials()},
            timeout=SOCKET_SECONDS + call.patience,
            **call.content(),
        )
