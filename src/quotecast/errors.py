"""Errors of the service: HTTP status, stable code, cause and remedy."""

from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType

from quotecast.close_codes import CloseCode


class QuotecastError(Exception):
    """An error with a message that is safe to show to clients and operators."""

    status = 500
    code = "internal"
    #: The close code of a socket that the error refuses. By default the client connects again later.
    close_code = CloseCode.NO_DATA
    #: The class's row in docs/errors.md, in Markdown: why a client gets the error, and what to do.
    cause = ""
    remedy = ""
    #: The message of an error that always says the same.
    text = ""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or self.text)


class SettingsError(QuotecastError):
    """The settings are wrong; the message has one line per problem."""

    code = "settings"


class ServerFailedError(QuotecastError):
    """A server ended by itself, or could not start, most often because its port was taken."""

    code = "server"


class InvalidValue(QuotecastError):
    """A path, query or body value is out of bounds; `field` names it."""

    status = 422
    code = "invalid"
    cause = "a value is missing or out of bounds; `errors` names each"
    remedy = "correct the fields"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.problems: Sequence[FieldProblem] = [FieldProblem(field, message)]


class UnknownParameter(InvalidValue):
    """The route has no such query parameter, but one with a similar name."""

    code = "unknown_parameter"
    cause = (
        "the route has no such query parameter, but one with a similar name, which the message proposes; "
        "the service ignores other unknown names"
    )
    remedy = "correct the name"

    def __init__(self, name: str, meant: str) -> None:
        super().__init__(name, f"There is no such parameter; did you mean {meant}?")


class InvalidRows(InvalidValue):
    """Lines of a file are wrong; `problems` name each with its line."""

    def __init__(self, problems: Sequence["FieldProblem"]) -> None:
        super().__init__("file", "Some lines are wrong")
        self.problems = problems


class KeyReused(InvalidValue):
    """Another request has already used this `Idempotency-Key`."""

    code = "idempotency_key_reused"
    cause = "another request had this `Idempotency-Key` in the past 24 hours"
    remedy = "use a new key for a new request"

    def __init__(self) -> None:
        super().__init__("Idempotency-Key", "Was used for another request in the past 24 hours")


class MalformedJson(QuotecastError):
    """A request body is not JSON."""

    status = 400
    code = "malformed_json"
    cause = "the body is not JSON"
    remedy = "check quotes, commas and UTF-8"
    text = "Malformed JSON"


class UpgradeRequired(QuotecastError):
    """A plain HTTP request came to the path of a WebSocket feed."""

    status = 426
    code = "upgrade_required"
    cause = "a plain request came to the path of a WebSocket feed"
    remedy = "connect with a [WebSocket client](feeds.md)"
    text = "This path is a WebSocket feed: connect with a WebSocket client"


class SymbolNotFound(QuotecastError):
    """No feed has the symbol."""

    status = 404
    code = "symbol_not_found"
    cause = "no feed has the symbol; `errors` may propose one"
    remedy = "correct it, or find it with [search](http.md#search)"
    text = "Symbol not found"


class ProviderMissing(QuotecastError):
    """The operator configured no provider for this group."""

    status = 503
    code = "no_provider"
    cause = "the operator configured no source for this data"
    remedy = "ask the operator; see [providers](providers.md)"

    def __init__(self, group: str) -> None:
        super().__init__(f"No provider configured for {group}")


class NoData(QuotecastError):
    """The feed has not delivered any quote yet."""

    status = 503
    code = "no_data"
    cause = "the feed has not received a price yet"
    remedy = "wait for `Retry-After`"
    retry_after = 1.0

    def __init__(self, feed: str, delay_seconds: int = 0) -> None:
        late = f"; delayed quotes begin {delay_seconds} s after the live ones" if delay_seconds else ""
        super().__init__(f"No data yet for {feed}{late}")


class FeedsFull(QuotecastError):
    """This worker, or the client's address, has as many feeds as it may."""

    status = 503
    code = "service_unavailable"
    cause = "the worker or your address has as many connections as it may"
    remedy = "wait for `Retry-After`; close a connection"
    retry_after = 5.0


class UpstreamError(QuotecastError):
    """An upstream failed: it refused, timed out, or sent an unreadable answer.

    `retry_after` is the upstream's own request to wait, in seconds; None without one.
    """

    status = 503
    code = "upstream"
    cause = "the source of the data failed, and the cache has no older copy"
    remedy = "wait for `Retry-After`"

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class UpstreamRefused(UpstreamError):
    """An upstream answered with an HTTP error status; `excerpt` is the beginning of its body."""

    def __init__(
        self, message: str, *, upstream_status: int, excerpt: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(message, retry_after=retry_after)
        self.upstream_status = upstream_status
        self.excerpt = excerpt


class UpstreamCutShort(UpstreamError):
    """An upstream closed the connection in the middle of a body; `received` is the part that arrived."""

    def __init__(self, message: str, received: bytes) -> None:
        super().__init__(message)
        self.received = received


class NotOffered(QuotecastError):
    """The upstream's plan does not include this data; a retry does not help."""

    status = 503
    code = "not_offered"
    cause = "the source's plan does not include this data"
    remedy = "ask the operator"


class DatabaseAway(QuotecastError):
    """PostgreSQL did not answer in time; a write may have taken effect or not."""

    status = 503
    code = "database"
    cause = "accounts are unavailable; a write may have taken effect or not"
    remedy = "wait for `Retry-After`; repeat a write with its `Idempotency-Key`"
    retry_after = 1.0
    text = "Account data is temporarily unavailable"


class Busy(QuotecastError):
    """This worker has too many concurrent requests of one kind."""

    status = 503
    code = "busy"
    cause = "this worker has too many expensive requests at once"
    remedy = "wait for `Retry-After`"
    retry_after = 2.0
    text = "Too many concurrent requests; try again shortly"


class PushOff(QuotecastError):
    """The operator gave this service no key for Web Push."""

    status = 503
    code = "push_off"
    cause = "this service sends no Web Push"
    remedy = "use a webhook, or ask the operator for a key"
    text = "This service sends no notifications: it has no VAPID key"


class NotAuthenticated(QuotecastError):
    """A request to a protected route has no token, or an invalid one."""

    status = 401
    code = "not_authenticated"
    close_code = CloseCode.KEY_ENDED
    cause = "the route needs a token, and the request has none"
    remedy = "[log in](authentication.md) and send `Authorization: Bearer`"
    text = "Not authenticated"


class InvalidToken(NotAuthenticated):
    """The token is expired, foreign, revoked or malformed; clients do not learn which."""

    code = "invalid_token"
    cause = "the token is expired, ended, or of another service"
    remedy = "log in again"
    text = "Invalid or expired token"


class WrongCredentials(NotAuthenticated):
    """The email or the password of a login is wrong; clients do not learn which."""

    code = "wrong_credentials"
    cause = "email or password is wrong"
    remedy = "correct them; the answer does not say which"
    text = "Invalid email or password"


class WrongPassword(QuotecastError):
    """A request that needs the user's password has a wrong one; its token stays valid."""

    status = 403
    code = "wrong_password"
    cause = "the current password in the body is wrong; the token stays valid"
    remedy = "ask the user again"
    text = "The password is wrong"


class TooManyRequests(QuotecastError):
    """A client used up a window of `limit` requests; the next slot is free in `retry_after` whole seconds."""

    status = 429
    code = "too_many_requests"

    def __init__(self, limit: int, retry_after: int) -> None:
        super().__init__("Too Many Requests")
        self.limit = limit
        self.retry_after = retry_after


class TooLarge(QuotecastError):
    """A request body is larger than the route accepts."""

    status = 413
    code = "too_large"
    cause = "the body is larger than the route accepts"
    remedy = "send less: 80 KB at most, a CSV file 256 KB, or 1 MB of transactions, an MCP request 64 KB"
    text = "Payload Too Large"


class RequestTimeout(QuotecastError):
    """A request's body takes too long to arrive."""

    status = 408
    code = "request_timeout"
    cause = "the body did not arrive in time"
    remedy = "send it in one piece; retry on a better connection"


class EmailTaken(QuotecastError):
    """A user with this email exists."""

    status = 409
    code = "email_taken"
    cause = "a user with this email exists"
    remedy = "log in instead"
    text = "Email already registered"


class NameTaken(QuotecastError):
    """The user has another list with this name."""

    status = 409
    code = "name_taken"
    cause = "another of your lists has this name"
    remedy = "choose another name"
    text = "Another list has this name"


class NotFound(QuotecastError):
    """The resource does not exist, or belongs to another user."""

    status = 404
    code = "not_found"
    cause = "no such route, or no such item of yours"
    remedy = "check the path and the id"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} not found")


class Full(QuotecastError):
    """A user has reached the maximum number of one kind of resource."""

    status = 409
    code = "full"
    cause = "you have as many items of this kind as you may"
    remedy = "delete one"

    def __init__(self, limit: int, what: str, advice: str = "delete one first") -> None:
        super().__init__(f"You have the maximum of {limit} {what}; {advice}")


class StaleVersion(QuotecastError):
    """The resource changed after the client read it."""

    status = 409
    code = "stale_version"
    cause = "another session saved the layout since you read it"
    remedy = "read it, merge, save again with its version"

    def __init__(self, version: int) -> None:
        super().__init__(f"The layout is at version {version} now")


class BusError(QuotecastError):
    """A call to the bus failed."""

    code = "bus"


class UnreadableState(BusError):
    """Redis holds data that no known version wrote; a retry does not help."""


class FieldProblem(Struct, frozen=True, omit_defaults=True):
    """A problem with one field of the body, the query or the path; in a file, with a column of a line."""

    field: str
    message: str
    line: int | UnsetType = UNSET


class Problem(Struct, frozen=True, omit_defaults=True):
    """An error: `detail` for people, `code` for programs."""

    detail: str
    code: str | UnsetType = UNSET
    request_id: str | UnsetType = UNSET
    errors: Sequence[FieldProblem] | UnsetType = UNSET
