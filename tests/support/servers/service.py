"""The service as processes: ingest and API workers over one Valkey, with a reserved port."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Protocol, Self

import httpx
import websockets.sync.client
from websockets.exceptions import ConnectionClosed
from websockets.sync.connection import Connection

from quotecast import parent
from support.clients.merging_client import MergingClient
from support.clients.plain_http import NO_TLS
from support.runs.deadlines import scaled
from support.runs.waits import wait_until
from support.servers.command_server import Forked
from support.servers.reserved import port_number, reserve_port

START_SECONDS = 120.0


class Redis(Protocol):
    """A Redis server, by its URL."""

    @property
    def url(self) -> str:
        """Returns the URL for the setting."""


class Service:
    """Starts and stops the processes, each of which a test may kill and freeze.

    All workers serve on `port`; with `split`, HTTP there and feeds on `feed_port`.
    """

    def __init__(self, redis: Redis, settings: Mapping[str, str] = {}, *, split: bool = False) -> None:
        self.redis = redis
        self._reserved = [reserve_port(), reserve_port()]
        ports = [port_number(each) for each in self._reserved]
        self.port = ports[0]
        self.feed_port = ports[1] if split else ports[0]
        self.url = f"http://127.0.0.1:{self.port}"
        self.processes: list[subprocess.Popen[bytes]] = []
        self._links: list[socket.socket] = []
        self._environment = {
            **os.environ,
            "QUOTECAST_PORT": str(self.port),
            "QUOTECAST_FEED_PORT": str(self.feed_port) if split else "0",
            "QUOTECAST_REDIS_URL": redis.url,
            "QUOTECAST_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
            "QUOTECAST_JWT_SECRET": "a secret of tests, known to everybody",
            **settings,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()
        for link in (*self._links, *self._reserved):
            link.close()

    def start(self, *commands: str) -> subprocess.Popen[bytes]:
        """Starts a process for each command and waits until all serve; returns the last one."""
        for command in commands:
            self.launch(command)
        self.until_ready(len(commands))
        return self.processes[-1]

    def until_ready(self, count: int = 1) -> None:
        """Waits until the last started processes serve."""
        for link in self._links[-count:]:
            assert link.recv(1000), "the process ended before it served"

    def start_measured(self, command: str, settings: Mapping[str, str] = {}) -> str:
        """Starts a process that exports metrics; returns their URL."""
        self.launch(command, {"QUOTECAST_METRICS_PORT": "-1", **settings})
        line = self._links[-1].recv(1000).decode()
        found = re.search(r"; metrics on (http://127\.0\.0\.1:\d+/metrics)\n", line)
        assert found, line
        return found[1]

    def launch(
        self, command: str, settings: Mapping[str, str] | None = None, **more: Any
    ) -> subprocess.Popen[bytes]:
        """Starts a process without waiting; its link reports readiness, and ends it when closed.

        Only files in `more`, such as that of `stderr`, go to a fork; everything else needs a new interpreter.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            link = {parent.VARIABLE: str(theirs.fileno())}
            environment = {**self._environment, **link, **(settings or {})}
            if _can_fork(more, environment):
                process: subprocess.Popen[bytes] = _fork(command, environment, theirs.fileno(), **more)
            else:
                process = subprocess.Popen(
                    [sys.executable, "-m", "quotecast", command],
                    env=environment,
                    pass_fds=[theirs.fileno()],
                    **more,
                )
        ours.settimeout(START_SECONDS)
        self._links.append(ours)
        self.processes.append(process)
        return process

    def answers(self, path: str) -> None:
        """Waits until a worker answers, ready or not."""
        wait_until(
            lambda: self.get(path),
            "no server answers",
            seconds=START_SECONDS,
            ignoring=(httpx.TransportError,),
        )

    def get(self, path: str, **more: Any) -> httpx.Response:
        """Sends a GET request on a new connection, so that any worker may get it."""
        return httpx.get(self.url + path, timeout=scaled(5), verify=NO_TLS, **more)

    def seqs(self) -> dict[str, int]:
        """Returns the seq of each feed's last update at the worker that answers."""
        feeds = self.get("/api/market/status").json()["feeds"]
        return {name: feed["seq"] for name, feed in feeds.items()}

    def wait_for_seq(self, feed: str, seq: int, answers: int = 1) -> None:
        """Waits for a feed's update in so many answers, each of which any worker may give."""
        for _ in range(answers):
            wait_until(lambda: self.seqs()[feed] >= seq, "a worker is behind")

    def post(self, path: str, **more: Any) -> httpx.Response:
        """Sends a POST request on a new connection."""
        return httpx.post(self.url + path, timeout=scaled(30), verify=NO_TLS, **more)

    def patch(self, path: str, **more: Any) -> httpx.Response:
        """Sends a PATCH request on a new connection."""
        return httpx.patch(self.url + path, timeout=scaled(30), verify=NO_TLS, **more)

    @contextlib.contextmanager
    def feed(self, path: str, **more: Any) -> Iterator["FeedClient"]:
        """Connects a client to a feed."""
        url = f"ws://127.0.0.1:{self.feed_port}{path}"
        key = "symbol" if "/doviz" in path else "ticker"
        # A client that has stopped reading would wait ten seconds for the answer to its close frame.
        more = {"open_timeout": scaled(10), "close_timeout": 1.0, **more}
        with websockets.sync.client.connect(url, max_size=None, **more) as connection:
            yield FeedClient(connection, key)


class FeedClient:
    """A frontend, which merges the feed's frames."""

    def __init__(self, connection: Connection, key: str) -> None:
        self.connection = connection
        self.state = MergingClient(key, connection.subprotocol or "quotecast.v1.json")

    def next(self, seconds: float = 10.0) -> dict[str, Any]:
        message = self.connection.recv(timeout=scaled(seconds))
        assert isinstance(message, str)
        return self.state.take(message)

    def next_of(self, kind: str, seconds: float = 10.0) -> dict[str, Any]:
        """Returns the next frame of a type, and merges those before it."""
        deadline = time.monotonic() + scaled(seconds)
        while True:
            assert time.monotonic() < deadline, f"no frame {kind}"
            frame = self.next(seconds)
            if frame["type"] == kind:
                return frame

    def send(self, text: str) -> None:
        self.connection.send(text)

    def closed(self, seconds: float = 10.0) -> int | None:
        """Reads to the end; returns the close code."""
        deadline = time.monotonic() + scaled(seconds)
        with contextlib.suppress(ConnectionClosed):
            while time.monotonic() < deadline:
                self.next(seconds)
        return self.connection.close_code


def _can_fork(more: Mapping[str, Any], environment: Mapping[str, str]) -> bool:
    """Returns whether a fork differs in nothing from a new interpreter."""
    return (
        more.keys() <= {"stdout", "stderr"}
        and subprocess.PIPE not in more.values()
        and not any(
            name.startswith("PYTHON") and os.environ.get(name) != value for name, value in environment.items()
        )
    )


def _fork(
    command: str, environment: Mapping[str, str], link: int, stdout: Any = 1, stderr: Any = 2
) -> Forked:
    given = {1: stdout, 2: stderr, link: link}
    files = {
        number: file if isinstance(file, int) else file.fileno()
        for number, file in given.items()
        if file != subprocess.DEVNULL
    }
    return Forked([command], environment, files)
