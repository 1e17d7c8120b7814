"""The codes of errors over HTTP, with their statuses, causes and remedies."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

# Modules with errors of their own, which have to be known here.
import quotecast.access.shared
import quotecast.history.playback
import quotecast.history.segments
import quotecast.operators.errors  # noqa: F401
from quotecast.access.errors import OutOfPlan
from quotecast.asgi import code_of_status
from quotecast.errors import QuotecastError, TooManyRequests

#: Causes and remedies of errors that have a status and no class: their code is the status in words.
_OF_STATUS: Final[Mapping[int, tuple[str, str]]] = {
    400: (
        "the request contradicts itself or is not HTTP, or the body ended too early",
        "send one `Host`, one length, and the whole body",
    ),
    403: (
        "the feed does not exist, or does not admit pages of this origin",
        "check the path; the operator admits origins with `QUOTECAST_CORS_ORIGINS`",
    ),
    405: ("the route exists with another method", "see the header `Allow`"),
    414: (
        "the address of a feed has more than 8,192 bytes",
        "connect without symbols, and send a [`subscribe` command](feeds.md)",
    ),
    421: (
        "[MCP](mcp.md) does not answer requests to this host",
        "the operator names it in `QUOTECAST_MCP_HOSTS`",
    ),
    431: (
        "a WebSocket handshake has more than 128 headers, or one of more than 8,192 bytes",
        "send less in its head",
    ),
    500: ("a fault of the service", "report it with its `request_id`"),
    505: ("a WebSocket handshake in HTTP/1.0", "connect with HTTP/1.1"),
}


class ErrorRow(Struct, frozen=True, order=True):
    """An error as its class describes it; `cause` and `remedy` are Markdown."""

    status: int
    code: str
    cause: str
    remedy: str


def error_rows() -> list[ErrorRow]:
    """Returns all errors by status and code. A 429 has no row: its body has `detail` alone."""
    of_classes = (
        ErrorRow(kind.status, kind.code, kind.cause, kind.remedy)
        for kind in _errors(QuotecastError)
        if kind.status != 500 and kind not in {OutOfPlan, TooManyRequests}
    )
    of_statuses = (ErrorRow(status, code_of_status(status), *row) for status, row in _OF_STATUS.items())
    return sorted({*of_classes, *of_statuses})


def error_codes() -> list[str]:
    """Returns all codes in alphabetical order."""
    return sorted({row.code for row in error_rows()})


def _errors(kind: type[QuotecastError]) -> Iterator[type[QuotecastError]]:
    for each in kind.__subclasses__():
        # Tests have errors of their own.
        if each.__module__.startswith("quotecast."):
            yield each
            yield from _errors(each)
