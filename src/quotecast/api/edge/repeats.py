"""The short way of a read that was asked for before: what routing and parsing found is remembered.

Frontends ask for the same few URLs again and again. Routing and parsing one takes the framework longer than
limiting and answering it takes us, and comes to the same result each time. So a route may say how its answer
is made again; the next request for that path and query is counted by the limiter and answered straight away.
Whatever goes wrong on the short way is left to the route, which knows how to say so.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec

from quotecast.api.answers import Answer
from quotecast.api.edge.middleware import REQUEST_ID
from quotecast.api.edge.throttle import DECISION, LIMITED, Check, Limited, headers_of, refuse
from quotecast.api.services import HttpRequest, Services, services_of
from quotecast.asgi import App, Header, Scope
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
#: A path and its query, as they were sent.
Url = tuple[str, bytes]
Again = Callable[[], Answer | Awaitable[Answer]]


def repeatable(
    request: HttpRequest, make: Callable[Concatenate[Services, P], Answer], *args: P.args, **kwargs: P.kwargs
) -> Answer:
    """The answer that `make` makes of the services; later requests for the same URL go straight to it."""
    again = partial(make, services_of(request), *args, **kwargs)
    answer = again()
    request.scope[_AGAIN] = again  # type: ignore[typeddict-unknown-key]  # ours
    return answer


async def repeatable_read(
    request: HttpRequest,
    make: Callable[Concatenate[Services, P], Awaitable[Answer]],
    *args: P.args,
    **kwargs: P.kwargs,
) -> Answer:
    """Likewise, where making it takes a look into the cache."""
    again = partial(make, services_of(request), *args, **kwargs)
    answer = await again()
    request.scope[_AGAIN] = again  # type: ignore[typeddict-unknown-key]  # ours
    return answer


class _Known(NamedTuple):
    again: Again
    limited: Limited | None
    template: str


class _Answers:
    """Answers that may be sent again, by URL; the oldest of too many bytes is forgotten."""

    def __init__(self) -> None:
        self._answers: dict[Url, Answer] = {}
        self._bytes = 0

    async def answer(self, url: Url, again: Again) -> Answer:
        """The last one while it is current, else a new one."""
        last = self._answers.get(url)
        if last is not None:
            if last.is_current():
                return last
            self._forget(url)
        made = again()
        answer = made if isinstance(made, Answer) else await made
        if len(answer.body) <= MAX_ANSWER_BYTES and answer.is_current():
            self._keep(url, answer)
        return answer

    def _keep(self, url: Url, answer: Answer) -> None:
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
        check: Check,
        identify: Callable[[Scope], str],
        parameters: Mapping[str, Collection[str]],
    ) -> None:
        self._app = app
        self._check = check
        self._identify = identify
        self._parameters = parameters
        self._known: dict[Url, _Known] = {}
        self._answers = _Answers()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serves one connection."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._routed(scope, receive, send)
            return
        url = scope["path"], scope["query_string"]
        known = self._known.get(url)
        if known is None:
            await self._routed(scope, receive, send)
            self._learn(url, scope)
        elif not await self._repeated(url, known, scope, send):
            await self._routed(scope, receive, send)

    def _routed(self, scope: Any, receive: Any, send: Any) -> Awaitable[None]:
        # Only routes have something to log.
        logs.request_id.set(scope.get(REQUEST_ID, ""))
        return self._app(scope, receive, send)

    async def _repeated(self, url: Url, known: _Known, scope: Any, send: Any) -> bool:
        """Whether the request was answered; if not, it was counted at least."""
        headers: list[Header] = []
        # As routing would say.
        scope["path_template"] = known.template
        if known.limited is not None:
            decision = await self._check(known.limited.key(self._identify(scope)), known.limited.limit)
            scope[LIMITED], scope[DECISION] = known.limited, decision
            if not decision.admitted:
                await refuse(send, decision)
                return True
            headers = headers_of(decision)
        try:
            answer = await self._answers.answer(url, known.again)
        except Exception:  # noqa: BLE001 - the route meets it again, and says what it is
            return False
        await answer.send(scope, send, *headers)
        return True

    def _learn(self, url: Url, scope: Any) -> None:
        again = scope.get(_AGAIN)
        if again is None or len(url[0]) + len(url[1]) > MAX_LENGTH or not self._asks_for_known(scope, url[1]):
            return
        if len(self._known) >= MAX_URLS:
            del self._known[next(iter(self._known))]
        self._known[url] = _Known(again, scope.get(LIMITED), scope["path_template"])

    def _asks_for_known(self, scope: Any, query: bytes) -> bool:
        path = _TYPE.sub("", scope["path_template"])
        names = {part.partition("=")[0] for part in query.decode("latin-1").split("&")} if query else set()
        return names <= {*self._parameters.get(path, ())}
