"""Successful answers: prepared bodies with entity tags, and their conditional and compressed forms."""

import gzip
from collections.abc import Awaitable, Callable, Iterable
from functools import cached_property
from typing import Any, Concatenate, Final, ParamSpec

import zstandard
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Scope, Send

from quotecast.api.negotiation import VARY, best_coding, content_tag, matches, negotiation_headers
from quotecast.asgi import Header, content_length, respond
from quotecast.feed.entry import QuoteEntry
from quotecast.feed.mirror import FeedState, Mirror
from quotecast.market import codec

P = ParamSpec("P")

JSON: Final = b"application/json"
CACHE_QUOTES: Final = b"public, max-age=1"
CACHE_LISTS: Final = b"public, max-age=3600"
#: One second is the least: with 0 a shared cache would send all its clients to the workers during an outage.
CACHE_STALE: Final = b"public, max-age=1"
CACHE_NOTHING: Final = b"no-store"

#: Bytes of the smallest body that is worth compressing.
_COMPRESSED_FROM: Final = 1024
#: Zstandard is the smaller one of two that a client likes equally.
_CODINGS: Final = (b"zstd", b"gzip")


class SharedBody:
    """A body that many clients share: tagged and compressed at most once, at the first request for it."""

    def __init__(self, body: bytes, media_type: bytes = JSON) -> None:
        self.body = body
        self.media_type = media_type

    @cached_property
    def tag(self) -> bytes:
        """A weak entity tag of the content."""
        return content_tag(self.body)

    @cached_property
    def gzipped(self) -> bytes:
        """The body in gzip at its fastest level, because bodies of quotes live for a moment."""
        return gzip.compress(self.body, compresslevel=1, mtime=0)

    @cached_property
    def zstandard(self) -> bytes:
        """The body in Zstandard at its fastest level."""
        return zstandard.compress(self.body, level=1)

    def encoded_for(self, encodings: bytes) -> tuple[bytes, bytes] | None:
        """Returns the best coding for an `Accept-Encoding` and the body in it; None for the plain body."""
        match best_coding(encodings, _CODINGS):
            case b"zstd":
                return b"zstd", self.zstandard
            case b"gzip":
                return b"gzip", self.gzipped
            case _:
                return None


class Answer(ASGIResponse):
    """A status, prepared headers and a body; sent without further encoding.

    A tagged answer becomes a 304 when the client's `If-None-Match` has its tag. Clients that accept
    compression get a document compressed. `is_current` says whether a later request may get the same answer.
    """

    __slots__ = ("_document", "_headers", "_tag", "is_current")

    def __init__(
        self,
        body: bytes | SharedBody,
        headers: Iterable[Header],
        *,
        tag: bytes | None,
        status: int = 200,
        is_current: Callable[[], bool] = lambda: False,
    ) -> None:
        # Skips the slow constructor of the base class: everything is prepared already.
        self._document = body if isinstance(body, SharedBody) else None
        self.body = body if isinstance(body, bytes) else body.body
        self.status_code = status
        self._headers = [*headers]
        self._tag = tag
        self.is_current = is_current

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI
        """Sends the form that fits the request."""
        await self.send(scope, send)

    def send(self, scope: Any, send: Any, *more: Header) -> Awaitable[None]:
        """Sends the form that fits the request, with more headers."""
        condition, encodings = negotiation_headers(scope["headers"])
        headers, body, status = [*self._headers, *more], self.body, self.status_code
        document = self._document if len(body) >= _COMPRESSED_FROM else None
        if document is not None:
            headers.append(VARY)
        if condition and self._tag is not None and matches(condition, self._tag):
            status, body = 304, b""
        else:
            if document is not None and (encoded := document.encoded_for(encodings)):
                body = encoded[1]
                headers.append((b"content-encoding", encoded[0]))
            headers.append(content_length(body))
        return respond(send, status, headers, body)


def document_answer(document: SharedBody, cache: bytes, *, tag: bytes | None = None) -> Answer:
    """Returns an answer that stays the same until its content changes."""
    tag = tag or document.tag
    headers = [(b"content-type", document.media_type), (b"etag", tag), (b"cache-control", cache)]
    return Answer(document, headers, tag=tag)


def quotes_answer(mirror: Mirror, now: float, body: bytes | SharedBody, *extra: Header) -> Answer:
    """Returns an answer that changes with the feed's next batch, and when the feed becomes stale or live.

    `now` is in seconds of the clock of the mirror's `heard_at`.
    """
    headers = mirror.derive(_quotes_headers, mirror.state(now))
    return Answer(body, (*headers, *extra), tag=headers[0][1])


def quote_answer(mirror: Mirror, now: float, entry: QuoteEntry) -> Answer:
    """Returns an answer that is the same until the quote, the feed's state or the epoch changes."""
    headers = feed_headers(_feed_tag(mirror, entry.seq), mirror.state(now), CACHE_QUOTES)
    return Answer(entry.full_json(), headers, tag=headers[0][1])


def names_answer(mirror: Mirror, now: float, names: SharedBody) -> Answer:
    """Returns an answer that is the same until the feed's symbols or its state change."""
    headers = feed_headers(names.tag, mirror.state(now), CACHE_LISTS)
    return Answer(names, headers, tag=headers[0][1])


def feed_headers(tag: bytes, state: FeedState, cache: bytes) -> list[Header]:
    """Returns the headers of JSON from a feed, the tag first.

    The state is a part of the tag: some caches ignore the headers of a 304 and would repeat the old state.
    """
    if state != "live":
        tag, cache = b'%b-%b"' % (tag[:-1], state.encode()), CACHE_STALE
    return [(b"etag", tag), (b"content-type", JSON), (b"cache-control", cache), state_header(state)]


def state_header(state: FeedState) -> Header:
    """Returns the header that says whether the feeds behind an answer are live."""
    return b"x-feed-state", state.encode()


def all_quotes(mirror: Mirror) -> SharedBody:
    """Returns all quotes of a feed by key, in the order of the keys; encodes them once per change."""
    return shared_body(mirror, _all_quotes_json)


def shared_body(
    mirror: Mirror,
    body: Callable[Concatenate[Mirror, P], bytes],
    *args: P.args,
    **constants: P.kwargs,
) -> SharedBody:
    """Returns the body that a view of the mirror writes, encoded once per change; see `Mirror.derive`."""
    return mirror.derive(_document, body, *args, **constants)


def _document(mirror: Mirror, body: Callable[..., bytes], *args: Any, **constants: Any) -> SharedBody:
    return SharedBody(body(mirror, *args, **constants))


def _all_quotes_json(mirror: Mirror) -> bytes:
    return quotes_json(mirror.live())


def _quotes_headers(mirror: Mirror, state: FeedState) -> list[Header]:
    return feed_headers(_feed_tag(mirror, mirror.mark.seq), state, CACHE_QUOTES)


def quotes_json(entries: Iterable[QuoteEntry]) -> bytes:
    """Returns a JSON object of quotes by key, in the order of the keys."""
    ordered = sorted((entry.key, entry) for entry in entries)
    return codec.object_json((key, entry.full_json()) for key, entry in ordered)


def _feed_tag(mirror: Mirror, seq: int) -> bytes:
    return b'W/"%b-%d"' % (mirror.mark.epoch.encode(), seq)
