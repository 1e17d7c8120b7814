"""Binance's errors: HTTP answers with a code and a message."""

from typing import Any, Final, Self

from quotecast.simulation.vendors.http import Answer

ELSEWHERE: Final = Answer.of(
    {
        "code": 0,
        "msg": "Service unavailable from a restricted location according to 'b. Eligibility'.",
    },
    451,
)
#: What the gateway answers for a path that it does not know.
NO_PATH: Final = Answer(b"<html>404</html>", 404, "text/html")
MAINTENANCE: Final = Answer.of(
    {"code": -1001, "msg": "Internal error; unable to process your request. Please try again."}, 503
)
#: The answer of the system's status during maintenance.
IN_MAINTENANCE: Final = Answer.of({"status": 1, "msg": "system_maintenance"})


class Problem(Exception):
    """A request that Binance refuses; `answer` is the refusal."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.answer = Answer.of({"code": code, "msg": text}, 400)

    @classmethod
    def illegal(cls, name: str, legal: str) -> Self:
        """Returns the refusal of a value with illegal characters."""
        return cls(-1100, f"Illegal characters found in parameter '{name}'; legal range is '{legal}'.")

    @classmethod
    def missing(cls, name: str) -> Self:
        """Returns the refusal of a request without a parameter that it needs."""
        return cls(-1102, f"Mandatory parameter '{name}' was not sent, was empty/null, or malformed.")

    @classmethod
    def invalid(cls, name: str) -> Self:
        """Returns the refusal of a value that is none of the possible ones."""
        return cls(-1130, f"Data sent for parameter '{name}' is not valid.")

    @classmethod
    def unread(cls, read: int, sent: int) -> Self:
        """Returns the refusal of parameters that the path does not have."""
        return cls(
            -1104,
            f"Not all sent parameters were read; read '{read}' parameter(s) but was sent '{sent}'.",
        )


def weight_used(retry_after: int, limit: int) -> Answer:
    """Returns the answer to a client that has used its weight."""
    text = (
        f"Too much request weight used; current limit is {limit} request weight per 1 MINUTE. "
        "Please use WebSocket Streams for live updates to avoid polling the API."
    )
    return _limited(429, text, retry_after)


def banned(retry_after: int, until: int) -> Answer:
    """Returns the answer to a client that went on after 429; `until` is in Unix milliseconds."""
    text = (
        f"Way too much request weight used; IP banned until {until}. "
        "Please use WebSocket Streams for live updates to avoid bans."
    )
    return _limited(418, text, retry_after)


def _limited(status: int, text: str, retry_after: int) -> Answer:
    body: dict[str, Any] = {"code": -1003, "msg": text}
    return Answer.of(body, status, Retry_After=str(retry_after))
