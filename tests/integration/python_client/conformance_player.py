"""A server of all feeds that plays a case of the conformance suite to a client with a socket."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from support.runs.deadlines import scaled

Step = dict[str, Any]
PATIENCE_SECONDS: Final = 30.0
#: No server can send this code.
LOST: Final = 1006


def is_playable(case: Step) -> bool:
    """Returns whether a client that only follows a list of quotes can take a case."""
    connect = case["steps"][0]["connect"]
    asked = connect.values() if case["feed"] == "all" else [connect]
    frames = [step["frame"] for step in case["steps"] if "frame" in step]
    return (
        not any("bars" in each or "snapshot" in each for each in asked)
        and not any("send" in step for step in case["steps"])
        and not any(frame.get("replayed") for frame in frames)
        # A feed that rejects a command of the client's own ends the stream.
        and not any(frame["type"] == "error" and frame["code"] == 400 for frame in frames)
    )


def labelled(case: Step) -> Step:
    """Returns a case of one feed as one of the socket of all feeds."""
    feed = case["feed"]
    if feed == "all":
        return case
    steps: list[Step] = []
    for step in case["steps"]:
        kind = next(iter(step))
        if kind == "frame":
            steps.append({"frame": _labelled_frame(feed, step["frame"])})
        elif kind in {"connect", "copy", "reconnect"}:
            others = [{feed: each} for each in step.get("or", [])]
            steps.append({kind: {feed: step[kind]}, "or": others})
        else:
            steps.append(step)
    return {**case, "feed": "all", "steps": steps}


def _labelled_frame(feed: str, frame: Step) -> Step:
    kind = frame["type"]
    if kind == "welcome":
        place = {"epoch": frame["epoch"], "seq": frame["seq"]}
        return {"type": kind, "feeds": {feed: place}, "heartbeatMs": frame["heartbeatMs"], "limits": {}}
    if kind == "heartbeat":
        return {**frame, "feed": feed, "state": frame["feed"]}
    return frame if kind in {"pong", "shutdown"} else {**frame, "feed": feed}


class Connection:
    """What the client must ask for on one connection, what it receives, and how the connection ends."""

    def __init__(self, asked: Sequence[Step] | None) -> None:
        self.asked = asked
        self.steps: list[Step] = []
        #: A close code; None is a lost connection.
        self.code: int | None = None

    @property
    def welcome(self) -> Step | None:
        first = self.steps[0].get("frame") if self.steps else None
        return first if first and first["type"] == "welcome" else None


def connections_of(case: Step) -> tuple[list[Connection], bool]:
    """Returns the connections of a case, and whether the client gives up after the last one."""
    connections: list[Connection] = []
    now: Connection | None = None
    gives_up = False
    for step in labelled(case)["steps"]:
        kind, given = next(iter(step.items()))
        if kind == "connect":
            now = Connection([{feed: {**asked, "since": "none"} for feed, asked in given.items()}])
            connections.append(now)
        elif kind == "reconnect":
            now = Connection([given, *step.get("or", [])])
            connections.append(now)
        elif kind == "close":
            connections[-1].code = None if given == LOST else given
            now = None
        elif kind == "resumes":
            gives_up = not given
        elif kind in {"frame", "copy"}:
            if now is None:
                now = Connection(None)
                connections.append(now)
            now.steps.append(step)
    return connections, gives_up


class Player:
    """Plays one case; `shown` returns the cursor and the quotes of a feed's copy in the client."""

    def __init__(self, case: Step, shown: Callable[[str], tuple[str | None, dict[str, Any]]]) -> None:
        self.connections, self.gives_up = connections_of(case)
        self.problem = ""
        self.done = asyncio.Event()
        self._left = iter(self.connections)
        self._ignored = set(case.get("ignored", []))
        self._shown = shown

    async def serve(self, socket: ServerConnection) -> None:
        """Plays the next connection of the case."""
        connection = next(self._left, None)
        if connection is None:
            return
        try:
            async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
                await self._play(connection, socket)
        except (ConnectionClosed, TimeoutError, AssertionError) as error:
            self.problem = self.problem or repr(error)
            self.done.set()

    async def _play(self, connection: Connection, socket: ServerConnection) -> None:
        await self._greet(connection, socket)
        for step in connection.steps:
            if "copy" in step:
                await self._require_copies(step["copy"])
            elif step["frame"] is not connection.welcome:
                await socket.send(_text(step["frame"]))
        if connection is self.connections[-1]:
            self.done.set()
        if connection.code is not None:
            await socket.close(connection.code)
        elif connection is not self.connections[-1]:
            socket.transport.abort()
        await socket.wait_closed()

    async def _greet(self, connection: Connection, socket: ServerConnection) -> None:
        """Sends the welcome, and requires the right subscriptions."""
        asked = connection.asked or [{}]
        welcome = connection.welcome or _welcome_to(asked[0])
        await socket.send(_text(welcome))
        served = set(asked[0]) & set(welcome["feeds"])
        commands: dict[str, Step] = {}
        while set(commands) != served:
            command = msgspec.json.decode(await socket.recv())
            commands.setdefault(command["feed"], command)
        found = {feed: _comparable(command) for feed, command in commands.items()}
        right = [{feed: _comparable(each[feed]) for feed in served} for each in asked]
        assert found in right, f"the client asks {found} instead of {right}"

    async def _require_copies(self, expected: dict[str, Step]) -> None:
        while difference := self._difference(expected):
            self.problem = difference
            await asyncio.sleep(0.005)
        self.problem = ""

    def _difference(self, expected: dict[str, Step]) -> str:
        for feed, copy in expected.items():
            cursor, quotes = self._shown(feed)
            shown = {key: self._without_ignored(quote) for key, quote in quotes.items()}
            if (cursor, shown) != (copy["cursor"], copy["quotes"]):
                return f"{feed}: {(cursor, shown)} instead of {(copy['cursor'], copy['quotes'])}"
        return ""

    def _without_ignored(self, quote: Step) -> Step:
        return {name: value for name, value in quote.items() if name not in self._ignored}


def _welcome_to(asked: Step) -> Step:
    places = {feed: {"epoch": "e", "seq": 1} for feed in asked}
    return {"type": "welcome", "feeds": places, "heartbeatMs": 15000, "limits": {}}


def _text(frame: Step) -> str:
    # A client waits for as long as the service says.
    return msgspec.json.encode({**frame, "retryAfterMs": 1} if "retryAfterMs" in frame else frame).decode()


def _comparable(asked: Step) -> Step:
    names: Iterable[str] | str = asked["symbols"]
    fields = asked.get("fields")
    return {
        "symbols": names if isinstance(names, str) else sorted(names),
        "since": asked.get("since", "none"),
        "fields": None if fields in (None, "all") else sorted(fields),
    }
