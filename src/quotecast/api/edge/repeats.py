"""The short way of a read that was asked for before: what routing and parsing found is remembered.

Frontends ask for the same few URLs again and again. Routing and parsing one takes the framework longer than
limiting and answering it takes us, and comes to the same result each time. So a route may say how its answer
is made again; the next request for that path and query is counted by the limiter and answered straight away.
Whatever goes wrong on the short way is left to the route, which knows how to say so.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial, update_wrapper
from inspect import iscoroutinefunction
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, TypeVar

from quotecast.api.answers import Answer
from quotecast.api.edge.middleware import REQUEST_ID
from quotecast.api.edge.throttle import DECISION, LIMITED, LimitedPath, Throttle, limit_headers
from quotecast.api.services import HttpRequest, Services, services_of
from quotecast.asgi import App
from quotecast.observe import logs

#: How many URLs are remembered, and how long one may be.
MAX_URLS: Final = 4096
MAX_LENGTH: Final = 512
#: Bytes of a body that is kept, and of all that is kept.
MAX_ANSWER_BYTES: Final = 512 * 1024
MAX_ANSWERS_BYTES: Final = 64 * 1024 * 1024

#: The type of a path's parameter, as in `{symbol:str}`.
_TYPE: Final = re.compile(r":\w+(?=})")
#: Where a route leaves how its answer is made again.
_AGAIN: Final = "quotecast.again"

P = ParamSpec("P")
Made = TypeVar("Made", bound=Answer | Awaitable[Answer])
#: A path and its query, as they were sent.
Url = tuple[str, bytes]
Again = Callable[[], Answer | Awaitable[Answer]]


def repeatable(read: Callable[Concatenate[Services, P], Made]) -> Callable[Concatenate[HttpRequest, P], Made]:
    """Makes a route's handler of a read: a function of the services and of the route's own parameters.

    After its first success `Repeats` calls the read without routing and parsing. Put it below `@get`.
    """
    return _handler(_remembering_async(read) if iscoroutinefunction(read) else _remembering(read), read)


def _remembering(read: Callable[..., Any]) -> Callable[..., Any]:
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        again = partial(read, services_of(request), *args, **kwargs)
        made = again()
        request.scope[_AGAIN] = again  # type: ignore[typeddict-unknown-key]  # ours
        return made

    return answer


def _remembering_async(read: Callable[..., Any]) -> Callable[..., Any]:
    async def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        again = partial(read, services_of(request), *args, **kwargs)
        made = await again()
        request.scope[_AGAIN] = again  # type: ignore[typeddict-unknown-key]  # ours
        return made

    return answer


def _handler(answer: Callable[..., Any], read: Callable[..., Any]) -> Callable[..., Any]:
    """Gives the handler the name, text and parameters of the read, with the request in place of the services.

    Litestar reads both the signature and the annotations.
    """
    signature = inspect.signature(read)
    services, *parameters = signature.parameters.values()
    request = services.replace(name="request", annotation=HttpRequest)
    handler: Any = update_wrapper(answer, read)
    handler.__signature__ = signature.replace(parameters=[request, *parameters])
    annotations = {name: hint for name, hint in read.__annotations__.items() if name != services.name}
    handler.__annotations__ = {"request": HttpRequest, **annotations}
    return handler  # type: ignore[no-any-return]  # wide on purpose: the caller knows


class _Read(NamedTuple):
    """A read that was made before; `path` is None where its route has no limit."""

    again: Again
    path: LimitedPath | None
    template: str


class _Answers:
    """Answers that may be sent again, by URL; the oldest of too many bytes is forgotten."""

    def __init__(self) -> None:
        self._answers: dict[Url, Answer] = {}
        self._bytes = 0

    def current(self, url: Url) -> Answer | None:
        """Returns the last answer while it is current."""
        last = self._answers.get(url)
        if last is None or last.is_current():
            return last
        self._forget(url)
        return None

    def add(self, url: Url, answer: Answer) -> None:
        """Remembers an answer that is current and not too large."""
        if len(answer.body) > MAX_ANSWER_BYTES or not answer.is_current():
            return
        if url in self._answers:  # another request for it was faster
            return
        self._answers[url] = answer
        self._bytes += _size(answer)
        while self._bytes > MAX_ANSWERS_BYTES or len(self._answers) > MAX_URLS:
            self._forget(next(iter(self._answers)))

    def _forget(self, url: Url) -> None:
        self._bytes -= _size(self._answers.pop(url))


def _size(answer: Answer) -> int:
    """Bytes of memory: the compressed forms that may stand beside a body, and the objects around it."""
    return 1024 + 3 * len(answer.body)


class Repeats:
    """ASGI application around the routed one; see above. The oldest of too many URLs is forgotten.

    A URL with a parameter that its route does not have is not remembered: anybody can invent more.
    `parameters` names those of each path.
    """

    def __init__(
        self,
        app: App,
        *,
        throttle: Throttle,
        parameters: Mapping[str, Collection[str]],
    ) -> None:
        self._app = app
        self._throttle = throttle
        self._parameters = parameters
        self._reads: dict[Url, _Read] = {}
        self._answers = _Answers()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serves one connection."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._route(scope, receive, send)
            return
        url = scope["path"], scope["query_string"]
        read = self._reads.get(url)
        if read is None:
            await self._route(scope, receive, send)
            self._remember(url, scope)
        elif not await self._repeat(url, read, scope, send):
            await self._route(scope, receive, send)

    def _route(self, scope: Any, receive: Any, send: Any) -> Awaitable[None]:
        # Only routes have something to log.
        logs.request_id.set(scope.get(REQUEST_ID, ""))
        return self._app(scope, receive, send)

    async def _repeat(self, url: Url, read: _Read, scope: Any, send: Any) -> bool:
        """Answers and returns True. Returns False if the read fails; the request is counted then."""
        # As the router does, for metrics and logs.
        scope["path_template"] = read.template
        if read.path is not None and not await self._throttle.admit(scope, send, read.path):
            return True
        headers = limit_headers(scope[DECISION]) if read.path is not None else []
        try:
            answer = self._answers.current(url) or await self._make(url, read)
        except Exception:  # noqa: BLE001 - the route meets the failure again and answers it
            return False
        await answer.send(scope, send, *headers)
        return True

    async def _make(self, url: Url, read: _Read) -> Answer:
        made = read.again()
        answer = made if isinstance(made, Answer) else await made
        self._answers.add(url, answer)
        return answer

    def _remember(self, url: Url, scope: Any) -> None:
        again = scope.get(_AGAIN)
        if (
            again is None
            or len(url[0]) + len(url[1]) > MAX_LENGTH
            or not self._has_known_parameters(scope, url[1])
        ):
            return
        if len(self._reads) >= MAX_URLS:
            del self._reads[next(iter(self._reads))]
        self._reads[url] = _Read(again, scope.get(LIMITED), scope["path_template"])

    def _has_known_parameters(self, scope: Any, query: bytes) -> bool:
        path = _TYPE.sub("", scope["path_template"])
        names = {part.partition("=")[0] for part in query.decode("latin-1").split("&")} if query else set()
        return names <= {*self._parameters.get(path, ())}
