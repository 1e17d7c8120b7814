"""Configuration of logs: one line per event, as JSON in production, as text in a terminal."""

import logging
import sys
from contextvars import ContextVar
from typing import Final

import structlog

#: The id of the current request, which every log event of it carries. It is our own context variable because
#: structlog's take five times as long to set, for every request.
request_id: Final[ContextVar[str]] = ContextVar("request_id")


def configure_logs(*, level: str, as_json: bool) -> None:
    """Sends every event, including those of libraries, to standard error."""
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
    current = request_id.get(None)
    if current is not None:
        event.setdefault("request_id", current)
    return event
