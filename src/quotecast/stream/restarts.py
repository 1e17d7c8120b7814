"""When the clients of a worker that stops come back to the others."""

from typing import Final

#: A worker that stops has left its port by then.
RETRY_FLOOR_MS: Final = 100
#: Nobody waits longer, however many clients there are.
RETRY_CEILING_MS: Final = 5000
#: Of clients that come back, as many as one worker surely takes beside its own: docs/capacity.md says what a
#: core was measured to take.
HANDSHAKES_PER_SECOND: Final = 1000


def retry_ms(clients: int) -> tuple[int, int]:
    """Returns the least and the greatest delay before the clients of a stopping worker come back.

    Spread evenly between them, the clients arrive no faster than one worker lets them in, up to the ceiling.
    """
    spread = clients * 1000 // HANDSHAKES_PER_SECOND
    return RETRY_FLOOR_MS, min(RETRY_FLOOR_MS + spread, RETRY_CEILING_MS)
