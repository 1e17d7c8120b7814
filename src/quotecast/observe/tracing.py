"""Traces, for whoever asks for them by OpenTelemetry's own variables.

Without those nothing is imported or paid. What makes traces is an extra of the distribution, `otel`.
"""

import contextlib
import importlib
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, Final

import structlog

#: Where traces are sent; each of them switches them on.
ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

App = Callable[[Any, Any, Any], Awaitable[None]]
#: Says of a request that was answered what its span tells beside method and status, by attribute.
Describe = Callable[[Mapping[str, Any]], Mapping[str, str]]
#: Puts an application into one that traces its requests.
Wrap = Callable[[App, Describe], App]

log = structlog.get_logger()


def is_requested(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the environment asks for traces."""
    disabled = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return not disabled and any(environment.get(name) for name in ENDPOINTS)


def is_possible(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether requests are traced: the environment asks for it, and the extra is installed."""
    return is_requested(environment) and _spans() is not None


@contextlib.contextmanager
def export_traces(service: str, environment: Mapping[str, str] = os.environ) -> Iterator[Wrap]:
    """Traces what is served and what is asked for meanwhile; gives what the application is wrapped in.

    `service` is the process's name unless OTEL_SERVICE_NAME gives another. Where the extra is not installed,
    a warning names it and nothing is traced.
    """
    if not is_requested(environment):
        yield _untraced
        return
    spans = _spans()
    if spans is None:
        name = next(name for name in ENDPOINTS if environment.get(name))
        log.warning("traces need an extra: pip install 'quotecast[otel]'", asked_by=name)
        yield _untraced
        return
    with spans.exporting(service) as traced:
        yield traced


def _spans() -> ModuleType | None:
    try:
        return importlib.import_module("quotecast.observe.spans")
    except ImportError:
        return None


def _untraced(app: App, _: Describe) -> App:
    return app
