"""Errors in the API's format: always JSON, always with `detail`, never with internal data."""

import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final

import structlog
from litestar import Response
from litestar.exceptions import HTTPException, SerializationException, ValidationException
from litestar.types import ExceptionHandlersMap
from msgspec import UNSET

from quotecast.access.request_state import request_state
from quotecast.api.market.services import HttpRequest, services_of
from quotecast.api.market.suggestions import suggest
from quotecast.api.route_table import FEED
from quotecast.asgi import Scope, Send, code_of_status, content_length, respond
from quotecast.complaints import choices_of, complaint
from quotecast.errors import (
    FieldProblem,
    InvalidValue,
    NotAuthenticated,
    Problem,
    QuotecastError,
    SymbolNotFound,
    TooLarge,
    TooManyRequests,
    UpgradeRequired,
    UpstreamError,
)
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed

#: Seconds of `Retry-After` when an upstream names none.
_UPSTREAM_RETRY: Final = 5.0

#: Texts of our own where the interpreter's change between versions.
_TEXTS: Final = {413: "Payload Too Large", 422: "Invalid value", 500: "Internal Server Error"}

#: Headers that name the remedy (RFC 9110, 11.6.1 and 15.5.22).
_REMEDIES: Final = {
    401: {"www-authenticate": "Bearer"},
    # After the close a proxy that reuses connections opens a new one for the next handshake.
    426: {"upgrade": "websocket", "connection": "upgrade, close"},
}

log = structlog.get_logger()


def problem(
    request: HttpRequest,
    status: int,
    detail: str | None = None,
    *,
    code: str | None = None,
    errors: Sequence[FieldProblem] = (),
    headers: Mapping[str, str] | None = None,
) -> Response[bytes]:
    """Returns the answer to a failed request; text and code default to those of the status."""
    text = detail or _TEXTS.get(status) or HTTPStatus(status).phrase
    body = Problem(
        detail=text,
        code=code or code_of_status(status),
        request_id=request_state(request.scope).request_id or UNSET,
        errors=errors or UNSET,
    )
    return Response(
        encode_json(body), status_code=status, media_type="application/json", headers=dict(headers or {})
    )


def _on_refusal(request: HttpRequest, error: QuotecastError) -> Response[bytes]:
    match error:
        case InvalidValue():
            text = f"Invalid {error.field}"
            return problem(request, error.status, text, code=error.code, errors=error.problems)
        case UpstreamError():
            headers = _retry_after(error.retry_after or _UPSTREAM_RETRY)
            return problem(request, error.status, "Upstream unavailable", code=error.code, headers=headers)
        case TooManyRequests():
            # The body of the rate limiter's answer: `detail` is its only field.
            headers = _retry_after(error.retry_after)
            body = encode_json(Problem(str(error)))
            return Response(body, status_code=error.status, media_type="application/json", headers=headers)
        case NotAuthenticated() | UpgradeRequired():
            return problem(
                request, error.status, str(error), code=error.code, headers=_REMEDIES[error.status]
            )
        case _ if error.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            return _on_failure(request, error)
        case _:
            headers = _retry_after(getattr(error, "retry_after", None))
            errors = _suggestions(request) if isinstance(error, SymbolNotFound) else ()
            text = str(error)
            return problem(request, error.status, text, code=error.code, errors=errors, headers=headers)


def _suggestions(request: HttpRequest) -> list[FieldProblem]:
    """Returns what the unknown symbol of the request may mean."""
    given: str | None = request.path_params.get("symbol") or request.query_params.get("symbol")
    declared = request.route_handler.opt.get(FEED)
    feed = declared if isinstance(declared, Feed) else Feed.STOCKS
    text = suggest(services_of(request), feed, given.strip("/")) if given else None
    return [] if text is None else [FieldProblem("symbol", text)]


async def refuse_request(scope: Scope, send: Send, error: QuotecastError) -> None:
    """Answers a request with an error before it reaches a route, in the format of the routes' errors."""
    if isinstance(error, TooManyRequests):
        body = encode_json(Problem(str(error)))
    else:
        body = encode_json(Problem(str(error), error.code, request_state(scope).request_id or UNSET))
    named = _REMEDIES.get(error.status, {}) | _retry_after(getattr(error, "retry_after", None))
    headers = [(name.encode(), value.encode()) for name, value in named.items()]
    headers += [(b"content-type", b"application/json"), content_length(body)]
    await respond(send, error.status, headers, body)


def _retry_after(seconds: float | None) -> dict[str, str]:
    return {} if seconds is None else {"retry-after": str(math.ceil(seconds))}


def _on_http_error(request: HttpRequest, error: HTTPException) -> Response[bytes]:
    """Answers the framework's own errors without their texts, which name paths and types."""
    match error:
        case ValidationException():
            return problem(request, 422, code=InvalidValue.code, errors=_field_problems(request, error))
        case _ if error.status_code == TooLarge.status:
            return _on_refusal(request, TooLarge())
        case _ if isinstance(error.__cause__, SerializationException):
            return _on_unreadable_json(request, error)
        case _ if error.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:
            return _on_failure(request, error)
        case _:
            return problem(request, error.status_code, headers=error.headers)


def _field_problems(request: HttpRequest, error: ValidationException) -> list[FieldProblem]:
    if isinstance(error.__cause__, KeyError):
        return [FieldProblem(str(error.__cause__.args[0]), "Must be given")]
    given: list[dict[str, str]] = error.extra if isinstance(error.extra, list) else []
    parameters = request.route_handler.parsed_fn_signature.parameters
    problems: list[FieldProblem] = []
    for each in given:
        name, message = each.get("key", ""), each.get("message", "")
        parameter = parameters.get(name)
        if parameter is None:
            problems.append(FieldProblem(name, complaint(message).message))
            continue
        # The client's name for the parameter: the route's function may use another one.
        alias = getattr(parameter.kwarg_definition, "name", None) or name
        text = complaint(message, choices_of(parameter.raw), as_text=True).message
        problems.append(FieldProblem(alias, text))
    return problems


def _on_unreadable_json(request: HttpRequest, _: Exception) -> Response[bytes]:
    """Answers 400, also to JSON that nests deeper than the interpreter's stack."""
    return problem(request, 400, "Malformed JSON", code="malformed_json")


def _on_failure(request: HttpRequest, error: Exception) -> Response[bytes]:
    log.error("request failed", method=request.method, path=request.scope["path"], exc_info=error)
    return problem(request, 500)


def exception_handlers() -> ExceptionHandlersMap:
    """Returns the application's handler for each kind of exception."""
    return {
        QuotecastError: _on_refusal,
        HTTPException: _on_http_error,
        RecursionError: _on_unreadable_json,
        Exception: _on_failure,
    }
