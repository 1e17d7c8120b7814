"""Contenders: this service and its peers, each started by itself with the same market."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

import httpx
from msgspec import Struct

from benchmarks.processes import (
    HOST,
    LOAD_CORE,
    SERVER_CORE,
    answers,
    family,
    listens,
    reserved_port,
    running,
    wait_until,
)
from quotecast.local import valkey

HERE: Final = Path(__file__).parent
PEERS: Final = HERE / "peers"
PEER_PYTHON: Final = HERE.parent / ".venv-bench" / "bin" / "python"
MODULES: Final = Path("/usr/lib/nginx/modules")
#: Limits that refuse nobody; the limiter runs all the same.
NO_REFUSALS: Final = {"QUOTECAST_LIMIT_MARKET": "1000000", "QUOTECAST_LIMIT_FINANCIALS": "1000000"}


class Feed(Struct, frozen=True):
    """The input of a peer: messages a second, and quotes in each."""

    messages_per_second: float
    quotes_per_message: int = 1
    symbols: int = 500
    #: Seconds before the first message: an overwhelmed server accepts no listeners.
    delay_seconds: float = 0.0


class Server(Struct, frozen=True):
    """A running contender; the processes are those whose CPU time counts."""

    port: int
    pids: list[int]
    #: Port of feeds, for contenders with a separate one.
    feed_port: int = 0
    #: URL of the bus, for contenders with one.
    redis_url: str = ""


#: Starts a contender.
Start = Callable[[], AbstractContextManager[Server]]


class Contender(Struct, frozen=True):
    """A name and a start function; `paths` are the feed's paths, which listeners take in turn."""

    name: str
    start: Start
    paths: Sequence[str] = ("/ws",)
    #: Whether its listeners offer permessage-deflate.
    deflate: bool = False
    #: Whether its listeners ask for rows.
    rows: bool = False


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Yields a folder for one server's files; prints the server's log on failure."""
    with tempfile.TemporaryDirectory(prefix="quotecast-bench-") as name:
        try:
            yield Path(name)
        except RuntimeError:
            for log in Path(name).glob("*.log"):
                sys.stderr.write(f"--- {log.name}\n{log.read_text(errors='replace')[-2000:]}\n")
            raise


@contextlib.contextmanager
def redis(place: Path, core: int | None = LOAD_CORE) -> Iterator[int]:
    """Runs a Valkey on a port."""
    with reserved_port() as port:
        command = [*valkey.command(place, place / "valkey.sock"), "--port", str(port)]
        with running(command, core=core, log=place / "valkey.log") as process:
            wait_until(lambda: listens(port), process, "Valkey")
            yield port


@contextlib.contextmanager
def quotecast(
    settings: Mapping[str, str] = {},
    workers: int = 1,
    core: int | None = SERVER_CORE,
    *,
    ingest: Sequence[str] = ("quotecast", "ingest"),
) -> Iterator[Server]:
    """This service: its workers on the server's core, ingest and Valkey on the other; or all on any core.

    Another module may publish in place of `ingest`; the settings name it the Redis.
    """
    with folder() as place, redis(place) as redis_port, contextlib.ExitStack() as stack:
        port, feed_port = (stack.enter_context(reserved_port()) for _ in range(2))
        environment = {
            "QUOTECAST_REDIS_URL": f"redis://127.0.0.1:{redis_port}",
            "QUOTECAST_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
            "QUOTECAST_JWT_SECRET": "a secret that benchmarks tell everybody",
            "QUOTECAST_HOST": HOST,
            "QUOTECAST_PORT": str(port),
            "QUOTECAST_FEED_PORT": str(feed_port),
            "QUOTECAST_SIMULATOR_HOURS": "always",
            "QUOTECAST_SOCKETS_PER_ADDRESS": "0",
            **NO_REFUSALS,
            **settings,
        }
        command = [sys.executable, "-m"]
        stack.enter_context(running([*command, *ingest], environment=environment, log=place / "ingest.log"))
        api = [*command, "quotecast", "api"]
        started = [
            stack.enter_context(running(api, core=core, environment=environment, log=place / "api.log"))
            for _ in range(workers)
        ]
        wait_until(lambda: _is_running(port), started[0], "quotecast")
        pids = [pid for process in started for pid in family(process.pid)]
        yield Server(port, pids, feed_port, environment["QUOTECAST_REDIS_URL"])


def _is_running(port: int) -> bool:
    """Returns whether every feed is live."""
    with contextlib.suppress(httpx.HTTPError):
        answer = httpx.get(f"http://127.0.0.1:{port}/api/market/status", timeout=5)
        return bool(answer.json()["status"] == "running")
    return False


def fastapi(feed: Feed) -> Start:
    """FastAPI under uvicorn."""
    return _python_peer("fastapi_app:app", "/docs", feed)


def litestar(feed: Feed) -> Start:
    """Litestar with its channels under uvicorn."""
    return _python_peer("litestar_app:app", "/schema", feed)


def _python_peer(app: str, ready: str, feed: Feed) -> Start:
    @contextlib.contextmanager
    def start() -> Iterator[Server]:
        with folder() as place, redis(place) as redis_port, reserved_port() as port:
            options = ["--host", HOST, "--port", str(port), "--loop", "uvloop", "--http", "httptools"]
            quiet = ["--no-access-log", "--log-level", "warning"]
            command = [str(PEER_PYTHON), "-m", "uvicorn", app, "--app-dir", str(PEERS), *options, *quiet]
            environment = {"REDIS_URL": f"redis://127.0.0.1:{redis_port}"}
            log = place / "peer.log"
            with running(command, core=SERVER_CORE, environment=environment, log=log) as process:
                wait_until(lambda: answers(f"http://127.0.0.1:{port}{ready}"), process, app)
                with publishing(f"redis://127.0.0.1:{redis_port}", "quotes", feed, place):
                    yield Server(port, family(process.pid))

    return start


def node(feed: Feed, *, deflate: bool = False) -> Start:
    """Node with `ws`."""
    return _subscriber("Node", ["node", str(PEERS / "node.mjs")], feed, deflate=deflate)


def uwebsockets(feed: Feed, *, deflate: bool = False) -> Start:
    """uWebSockets, C++ in Node, with its own publish."""
    return _subscriber("uWebSockets", ["node", str(PEERS / "uws.mjs")], feed, deflate=deflate)


def bun(feed: Feed, *, deflate: bool = False, same_limiter: bool = False) -> Start:
    """Bun with its own publish, HTTP server and Redis client; with `same_limiter` it runs our script."""
    command = [str(PEERS / "node_modules" / ".bin" / "bun"), str(PEERS / "bun.ts")]
    script = {"SCRIPT": str(files("quotecast.limits") / "window.lua")} if same_limiter else {}
    return _subscriber("Bun", command, feed, deflate=deflate, settings=script)


def go(feed: Feed, *, deflate: bool = False) -> Start:
    """Go with gorilla/websocket's prepared messages."""
    return _subscriber("Go", [str(compiled_go())], feed, deflate=deflate)


def _subscriber(
    name: str, command: Sequence[str], feed: Feed, *, deflate: bool, settings: Mapping[str, str] = {}
) -> Start:
    """A peer that sends what a Redis channel brings on to all its clients."""

    @contextlib.contextmanager
    def start() -> Iterator[Server]:
        with folder() as place, redis(place) as redis_port, reserved_port() as port:
            url = f"redis://127.0.0.1:{redis_port}"
            own = {"HOST": HOST, "PORT": str(port), "REDIS_URL": url, "DEFLATE": str(int(deflate))}
            environment = {**own, **settings}
            log = place / "peer.log"
            with running(command, core=SERVER_CORE, environment=environment, log=log) as process:
                wait_until(lambda: listens(port), process, name)
                with publishing(url, "quotes", feed, place):
                    yield Server(port, family(process.pid))

    return start


def nchan(feed: Feed, *, deflate: bool = False) -> Start:
    """nginx with nchan."""

    @contextlib.contextmanager
    def start() -> Iterator[Server]:
        with folder() as place, reserved_port() as port:
            compression = "nchan_deflate_message_for_websocket on;" if deflate else ""
            text = (PEERS / "nginx.conf").read_text()
            text = text.format(modules=MODULES, folder=place, host=HOST, port=port, compression=compression)
            configuration = place / "nginx.conf"
            configuration.write_text(text)
            # nginx's worker may run as another user.
            place.chmod(0o755)
            command = ["nginx", "-c", str(configuration), "-g", "daemon off;"]
            with running(command, core=SERVER_CORE, log=place / "nginx.log") as process:
                wait_until(lambda: answers(f"http://127.0.0.1:{port}/ready"), process, "nginx")
                with publishing(f"http://127.0.0.1:{port}", "/publish", feed, place):
                    yield Server(port, family(process.pid))

    return start


def constant(body: bytes) -> Start:
    """granian alone, which sends constant bytes."""

    @contextlib.contextmanager
    def start() -> Iterator[Server]:
        with folder() as place, reserved_port() as port:
            (place / "body").write_bytes(body)
            command = [
                str(PEER_PYTHON.with_name("granian")),
                *("--interface", "asginl", "--loop", "uvloop", "--no-ws", "--no-log"),
                *("--host", "127.0.0.1", "--port", str(port), "--working-dir", str(PEERS), "constant:app"),
            ]
            environment = {"BODY": str(place / "body")}
            log = place / "peer.log"
            with running(command, core=SERVER_CORE, environment=environment, log=log) as process:
                wait_until(lambda: answers(f"http://127.0.0.1:{port}/"), process, "granian")
                yield Server(port, family(process.pid))

    return start


@contextlib.contextmanager
def publishing(url: str, channel: str, feed: Feed, place: Path) -> Iterator[None]:
    """Publishes to the URL inside `with`."""
    numbers = (feed.symbols, feed.messages_per_second, feed.quotes_per_message, feed.delay_seconds)
    command = [sys.executable, str(HERE / "publisher.py"), url, channel, *map(str, numbers)]
    with running(command, log=place / "publisher.log"):
        yield


@cache
def compiled_go() -> Path:
    """Returns the Go peer, built from its source with Debian's packages."""
    program = HERE / "build" / "go-peer"
    program.parent.mkdir(exist_ok=True)
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": "/usr/share/gocode"}
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=PEERS / "go", env=environment, check=True)
    return program


def install_node_packages() -> None:
    """Installs what the peers in Node and Bun need, unless it is there."""
    if not (PEERS / "node_modules" / "bun").exists():
        command = ["npm", "install", "--no-package-lock", "--silent", "--no-fund", "--no-audit"]
        subprocess.run(command, cwd=PEERS, check=True, env=dict(os.environ))
