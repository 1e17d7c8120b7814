"""Finnhub's refusals.

Source: Finnhub documentation, "Authentication" and "Rate limits", and answers quoted in its public trackers.
"""

from typing import Final

from quotecast.simulation.vendors.http import Answer

NO_KEY: Final = Answer.of({"error": "Please use an API key."}, 401)
WRONG_KEY: Final = Answer.of({"error": "Invalid API key."}, 401)
NO_ACCESS: Final = Answer.of({"error": "You don't have access to this resource."}, 403)
TOO_MANY: Final = Answer.of({"error": "API limit reached. Please try again later. Remaining Limit: 0"}, 429)
UNPROCESSABLE: Final = Answer.of({"error": "Missing parameters"}, 422)
NOT_FOUND: Final = Answer(b"404 page not found", 404, "text/plain")
UNAVAILABLE: Final = Answer.of({"error": "Service unavailable. Please try again later."}, 503)

TOO_MANY_SYMBOLS: Final = "Subscribing to too many symbols"
INVALID_MESSAGE: Final = "Invalid message"


class WrongParameters(Exception):
    """A request without a parameter that it needs, or with an impossible one."""


class NoAccess(Exception):
    """A request for what the plan lacks."""
