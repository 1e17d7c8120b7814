"""Coinbase's words for what it refuses.

Source: Coinbase Exchange documentation, "Requests", "Rate limits" and "WebSocket overview", and answers that
clients of the exchange report.
"""

from typing import Final

import msgspec

from quotecast.simulation.vendors.http import Answer

NO_USER_AGENT: Final = Answer.of({"message": "User-Agent header is required."}, 400)
NOT_FOUND: Final = Answer.of({"message": "NotFound"}, 404)
RATE_LIMITED: Final = Answer.of({"message": "Public rate limit exceeded"}, 429)
MAINTENANCE: Final = Answer.of({"message": "Service is under maintenance"}, 503)
DELISTED: Final = Answer.of({"message": "Not allowed for delisted products"}, 400)
UNAUTHORIZED: Final = Answer.of({"message": "Unauthorized."}, 401)

TOO_FINE: Final = (
    "granularity too small for the requested time range. Count of aggregations requested exceeds 300"
)
NEEDS_LOGIN: Final = (
    "level2, level3, and full channels now require authentication. "
    "https://docs.cloud.coinbase.com/exchange/docs/websocket-auth"
)


def bad_request(message: str) -> Answer:
    """Returns the answer to a request with a wrong parameter."""
    return Answer.of({"message": message}, 400)


class CommandError(ValueError):
    """A WebSocket command that Coinbase refuses."""

    def __init__(self, reason: str, message: str = "Failed to subscribe") -> None:
        super().__init__(reason)
        self.reason = reason
        self.message = message

    def payload(self) -> bytes:
        """Returns the error message."""
        return msgspec.json.encode({"type": "error", "message": self.message, "reason": self.reason})
