"""Reconnection delays for the clients of a worker that stops."""

from typing import Final

#: A worker that stops has closed its port within this time.
RETRY_FLOOR_MS: Final = 100
#: The longest delay, for any number of clients.
RETRY_CEILING_MS: Final = 5000
#: The delays of event streams: `EventSource` waits the last one before every try of an outage.
EVENTS_RETRY_MS: Final = 1000, 3000
#: Handshakes that one worker accepts beside its own clients; docs/capacity.md has the measured rate.
HANDSHAKES_PER_SECOND: Final = 1000


def retry_ms(clients: int) -> tuple[int, int]:
    """Returns the least and the greatest reconnection delay, in milliseconds.

    Clients that spread evenly between the two arrive no faster than one worker accepts them, up to the
    ceiling.
    """
    spread = clients * 1000 // HANDSHAKES_PER_SECOND
    return RETRY_FLOOR_MS, min(RETRY_FLOOR_MS + spread, RETRY_CEILING_MS)


def events_retry_ms(clients: int) -> tuple[int, int]:
    """Returns the least and the greatest reconnection delay of event streams, in milliseconds."""
    least, most = EVENTS_RETRY_MS
    return least, max(most, retry_ms(clients)[1])
