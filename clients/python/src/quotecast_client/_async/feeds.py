"""Sockets of all feeds."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from quotecast_client._async import io
from quotecast_client.errors import StreamRefused, TicketMissing
from quotecast_client.keys import address_with
from quotecast_client.sessions import SUBPROTOCOL

if TYPE_CHECKING:
    from quotecast_client._async.http import AsyncHttp
    from quotecast_client._async.io import Opening, TicketSource

_log = logging.getLogger("quotecast_client")


class AsyncFeeds:
    """Opens sockets with the API key of the client or the token of its user, or each with a new ticket."""

    def __init__(self, address: str, http: AsyncHttp, ticket: TicketSource | None) -> None:
        #: The WebSocket address of all feeds, without a ticket: it may be logged.
        self.address = address
        self._http = http
        self._ticket = ticket

    async def open(self) -> Opening:
        """Returns a connection as a context. Raises TicketMissing if the source of tickets fails."""
        if self._ticket is None:
            return io.open_socket(self.address, SUBPROTOCOL, self._http.credentials())
        try:
            ticket = await self._ticket()
        except StreamRefused:
            raise
        except Exception as error:
            _log.warning("the source of tickets failed: %r", error)
            raise TicketMissing(f"no ticket: {error!r}") from error
        return io.open_socket(address_with(ticket, self.address), SUBPROTOCOL, {})
