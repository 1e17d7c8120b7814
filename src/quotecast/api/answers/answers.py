"""Successful answers: prepared bodies with entity tags, and their conditional and compressed forms."""

import asyncio
import gzip
import hashlib
from collections.abc import Awaitable, Callable, Collection, Iterable
from functools import cached_property, lru_cache
from typing import Any, Concatenate, Final, Literal, ParamSpec

import zstandard
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Scope, Send

from quotecast.access.request_state import request_state
from quotecast.asgi import Header, Headers, content_length, respond
from quotecast.codings import best_coding
from quotecast.feed.entry import QuoteEntry
from quotecast.feed.mirror import FeedState, Mirror
from quotecast.market import codec

VARY: Header = (b"vary", b"Accept-Encoding")

P = ParamSpec("P")

JSON: Final = b"application/json"
Status = Literal["HIT", "MISS", "STALE"]
#: Seconds that a shared cache may answer with an old copy while no worker answers.
STALE_SECONDS: Final = 30
#: Longest time in seconds that a shared cache answers without asking a worker.
SHARED_SECONDS: Final = 60


def content_tag(body: bytes) -> bytes:
    """Returns a weak entity tag: equal for equal content, on every worker."""
    return b'W/"%b"' % hashlib.blake2b(body, digest_size=9).hexdigest().encode()


def negotiation_headers(headers: Iterable[Header]) -> tuple[bytes, bytes]:
    """Returns a request's `If-None-Match` and `Accept-Encoding`, each empty where the request has none."""
    condition = encodings = b""
    for name, value in headers:
        if name == b"if-none-match":
            condition = b"%b,%b" % (condition, value)
        elif name == b"accept-encoding":
            encodings = value
    return condition, encodings


def matches(condition: bytes, tag: bytes) -> bool:
    """Whether an `If-None-Match` names the tag by weak comparison (RFC 9110, 8.8.3.2); `*` names any."""
    if not condition:
        return False
    names = {part.strip().removeprefix(b"W/") for part in condition.split(b",")}
    return b"*" in names or tag.removeprefix(b"W/") in names


def cached_for(seconds: int) -> bytes:
    """Returns the `Cache-Control` of a public answer that a client may keep for `seconds`.

    A cache that many clients share keeps it for a fifth of that, from 1 to SHARED_SECONDS, and for as long
    again while it asks a worker for a newer one. During an outage it answers for STALE_SECONDS more.
    """
    if seconds <= 0:
        return b"public, max-age=0"
    shared = min(max(seconds // 5, 1), SHARED_SECONDS)
    text = b"public, max-age=%d, s-maxage=%d, stale-while-revalidate=%d, stale-if-error=%d"
    return text % (seconds, shared, shared, STALE_SECONDS)


def cache_status(statuses: Collection[Status]) -> Status:
    """Returns the `X-Cache` of an answer with several parts: STALE before MISS before HIT."""
    return "STALE" if "STALE" in statuses else "MISS" if "MISS" in statuses else "HIT"


CACHE_QUOTES: Final = cached_for(1)
CACHE_LISTS: Final = cached_for(3600)
#: One second is the least: with 0 a shared cache would send all its clients to the workers during an outage.
CACHE_STALE: Final = cached_for(1)
CACHE_NOTHING: Final = b"no-store"

#: Bytes of the smallest body that is worth compressing.
_COMPRESSED_FROM: Final = 1024
#: Bytes from which on a body is compressed, or made a table, in a thread: a millisecond.
APART_FROM: Final = 256 * 1024
#: Zstandard is the smaller one of two that a client likes equally.
_CODINGS: Final = (b"zstd", b"gzip")


class SharedBody:
    """A body that many clients share: tagged and compressed at most once, at the first request for it."""

    def __init__(self, body: bytes, media_type: bytes = JSON) -> None:
        self.body = body
        self.media_type = media_type
        self._converted: dict[Callable[[bytes], bytes], SharedBody] = {}

    def converted(self, convert: Callable[[bytes], bytes], media_type: bytes) -> "SharedBody":
        """Returns the body in another media type, converted at the first request for it."""
        if convert not in self._converted:
            self._converted[convert] = SharedBody(convert(self.body), media_type)
        return self._converted[convert]

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

    def has_encoded(self, encodings: bytes) -> bool:
        """Returns whether the body is made that `encoded_for` returns."""
        name = {b"zstd": "zstandard", b"gzip": "gzipped"}.get(best_coding(encodings, _CODINGS), "body")
        return name in self.__dict__

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

    __slots__ = ("_document", "_headers", "_private", "_tag", "is_current")

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
        #: A plan, and the headers for its clients.
        self._private: tuple[str, Headers] = ("", [])
        self._tag = tag
        self.is_current = is_current

    def add_headers(self, *headers: Header) -> None:
        """Adds headers to an answer that is of this request alone so far."""
        self._headers += headers

    def converted(self, convert: Callable[[bytes], bytes], media_type: bytes) -> "Answer":
        """Returns this answer in another media type; the status, the tag and the other headers stay."""
        document = self._document or SharedBody(self.body)
        headers = [(name, media_type if name == b"content-type" else value) for name, value in self._headers]
        return Answer(
            document.converted(convert, media_type),
            headers,
            tag=self._tag,
            status=self.status_code,
            is_current=self.is_current,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI
        """Sends the form that fits the request."""
        await self.send(scope, send)

    def send(self, scope: Any, send: Any, *more: Header) -> Awaitable[None]:
        """Sends the form that fits the request, with more headers."""
        condition, encodings = negotiation_headers(scope["headers"])
        body, status = self.body, self.status_code
        grant = request_state(scope).grant
        ours = self._headers if grant is None or not grant.is_private else self._headers_for(grant.plan_name)
        headers = [*ours, *more]
        document = self._document if len(body) >= _COMPRESSED_FROM else None
        if document is not None:
            headers.append(VARY)
        if condition and self._tag is not None and matches(condition, self._tag):
            status, body = 304, b""
        elif document is not None and len(body) >= APART_FROM and not document.has_encoded(encodings):
            return self._send_apart(document, encodings, scope, send, *more)
        else:
            if document is not None and (encoded := document.encoded_for(encodings)):
                body = encoded[1]
                headers.append((b"content-encoding", encoded[0]))
            headers.append(content_length(body))
        return respond(send, status, headers, body)

    def _headers_for(self, plan: str) -> Headers:
        """Returns the headers for clients of one plan of several: no shared cache may store the answer."""
        named, headers = self._private
        if named != plan:
            headers = [*self._headers, (b"x-plan", plan.encode())]
            for place, header in enumerate(headers):
                if header[0] == b"cache-control":
                    headers[place] = _as_private(header)
                    break
            self._private = plan, headers
        return headers

    async def _send_apart(
        self, document: SharedBody, encodings: bytes, scope: Any, send: Any, *more: Header
    ) -> None:
        """Compresses the body in a thread, then sends it."""
        await asyncio.to_thread(document.encoded_for, encodings)
        await self.send(scope, send, *more)


# It is the same for most answers, and an answer of one quote is a new one for each request.
@lru_cache(maxsize=1024)
def _as_private(header: Header) -> Header:
    """Returns a `Cache-Control` without what it lets shared caches do."""
    name, value = header
    return name, value.partition(b", s-maxage")[0].replace(b"public", b"private")


def document_answer(document: SharedBody, cache: bytes, *more: Header, tag: bytes | None = None) -> Answer:
    """Returns an answer that stays the same until its content changes."""
    tag = tag or document.tag
    headers = [(b"content-type", document.media_type), (b"etag", tag), (b"cache-control", cache), *more]
    return Answer(document, headers, tag=tag)


def quotes_answer(
    mirror: Mirror, now: float, body: bytes | SharedBody, *extra: Header, seq: int | None = None
) -> Answer:
    """Returns an answer that changes with the feed's next batch, and when the feed becomes stale or live.

    `now` is in seconds of the clock of the mirror's `heard_at`; `seq` is that of the quotes, if they are not
    the newest.
    """
    state = mirror.state(now)
    if seq in {None, mirror.mark.seq}:
        headers = mirror.derive(_quotes_headers, state)
    else:
        headers = feed_headers(_feed_tag(mirror, seq or 0), state, CACHE_QUOTES)
    return Answer(body, (*headers, *extra), tag=headers[0][1])


def while_unchanged(answer: Answer, mirror: Mirror, monotonic: Callable[[], float]) -> Answer:
    """Returns the answer, which later requests may get until the feed's next batch or change of state."""
    mark, state = mirror.mark, mirror.state(monotonic())
    answer.is_current = lambda: mirror.mark is mark and mirror.state(monotonic()) == state
    return answer


def quote_answer(mirror: Mirror, now: float, entry: QuoteEntry) -> Answer:
    """Returns an answer that is the same until the quote, the feed's state or the epoch changes."""
    headers = feed_headers(_feed_tag(mirror, entry.seq), mirror.state(now), CACHE_QUOTES)
    return Answer(entry.full_json(), headers, tag=headers[0][1])


def symbols_body(
    mirror: Mirror, only: Collection[str], body: Callable[[Mirror, frozenset[str] | None], bytes]
) -> SharedBody:
    """Returns a list of symbols, of those that `only` names if it names any; `body` takes their keys."""
    return SharedBody(body(mirror, mirror.scope_of(only))) if only else shared_body(mirror, body, None)


def names_answer(mirror: Mirror, now: float, names: SharedBody) -> Answer:
    """Returns an answer that is the same until the feed's symbols or its state change."""
    return feed_answer(names, mirror.state(now), CACHE_LISTS)


def feed_answer(
    body: SharedBody,
    state: FeedState,
    cache: bytes,
    *more: Header,
    is_current: Callable[[], bool] = lambda: False,
) -> Answer:
    """Returns an answer with data of feeds in this state; see `feed_headers`."""
    headers = feed_headers(body.tag, state, cache)
    return Answer(body, [*headers, *more], tag=headers[0][1], is_current=is_current)


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


def all_quotes_json(mirror: Mirror) -> bytes:
    """Returns all quotes of a feed by key, in the order of the keys."""
    return codec.object_json((entry.key, entry.full_json()) for entry in mirror.ordered())


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


def _quotes_headers(mirror: Mirror, state: FeedState) -> list[Header]:
    return feed_headers(_feed_tag(mirror, mirror.mark.seq), state, CACHE_QUOTES)


def _feed_tag(mirror: Mirror, seq: int) -> bytes:
    return b'W/"%b-%d"' % (mirror.mark.epoch.encode(), seq)
