"""Fixtures for all levels of tests, and a report that compares measurements with promises."""

import asyncio
import functools
import gc
import importlib
import itertools
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import redis
import structlog
from hypothesis import settings

from quotecast.local import valkey
from support.runs.deadlines import scaled, slowness
from support.runs.figures import LINES, SLACK, Figures
from support.servers import databases
from support.servers.processes import Postgres, Valkey, running_postgres, running_valkey

# Images of Python often forbid it to keep bytecode. Without, collecting the tests takes twenty seconds and a
# start of the service two, most of which is compiling.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# CI runs the same Hypothesis examples each time, so a failure comes from the change. Elsewhere examples are
# random. `just long 13` draws many. An example has no deadline: other processes may use the machine.
settings.register_profile("few", max_examples=25, derandomize="CI" in os.environ, deadline=None)
settings.register_profile("many", settings.get_profile("few"), max_examples=200)
settings.load_profile("few")

# Each client of httpx would read all certificate authorities, for 20 ms; tests ask servers of their own.
# The code under test shares the context too.
_transports: Any = importlib.import_module("httpx._transports.default")
_transports.create_ssl_context = functools.cache(_transports.create_ssl_context)

# No answer to a test is late after httpx's five seconds; the code under test names time-outs of its own.
for _each in ("connect", "read", "write", "pool"):
    setattr(importlib.import_module("httpx._config").DEFAULT_TIMEOUT_CONFIG, _each, 60.0)

# With the library rich, which a test tool installs, a traceback takes 200 ms and has all local variables.
structlog.dev.ConsoleRenderer.get_active().exception_formatter = structlog.dev.plain_traceback

pytest_plugins = ["support.runs.budget", "support.runs.longest_first", "support.runs.slices"]

_numbers = itertools.count(1)
#: The folder of a run's files, unless `--basetemp` names another.
_FILES: Final = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--strict-figures`, for machines that do nothing else meanwhile, and `--redis-server`."""
    parser.addoption(
        "--strict-figures", action="store_true", help="fail by what is promised, on a machine left alone"
    )
    parser.addoption("--redis-server", help="program of the Redis or Valkey to test with, not the wheel's")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Makes every test's server the one of `--redis-server`, and signals what they are in a terminal.

    A shell ignores SIGINT for what it runs in the background, and nohup SIGHUP: commands would inherit that.
    The longest time of a test grows with the slowness of the machine, as the deadlines in it do.
    """
    factor = slowness()
    if not hasattr(config, "workerinput"):
        config.option.timeout = factor * float(config.option.timeout or config.getini("timeout"))
        # In pytest's own folder every run that starts takes the rights from the others' PostgreSQL, which has
        # a user of its own.
        if not config.option.basetemp:
            config.stash[_FILES] = config.option.basetemp = tempfile.mkdtemp(prefix="qc-")
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if program := config.getoption("--redis-server"):
        path = Path(program).resolve(strict=True)
        valkey.get_binary_path = lambda: path


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Removes the files of a run that passed."""
    if exitstatus == pytest.ExitCode.OK and (files := session.config.stash.get(_FILES, None)):
        shutil.rmtree(files, ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Loads the tests without garbage collections, and excludes what they loaded from later ones.

    A fifth of the time to load them went to collections.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _own_logs() -> Iterator[None]:
    """Ends what a command that ran in this process set up for logs."""
    yield
    if structlog.is_configured():
        structlog.reset_defaults()


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    """Returns the figures of the test; its lines appear in the summary of the run."""
    lines = request.config.stash.setdefault(LINES, [])
    slack = 1.0 if request.config.getoption("--strict-figures") else SLACK * slowness()
    return Figures(request.node.name.removeprefix("test_").replace("_", " "), lines, slack)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints the measurements."""
    lines = config.stash.get(LINES, [])
    if lines:
        terminalreporter.section("what was measured, and what is promised")
        terminalreporter.write_line("\n".join(lines))


@pytest.fixture(scope="session")
def _shared_valkey() -> Iterator[Valkey]:
    with running_valkey() as server:
        yield server


@pytest.fixture
def redis_url(_shared_valkey: Valkey) -> str:
    """Returns the URL of an empty Redis, shared by tests that do not disturb it."""
    with redis.Redis.from_url(_shared_valkey.url) as client:
        client.flushall()
    return _shared_valkey.url


@pytest.fixture
def patient_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives Redis the time of a busy machine for calls that have half a second otherwise, and for probes."""
    monkeypatch.setattr("quotecast.redis.commands._CALL_SECONDS", scaled(5))
    monkeypatch.setattr("quotecast.redis.breaker.PROBE_SECONDS", scaled(5))


@pytest.fixture
def patient_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives the bus the time of a busy machine: no call may look like an outage."""
    monkeypatch.setattr("quotecast.bus.calls.DEADLINE_SECONDS", scaled(5))


@pytest.fixture
def own_valkey() -> Iterator[Valkey]:
    """Yields a Valkey for one test to kill and to freeze."""
    with running_valkey() as server:
        yield server


@pytest.fixture(scope="session")
def _shared_postgres() -> Iterator[Postgres]:
    with running_postgres() as server:
        yield server


@pytest.fixture
async def database_url(_shared_postgres: Postgres) -> AsyncIterator[str]:
    """Returns the URL of an empty database for one test; tests that do not disturb PostgreSQL share it."""
    async with databases.made(_shared_postgres, f"test_{next(_numbers)}") as url:
        yield url


@pytest.fixture(scope="session")
def _migrated(_shared_postgres: Postgres) -> str:
    """Returns the name of a database to copy: migrating takes a second."""
    asyncio.run(databases.migrate(_shared_postgres, "migrated"))
    return "migrated"


@pytest.fixture(scope="session")
def _accounts_url(_shared_postgres: Postgres, _migrated: str) -> str:
    """Returns the URL of a migrated database for one test after the other."""
    asyncio.run(databases.copy(_shared_postgres, _migrated, "accounts"))
    return _shared_postgres.database_url("accounts")


@pytest.fixture
async def accounts_url(_accounts_url: str) -> str:
    """Returns the URL of a database with all tables, empty."""
    await databases.clear(_accounts_url)
    return _accounts_url


@pytest.fixture
async def own_accounts_url(_shared_postgres: Postgres, _migrated: str) -> AsyncIterator[str]:
    """Returns the URL of a migrated database for one test to alter."""
    async with databases.made(_shared_postgres, f"test_{next(_numbers)}", of=_migrated) as url:
        yield url


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """Yields a PostgreSQL for one test to kill and to freeze."""
    with running_postgres() as server:
        yield server
