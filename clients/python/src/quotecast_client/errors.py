"""Errors that the client raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class QuotecastError(Exception):
    """Any error of this client."""


class ConnectionFailed(QuotecastError):
    """The service did not answer a request, nor its repetitions."""


class ApiError(QuotecastError):
    """An error answer of the service.

    `status` is that of HTTP, `code` names the error for programs, `request_id` names the request in a report,
    and `errors` has an entry for each bad field.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        request_id: str | None = None,
        errors: Sequence[Mapping[str, str]] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.request_id = request_id
        self.errors = errors
        self.retry_after = retry_after

    def __str__(self) -> str:
        details = [str(self.status), self.code, self.request_id and f"request {self.request_id}"]
        fields = "; ".join(f"{each.get('field')}: {each.get('message')}" for each in self.errors)
        message = f"{self.message}: {fields}" if fields else self.message
        return f"{message} ({', '.join(each for each in details if each)})"


class Unauthorized(ApiError):
    """The token or the API key is missing, expired or void, or the password is wrong."""


class Forbidden(ApiError):
    """The plan or the scope of the API key excludes the request; `code` names the bound."""


class NotFound(ApiError):
    """The service does not know a symbol, or a stored item."""


class RateLimited(ApiError):
    """Too many requests; `retry_after` seconds until the next one may pass."""


class Unavailable(ApiError):
    """The service cannot answer at present, or has no provider."""


class StreamRefused(QuotecastError):
    """The service refuses a stream for good: connecting again does not help.

    `code` is a close code such as 4401 (the API key is invalid or its ticket used) or 4403 (the key's plan or
    scope excludes the stream), the code of an error frame, or the HTTP status of the handshake.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message


class TicketMissing(QuotecastError):
    """The source of tickets failed; a stream asks it again."""


class UnknownSymbols(QuotecastError):
    """No feed has any of the symbols of a stream; `proposals` says what some of them may mean."""

    def __init__(self, symbols: Sequence[str], proposals: Mapping[str, str] | None = None) -> None:
        self.symbols = symbols
        self.proposals: Mapping[str, str] = proposals or {}
        named = [f"{symbol}: {proposal}" for symbol, proposal in self.proposals.items()]
        super().__init__("; ".join([f"no feed has {', '.join(symbols)}", *named]))


class InvalidWebhook(QuotecastError):
    """A message to a webhook is not from the service, or too old."""


_BY_STATUS: dict[int, type[ApiError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    429: RateLimited,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def error_of(status: int, headers: Mapping[str, str], body: Any, retry_after: float | None) -> ApiError:
    """Returns the error of an answer; `body` is None if it is not JSON, as a proxy's may be."""
    problem = body if isinstance(body, dict) else {}
    return _BY_STATUS.get(status, ApiError)(
        status,
        str(problem.get("detail") or f"HTTP status {status}"),
        code=problem.get("code"),
        request_id=problem.get("request_id") or headers.get("x-request-id"),
        errors=problem.get("errors") or (),
        retry_after=retry_after,
    )
