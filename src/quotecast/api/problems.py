"""Errors as the API answers them: always JSON, always with `detail`, never with anything internal."""

import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final

import structlog
from litestar import Response
from litestar.exceptions import (
    HTTPException,
    MethodNotAllowedException,
    SerializationException,
    ValidationException,
)
from litestar.types import ExceptionHandlersMap
from msgspec import UNSET, Struct, UnsetType

from quotecast.api.edge import REQUEST_ID
from quotecast.api.parts import HttpRequest
from quotecast.errors import InvalidValue, NotAuthenticated, QuotecastError, TooManyRequests, UpstreamError
from quotecast.market.codec import encode_json

#: Seconds after which to try again when an upstream did not say.
_UPSTREAM_RETRY: Final = 5.0

#: Texts that differ from the interpreter's, which change between versions.
_TEXTS: Final = {413: "Payload Too Large", 422: "Invalid value", 500: "Internal Server Error"}

log = structlog.get_logger()


class FieldProblem(Struct, frozen=True):
    """What is wrong with one field of the body, the query or the path."""

    field: str
    message: str


class Problem(Struct, frozen=True, omit_defaults=True):
    """An error: `detail` for people, `code` for programs."""

    detail: str
    code: str | UnsetType = UNSET
    request_id: str | UnsetType = UNSET
    errors: Sequence[FieldProblem] | UnsetType = UNSET


def problem(
    request: HttpRequest,
    status: int,
    detail: str | None = None,
    *,
    code: str | None = None,
    errors: Sequence[FieldProblem] = (),
    headers: Mapping[str, str] | None = None,
) -> Response[bytes]:
    """The answer to a request that failed; text and code default to those of the status."""
    text = detail or _text(status)
    request_id: str | UnsetType = request.scope.get(REQUEST_ID, UNSET)  # type: ignore[assignment]  # ours
    body = Problem(
        detail=text,
        code=code or _text(status).lower().replace(" ", "_"),
        request_id=request_id,
        errors=errors or UNSET,
    )
    return Response(
        encode_json(body), status_code=status, media_type="application/json", headers=dict(headers or {})
    )


def _text(status: int) -> str:
    return _TEXTS.get(status) or HTTPStatus(status).phrase


def _on_refusal(request: HttpRequest, error: QuotecastError) -> Response[bytes]:
    match error:
        case InvalidValue():
            errors = [FieldProblem(error.field, str(error))]
            return problem(request, error.status, f"Invalid {error.field}", code=error.code, errors=errors)
        case UpstreamError():
            headers = _retry_after(error.retry_after or _UPSTREAM_RETRY)
            return problem(request, error.status, "Upstream unavailable", code=error.code, headers=headers)
        case TooManyRequests():
            return _too_many(error)
        case NotAuthenticated():
            headers = {"www-authenticate": "Bearer"}
            return problem(request, error.status, str(error), code=error.code, headers=headers)
        case _ if error.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            return _on_failure(request, error)
        case _:
            headers = _retry_after(getattr(error, "retry_after", None))
            return problem(request, error.status, str(error), code=error.code, headers=headers)


def _too_many(error: TooManyRequests) -> Response[bytes]:
    """As from the limiter: the body says no more."""
    headers = _retry_after(error.retry_after)
    body = encode_json(Problem(str(error)))
    return Response(body, status_code=error.status, media_type="application/json", headers=headers)


def _retry_after(seconds: float | None) -> dict[str, str]:
    return {} if seconds is None else {"retry-after": str(math.ceil(seconds))}


def _on_http_error(request: HttpRequest, error: HTTPException) -> Response[bytes]:
    """The framework's own errors; its texts name paths and types, so they are not repeated."""
    match error:
        case ValidationException():
            return problem(request, 422, code=InvalidValue.code, errors=_field_problems(error))
        case MethodNotAllowedException():
            return problem(request, 405, headers={"allow": _allowed(error)})
        case _ if isinstance(error.__cause__, SerializationException):
            return _on_unreadable_json(request, error)
        case _ if error.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:
            return _on_failure(request, error)
        case _:
            return problem(request, error.status_code, headers=error.headers)


def _field_problems(error: ValidationException) -> list[FieldProblem]:
    if isinstance(error.__cause__, KeyError):
        return [FieldProblem(str(error.__cause__.args[0]), "Missing")]
    given: list[dict[str, str]] = error.extra if isinstance(error.extra, list) else []
    return [FieldProblem(each.get("key", ""), each.get("message", "")) for each in given]


def _allowed(error: HTTPException) -> str:
    methods = {name.strip() for name in (error.headers or {}).get("allow", "").split(",")}
    # The edge answers HEAD wherever there is a GET.
    return ", ".join(sorted(methods | {"HEAD"} if "GET" in methods else methods))


def _on_unreadable_json(request: HttpRequest, _: Exception) -> Response[bytes]:
    """Also for JSON that nests deeper than the interpreter's stack."""
    return problem(request, 400, "Malformed JSON", code="malformed_json")


def _on_failure(request: HttpRequest, error: Exception) -> Response[bytes]:
    log.error("request failed", method=request.method, path=request.scope["path"], exc_info=error)
    return problem(request, 500)


def exception_handlers() -> ExceptionHandlersMap:
    """What the application answers to each kind of exception."""
    return {
        QuotecastError: _on_refusal,
        HTTPException: _on_http_error,
        RecursionError: _on_unreadable_json,
        Exception: _on_failure,
    }
