"""Every error the service can answer with: HTTP status, stable slug, WebSocket close code."""

from enum import IntEnum


class QuotecastError(Exception):
    """Something went wrong that the caller is told of; the message is safe to show."""

    status = 500
    code = "internal"


class SettingsError(QuotecastError):
    """The environment holds a value that cannot work; one line per problem."""

    code = "settings"


class InvalidValue(QuotecastError):
    """A path, query or body value is out of bounds; `field` names which."""

    status = 422
    code = "invalid"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


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


class NotOffered(QuotecastError):
    """The upstream's plan does not include this; asking again will not help."""

    status = 503
    code = "not_offered"


class BusError(QuotecastError):
    """Redis did not take or give a batch."""

    code = "bus"


class CloseCode(IntEnum):
    """WebSocket close codes: below 4450 reconnecting will not help, from 4450 it will, with backoff."""

    SERVICE_RESTART = 1012
    BAD_COMMANDS = 4400
    TOO_MANY_SOCKETS = 4450
    NO_DATA = 4451
    SLOW = 4458
