"""Traces, which OpenTelemetry's own environment variables switch on.

Without those variables traces cost nothing and no library is imported. They need the extra `otel`.
"""

import contextlib
import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, Final

import structlog

from quotecast.asgi import App

#: Variables with the address of a collector; each of them switches traces on.
ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

#: Returns the attributes of an answered request's span, besides method and status.
Describe = Callable[[Mapping[str, Any]], Mapping[str, str]]
#: Wraps an application in one that traces its requests.
Wrap = Callable[[App, Describe], App]

log = structlog.get_logger()


def is_requested(environment: Mapping[str, str] = os.environ) -> bool:
    """Returns whether the environment switches traces on."""
    disabled = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return not disabled and any(environment.get(name) for name in ENDPOINTS)


def is_possible(environment: Mapping[str, str] = os.environ) -> bool:
    """Returns whether requests are traced: the environment asks for it, and the extra is installed."""
    return is_requested(environment) and _spans() is not None


@contextlib.contextmanager
def export_traces(service: str, environment: Mapping[str, str] = os.environ) -> Iterator[Wrap]:
    """Exports traces until its end; gives a function that wraps the application.

    `service` is the process's name unless OTEL_SERVICE_NAME gives another. Without the extra, it logs a
    warning and traces nothing.
    """
    if not is_requested(environment):
        yield _wrap_nothing
        return
    spans = _spans()
    if spans is None:
        name = next(name for name in ENDPOINTS if environment.get(name))
        log.warning("traces need an extra: pip install 'quotecast[otel]'", asked_by=name)
        yield _wrap_nothing
        return
    with spans.export_spans(service) as traced:
        yield traced


def _spans() -> ModuleType | None:
    try:
        return importlib.import_module("quotecast.observe.spans")
    except ImportError:
        return None


def _wrap_nothing(app: App, _: Describe) -> App:
    return app
