"""The short way of repeated reads: it skips routing and parsing for URLs that were read before.

Frontends request the same few URLs again and again. The framework takes longer to route and parse a request
than the service takes to limit and answer it, and comes to the same result each time. So a route may mark its
read as `repeatable`; the next request for that path and query is admitted and answered directly. If the read
fails, the request goes to the route, which answers the error. ADR 9 has the measured gain.
"""

import inspect
from collections.abc import Awaitable, Callable
from functools import partial, update_wrapper
from inspect import iscoroutinefunction
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, TypeVar

from quotecast.access.request_state import RequestState, request_state
from quotecast.api.answers.answers import Answer
from quotecast.api.limits.throttle import Throttle, limit_headers, refuse
from quotecast.api.market.services import HttpRequest, Services, services_of
from quotecast.api.route_table import query_parameters
from quotecast.asgi import App, Headers
from quotecast.limits.decision import Decision, LimitedPath
from quotecast.observe import logs

#: The number of remembered URLs, and the characters of one.
MAX_URLS: Final = 4096
MAX_LENGTH: Final = 512
#: Bytes of one stored body, and of all stored answers.
MAX_ANSWER_BYTES: Final = 512 * 1024
MAX_ANSWERS_BYTES: Final = 64 * 1024 * 1024

#: Parameters with more values than are worth remembering: each moment is another one. `to` is the present of
#: TradingView's charts, in seconds.
_UNREPEATED: Final = frozenset({"as_of", "at", "to"})

P = ParamSpec("P")
Made = TypeVar("Made", bound=Answer | Awaitable[Answer])
#: A path and its query, as the client sent them, and the name of the view that answers them.
Url = tuple[str, bytes, str]
Again = Callable[[], Answer | Awaitable[Answer]]


def repeatable(read: Callable[Concatenate[Services, P], Made]) -> Callable[Concatenate[HttpRequest, P], Made]:
    """Makes a route's handler of a read: a function of the services and of the route's own parameters.

    After its first success `Repeats` calls the read without routing and parsing. Put it below `@get`.
    """

    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        again = partial(read, services_of(request), *args, **kwargs)
        made = again()
        request_state(request.scope).again = again
        return made

    async def answer_async(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        again: Any = partial(read, services_of(request), *args, **kwargs)
        made = await again()
        request_state(request.scope).again = again
        return made

    # Litestar reads both the signature and the annotations: those of the read, with the request in place of
    # the services.
    handler: Any = update_wrapper(answer_async if iscoroutinefunction(read) else answer, read)
    signature = inspect.signature(read)
    services, *parameters = signature.parameters.values()
    request = services.replace(name="request", annotation=HttpRequest)
    handler.__signature__ = signature.replace(parameters=[request, *parameters])
    annotations = {name: hint for name, hint in read.__annotations__.items() if name != services.name}
    handler.__annotations__ = {"request": HttpRequest, **annotations}
    return handler  # type: ignore[no-any-return]  # wide on purpose: the caller knows


class _Read(NamedTuple):
    """A read that succeeded before; `path` is None where its route has no limit."""

    again: Again
    path: LimitedPath | None
    template: str


class _Answers:
    """Answers that may be sent again, by URL. Drops the oldest ones beyond a number and a size in bytes."""

    def __init__(self) -> None:
        self._answers: dict[Url, Answer] = {}
        self._bytes = 0

    def current(self, url: Url) -> Answer | None:
        """Returns the last answer for the URL while it is current, else None."""
        last = self._answers.get(url)
        if last is None or last.is_current():
            return last
        self._forget(url)
        return None

    def add(self, url: Url, answer: Answer) -> None:
        """Stores an answer that is current and not too large."""
        if len(answer.body) > MAX_ANSWER_BYTES or not answer.is_current():
            return
        if url in self._answers:  # a concurrent request was faster
            return
        self._answers[url] = answer
        self._bytes += _size(answer)
        while self._bytes > MAX_ANSWERS_BYTES or len(self._answers) > MAX_URLS:
            self._forget(next(iter(self._answers)))

    def _forget(self, url: Url) -> None:
        self._bytes -= _size(self._answers.pop(url))


def _size(answer: Answer) -> int:
    """Returns an answer's bytes of memory: the body, its compressed forms and the objects around them."""
    return 1024 + 3 * len(answer.body)


class Repeats:
    """ASGI application around the routed one; it answers repeated reads itself.

    It remembers the MAX_URLS newest URLs. It does not remember a URL with a parameter that its route does not
    have, because anybody can invent more of them.
    """

    def __init__(self, app: App, *, throttle: Throttle) -> None:
        self._app = app
        self._throttle = throttle
        self._reads: dict[Url, _Read] = {}
        self._answers = _Answers()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serves one connection."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._route(scope, receive, send)
            return
        state = request_state(scope)
        view: Services | None = state.view
        url = scope["path"], scope["query_string"], "" if view is None else view.view
        read = self._reads.get(url)
        if read is None:
            await self._route(scope, receive, send)
            self._remember(url, scope, state)
        elif not await self._repeat(url, read, scope, state, send):
            await self._route(scope, receive, send)

    def _route(self, scope: Any, receive: Any, send: Any) -> Awaitable[None]:
        # Only routes write logs.
        logs.request_id.set(request_state(scope).request_id)
        return self._app(scope, receive, send)

    async def _repeat(self, url: Url, read: _Read, scope: Any, state: RequestState, send: Any) -> bool:
        """Answers and returns True. Returns False if the read fails; the request is counted then."""
        # As the router does, for metrics and logs.
        scope["path_template"] = read.template
        headers: Headers = []
        if read.path is not None:
            if state.step is not None:
                if not await self._throttle.admit(scope, send, read.path):
                    return True
            else:
                decision = self._throttle.decide(scope, state, read.path)
                if not isinstance(decision, Decision):
                    decision = await decision
                state.decision = decision
                if not decision.admitted:
                    await refuse(scope, send, decision)
                    return True
            headers = limit_headers(state.decision) if state.decision is not None else []
        try:
            answer = self._answers.current(url)
            if answer is None:
                made = read.again()
                answer = made if isinstance(made, Answer) else await made
                self._answers.add(url, answer)
        except Exception:  # noqa: BLE001 - the route meets the failure again and answers it
            return False
        await answer.send(scope, send, *headers)
        return True

    def _remember(self, url: Url, scope: Any, state: RequestState) -> None:
        path, query, _ = url
        if state.again is None or len(path) + len(query) > MAX_LENGTH:
            return
        names = {part.partition("=")[0] for part in query.decode("latin-1").split("&")} if query else set()
        if not names <= query_parameters(scope["route_handler"]).keys() - _UNREPEATED:
            return
        if len(self._reads) >= MAX_URLS:
            del self._reads[next(iter(self._reads))]
        self._reads[url] = _Read(state.again, state.path, scope["path_template"])
