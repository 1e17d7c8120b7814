"""WebSocket connections to upstreams, with bounds and with one kind of error."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from quotecast.errors import UpstreamError
from quotecast.providers.transport.fetch import retry_seconds, user_agent
from quotecast.providers.transport.recording import record_messages

MAX_MESSAGE_BYTES: Final = 1024 * 1024
#: Most unread messages before the connection stops reading, and most messages of one update.
MAX_WAITING: Final = 1024


class FellSilent(UpstreamError):
    """No message arrived for too long."""


class _Direct(connect):
    """Follows no redirect: the library would send headers with keys to another host."""

    def process_redirect(self, exc: Exception) -> Exception:
        return exc


def dial(url: str, *, headers: Mapping[str, str] | None = None) -> connect:
    """Returns a connection to open with `async with`; `headers` may be secret, a redirect is an error."""
    return _Direct(
        url,
        additional_headers=headers,
        user_agent_header=user_agent(),
        open_timeout=10,
        close_timeout=1,
        ping_interval=20,
        ping_timeout=20,
        max_size=MAX_MESSAGE_BYTES,
        max_queue=MAX_WAITING,
    )


async def receive(connection: ClientConnection, seconds: float, name: str) -> list[bytes]:
    """Returns the next message and those that wait behind it. Raises FellSilent after `seconds`."""
    try:
        async with asyncio.timeout(seconds):
            messages = [await connection.recv(decode=False)]
    except TimeoutError as error:
        raise FellSilent(f"{name} fell silent: nothing for {seconds:g} s") from error
    # A recv with a waiting message does not suspend: a timeout of 0 ends the first one that would wait.
    with suppress(TimeoutError, ConnectionClosed):
        async with asyncio.timeout(0):
            while len(messages) < MAX_WAITING:
                messages.append(await connection.recv(decode=False))
    record_messages(messages)
    return messages


async def receive_or_ping(connection: ClientConnection, seconds: float, name: str) -> list[bytes]:
    """Calls `receive`; returns no message when the upstream answers a ping after `seconds` of silence."""
    try:
        return await receive(connection, seconds, name)
    except FellSilent as silence:
        try:
            async with asyncio.timeout(seconds):
                await (await connection.ping())
        except TimeoutError:
            raise UpstreamError(f"{name} fell silent: no answer to a ping") from silence
    return []


@contextmanager
def socket_errors(name: str) -> Iterator[None]:
    """Raises UpstreamError for any error of a connection, without the URL, which may hold a key."""
    try:
        yield
    except InvalidStatus as error:
        response = error.response
        raise UpstreamError(
            f"{name} refused the connection: status {response.status_code}",
            retry_after=retry_seconds(response.headers.get("Retry-After")),
        ) from None
    except ConnectionClosed as error:
        # Without the upstream's reason, which may repeat our key.
        close = error.rcvd or error.sent
        code = f"code {close.code}" if close else "no close frame"
        raise UpstreamError(f"{name} closed the connection: {code}") from None
    except (OSError, WebSocketException) as error:
        raise UpstreamError(f"{name} cannot be reached: {type(error).__name__}") from error
