"""Every error the service can answer with: HTTP status, stable slug, WebSocket close code."""

from collections.abc import Sequence
from enum import IntEnum

from msgspec import UNSET, Struct, UnsetType


class QuotecastError(Exception):
    """Something went wrong that the caller is told of; the message is safe to show."""

    status = 500
    code = "internal"


class SettingsError(QuotecastError):
    """The environment holds a value that cannot work; one line per problem."""

    code = "settings"


class ServerFailedError(QuotecastError):
    """A server ended by itself or never began, most often because it could not listen."""

    code = "server"


class InvalidValue(QuotecastError):
    """A path, query or body value is out of bounds; `field` names which."""

    status = 422
    code = "invalid"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class KeyReused(InvalidValue):
    """An `Idempotency-Key` stands for another request already."""

    code = "idempotency_key_reused"

    def __init__(self) -> None:
        super().__init__("Idempotency-Key", "Used for another request in the past 24 hours")


class MalformedJson(QuotecastError):
    """A body is no JSON."""

    status = 400
    code = "malformed_json"

    def __init__(self) -> None:
        super().__init__("Malformed JSON")


class UpgradeRequired(QuotecastError):
    """The path is that of a feed, and the request asks for no WebSocket."""

    status = 426
    code = "upgrade_required"

    def __init__(self) -> None:
        super().__init__("This path is a WebSocket feed: connect with a WebSocket client")


class SymbolNotFound(QuotecastError):
    """No feed knows the symbol."""

    status = 404
    code = "symbol_not_found"

    def __init__(self) -> None:
        super().__init__("Symbol not found")


class ProviderMissing(QuotecastError):
    """The operator switched this group off."""

    status = 503
    code = "no_provider"

    def __init__(self, group: str) -> None:
        super().__init__(f"No provider configured for {group}")


class NoData(QuotecastError):
    """The feed has not delivered anything yet."""

    status = 503
    code = "no_data"
    retry_after = 1.0

    def __init__(self, feed: str) -> None:
        super().__init__(f"No data yet for {feed}")


class UpstreamError(QuotecastError):
    """An upstream failed: refused, timed out, or sent what cannot be read.

    `retry_after` is how many seconds it asked to be left alone, None when it did not say.
    """

    status = 503
    code = "upstream"

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class UpstreamRefused(UpstreamError):
    """An upstream answered with an HTTP status that is no success; `excerpt` begins its body."""

    def __init__(
        self, message: str, *, upstream_status: int, excerpt: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(message, retry_after=retry_after)
        self.upstream_status = upstream_status
        self.excerpt = excerpt


class UpstreamCutShort(UpstreamError):
    """An upstream closed the connection in the middle of a body; `received` is what came of it."""

    def __init__(self, message: str, received: bytes) -> None:
        super().__init__(message)
        self.received = received


class NotOffered(QuotecastError):
    """The upstream's plan does not include this; asking again will not help."""

    status = 503
    code = "not_offered"


class DatabaseAway(QuotecastError):
    """PostgreSQL did not answer in time; whether a write took effect is not known."""

    status = 503
    code = "database"
    retry_after = 1.0

    def __init__(self) -> None:
        super().__init__("The accounts are not available now")


class Busy(QuotecastError):
    """More is asked at once than this worker does at once."""

    status = 503
    code = "busy"
    retry_after = 2.0

    def __init__(self) -> None:
        super().__init__("Too much is asked at once; try again")


class NotAuthenticated(QuotecastError):
    """A protected route was asked without a token, or with one that is not valid (any more)."""

    status = 401
    code = "not_authenticated"

    def __init__(self, message: str = "Not authenticated") -> None:
        super().__init__(message)


class InvalidToken(NotAuthenticated):
    """The token is expired, foreign, revoked or malformed; which of these is not told."""

    code = "invalid_token"

    def __init__(self) -> None:
        super().__init__("Invalid or expired token")


class WrongCredentials(NotAuthenticated):
    """Nobody logs in with this email and this password; which of them is wrong is not told."""

    code = "wrong_credentials"

    def __init__(self) -> None:
        super().__init__("Invalid email or password")


class TooManyRequests(QuotecastError):
    """A window of `limit` requests is used up until `retry_after` whole seconds from now."""

    status = 429
    code = "too_many_requests"

    def __init__(self, limit: int, retry_after: int) -> None:
        super().__init__("Too Many Requests")
        self.limit = limit
        self.retry_after = retry_after


class TooLarge(QuotecastError):
    """A body is larger than this route takes."""

    status = 413
    code = "too_large"

    def __init__(self) -> None:
        super().__init__("Payload Too Large")


class EmailTaken(QuotecastError):
    """Somebody is registered with this email."""

    status = 409
    code = "email_taken"

    def __init__(self) -> None:
        super().__init__("Email already registered")


class NotFound(QuotecastError):
    """There is no such thing, or it is not this user's."""

    status = 404
    code = "not_found"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} not found")


class Full(QuotecastError):
    """A user has as many of something as one may have."""

    status = 409
    code = "full"

    def __init__(self, limit: int, what: str) -> None:
        super().__init__(f"At most {limit} {what}")


class StaleVersion(QuotecastError):
    """What was to be replaced has changed since it was read."""

    status = 409
    code = "stale_version"

    def __init__(self, version: int) -> None:
        super().__init__(f"The layout is at version {version} now")


class BusError(QuotecastError):
    """Redis did not take or give a batch."""

    code = "bus"


class UnreadableState(BusError):
    """Redis holds data that no known version wrote; asking again does not help."""


class CloseCode(IntEnum):
    """WebSocket close codes: below 4450 reconnecting will not help, from 4450 it will, with backoff."""

    SERVICE_RESTART = 1012
    BAD_COMMANDS = 4400
    NO_PROVIDER = 4404
    NO_DATA = 4451
    SLOW = 4458


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
