"""The HTTP client, which reports each connection that breaks by an `httpx.HTTPError`."""

from typing import Any

import httpx


class HttpClient(httpx.AsyncClient):
    """An `httpx.AsyncClient` on uvloop.

    A server that resets a connection at once, as a proxy without its backend does, leaves uvloop's connection
    without a socket. httpcore asks it for the socket's properties, which raises AttributeError.
    """

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """See AsyncClient. Raises ConnectError for such a connection, too."""
        try:
            return await super().send(request, **options)
        except AttributeError as error:
            raise httpx.ConnectError("the server reset the connection", request=request) from error
