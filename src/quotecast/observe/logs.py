"""Set-up of logs: one line per event, JSON in production, readable in a terminal."""

import logging
import sys
from contextvars import ContextVar
from typing import Final

import structlog

#: The id of the request that is being served, which every event of it bears. A variable of our own: setting
#: one through structlog takes five times as long, and every request does.
request_id: Final[ContextVar[str]] = ContextVar("request_id")


def configure_logs(*, level: str, as_json: bool) -> None:
    """Sends every event, the libraries' too, to standard error."""
    shared: list[structlog.types.Processor] = [
        _with_request_id,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: structlog.types.Processor = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[*shared, structlog.processors.format_exc_info, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    logging.basicConfig(level=level.upper(), stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    for chatty in ("httpx", "httpcore", "websockets", "_granian"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def _with_request_id(
    _logger: object, _method: str, event: structlog.types.EventDict
) -> structlog.types.EventDict:
    served = request_id.get(None)
    if served is not None:
        event.setdefault("request_id", served)
    return event
