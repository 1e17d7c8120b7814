"""Alpaca's errors: bodies of refused requests, and codes of its streams."""

from typing import Final

from quotecast.simulation.vendors.http import Answer

FORBIDDEN: Final = Answer.of({"message": "forbidden."}, 403)
RECENT_SIP: Final = Answer.of({"message": "subscription does not permit querying recent SIP data"}, 403)
TOO_MANY: Final = Answer.of({"message": "too many requests."}, 429)
NOT_FOUND: Final = Answer.of({"code": 40410000, "message": "not found"}, 404)
UNAVAILABLE: Final = Answer.of({"code": 50310000, "message": "service unavailable"}, 503)

#: Messages of the streams' errors.
MEANINGS: Final = {
    400: "invalid syntax",
    401: "not authenticated",
    402: "auth failed",
    403: "already authenticated",
    404: "auth timeout",
    405: "symbol limit exceeded",
    406: "connection limit exceeded",
    407: "slow client",
    408: "v2 not enabled",
    409: "insufficient subscription",
    410: "invalid subscribe action for this feed",
    411: "insufficient scope",
    500: "internal error",
}


class BadQuery(Exception):
    """A query parameter that Alpaca rejects."""


class RecentTape(Exception):
    """A request for the last minutes of the consolidated tape, which the free plan does not have."""
