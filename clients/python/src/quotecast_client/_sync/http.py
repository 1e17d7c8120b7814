# Made by scripts/make_sync.py from _async; not to be edited.
"""Requests, repeated as the service asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from quotecast_client._sync import io
from quotecast_client.answers import body_of, error_in, renamed_in
from quotecast_client.calls import Call, Page
from quotecast_client.errors import ConnectionFailed
from quotecast_client.keys import key_headers
from quotecast_client.retries import Retries
from quotecast_client.settings import SOCKET_SECONDS, USER_AGENT

if TYPE_CHECKING:
    from quotecast_client.retries import Limits

T = TypeVar("T")


class Http:
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

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def send(self, call: Call[T]) -> T:
        """Returns the body of the answer. Raises ApiError and ConnectionFailed."""
        body: T = body_of(self._answer(call))
        return body

    def page(self, call: Call[T]) -> Page[T]:
        """Returns the body and the next page of the answer. Raises ApiError and ConnectionFailed."""
        response = self._answer(call)
        following = response.headers.get("x-next-page") or response.headers.get("x-next-after")
        return Page(body_of(response), following, renamed_in(response))

    def credentials(self) -> dict[str, str]:
        """Returns the headers with the API key and the token, as far as there are any."""
        token = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        return {**key_headers(self._api_key), **token}

    def _answer(self, call: Call[Any]) -> httpx.Response:
        retries = Retries(call, self._limits)
        while True:
            try:
                response = self._request(call)
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
            io.sleep(wait)

    def _request(self, call: Call[Any]) -> httpx.Response:
        return self._client.request(
            call.method,
            call.path,
            params=call.parameters(),
            headers={**call.headers, **self.credentials()},
            timeout=SOCKET_SECONDS + call.patience,
            **call.content(),
        )
