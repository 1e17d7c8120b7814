"""`quotecast doctor`: checks whether `up` would work here, and shows the settings."""

import asyncio
import contextlib
import os
import platform
import re
import subprocess
from argparse import Namespace
from collections.abc import Awaitable, Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Final, Literal

from quotecast.access.plans import ANONYMOUS, UNLIMITED, Plan, PlanFileError, read_plans
from quotecast.alerts.push import Vapid
from quotecast.bus.remote import RemoteBus
from quotecast.database.database import Database, Run
from quotecast.database.errors import PREPARED, error_kind
from quotecast.database.tables import User
from quotecast.errors import DatabaseAway, QuotecastError, SettingsError
from quotecast.ingest import sources
from quotecast.local import console, folder, live, ports, postgres, probes, valkey
from quotecast.market.feeds import Feed
from quotecast.observe.logs import configure_logs
from quotecast.providers.offer import FINANCIALS, GROUPS, Terms
from quotecast.providers.offers import terms_of
from quotecast.settings import mcp
from quotecast.settings.loading import load
from quotecast.settings.model import Settings, variable_names
from quotecast.settings.plans import plans_of

#: The pooler may choose other sessions in each round.
ROUNDS: Final = 3
_BOUND: Final = "current_setting('statement_timeout')"
_ADVICE: Final = {
    PREPARED: "the pooler changes sessions between transactions: set QUOTECAST_DATABASE_STATEMENT_CACHE=0,"
    " or max_prepared_statements in PgBouncer 1.21 or later",
    "timeout": "no second connection came in time: raise PgBouncer's default_pool_size, or max_connections",
    "overload": "no connection is left: raise PgBouncer's max_client_conn, or PostgreSQL's max_connections",
}
Status = Literal["about", "set", "ok", "note", "fails"]
#: Tells a result: its status, its name and its text.
Tell = Callable[[Status, str, str], None]

_SECRET: Final = re.compile(r"(SECRET|PASSWORD|TOKEN|KEY)$")
#: A password in a URL, before the host or in the query.
_PASSWORD: Final = re.compile(r"(://[^:@/]*:).*(?=@)|(?<=password=)[^&]*")


def run(settings: Settings, arguments: Namespace) -> int:
    """Prints the result of each check; returns 0 if `up` would work, else 1."""
    return examine(settings, as_json=arguments.json)


def _tell(status: Status, name: str, text: str) -> None:
    if status == "about":
        console.say(text)
    elif status == "set":
        console.say(f"        {text}")
    else:
        console.say(f"{'FAILS' if status == 'fails' else status:<8}{f'{name}: ' if name else ''}{text}")


def _tell_as_json(status: Status, name: str, text: str) -> None:
    (line,) = console.json_lines([{"status": status, "name": name, "text": text}])
    console.say(line)


def examine(settings: Settings, *, as_json: bool = False) -> int:
    """Does what `run` does; with `as_json` it prints a JSON object for each result."""
    tell = _tell_as_json if as_json else _tell
    # The result names the failure; the log would repeat it.
    configure_logs(level="error", as_json=False)
    about = f"quotecast {version('quotecast')}, Python {platform.python_version()}, {settings.mode}"
    tell("about", "", about)
    present = [name for name in variable_names() if name in os.environ]
    shown = [f"{name}={mask_secrets(name, os.environ[name])}" for name in present]
    shown = shown or ["No setting is set: every one has its default."]
    for line in [*shown, *live.describe_groups(settings)]:
        tell("set", "", line)
    others = untested_packages()
    tell("note" if others else "ok", "packages", others or "all as tested")
    checks = [
        _check(tell, "data folder", lambda: _data(settings)),
        _check(tell, "port", lambda: _port(settings)),
        _check(tell, "postgres", lambda: _postgres(settings)),
        _check(tell, "redis", lambda: _redis(settings)),
        _check(tell, "web push", lambda: _push(settings)),
        _check(tell, "mcp", lambda: _mcp(settings)),
        _check(tell, "plans", lambda: _plans(settings)),
    ]
    if settings.origin:
        checks.append(_check(tell, "origin", lambda: _origin(settings)))
    for line in breaches(settings):
        tell("note", "terms", line)
    try:
        load({**os.environ, "QUOTECAST_MODE": "production"})
    except SettingsError as problems:
        for line in str(problems).splitlines():
            tell("note", "", f"production would refuse {line}")
    return 0 if all(checks) else 1


def mask_secrets(name: str, value: str) -> str:
    """Returns a setting's value with its secrets replaced by asterisks."""
    return "***" if _SECRET.search(name) else _PASSWORD.sub(r"\1***", value)


def untested_packages() -> str:
    """Returns the installed packages whose version is not the tested one; "" without any."""
    tested: dict[str, list[str]] = {}
    for line in files("quotecast").joinpath("constraints.txt").read_text("utf-8").splitlines():
        name, _, pinned = line.partition(" ")[0].partition("==")
        tested.setdefault(name, []).append(pinned)
    others = []
    for name, versions in tested.items():
        with contextlib.suppress(PackageNotFoundError):
            if (installed := version(name)) not in versions:
                others.append(f"{name} {installed} (tested with {' or '.join(versions)})")
    return ", ".join(others)


def _check(tell: Tell, name: str, finding: Callable[[], str]) -> bool:
    try:
        tell("ok", name, finding())
    except QuotecastError as error:
        tell("fails", name, str(error))
        return False
    return True


def _data(settings: Settings) -> str:
    with folder.hold_folder(settings.data_dir) as path:
        return f"{path} can be written"


def _port(settings: Settings) -> str:
    ports.check_free(settings.host, settings.port)
    return f"{settings.port} on {settings.host} is free, for {settings.workers} API workers"


def _postgres(settings: Settings) -> str:
    if settings.database_url:
        answer = _probe_server(settings.database_url, probes.postgres)
        asyncio.run(transactions(settings.database_url, settings.database_statement_cache))
        return f"{answer} and runs transactions"
    return f"embedded, PostgreSQL {_version(postgres.version_command())}"


def _redis(settings: Settings) -> str:
    if settings.redis_url:
        return _probe_server(settings.redis_url, probes.cache)
    return f"embedded, Valkey {_version(valkey.version_command())}"


def _probe_server(url: str, probe: Callable[[str], Awaitable[str]]) -> str:
    async def ask() -> str:
        return await probe(url)

    return f"{asyncio.run(ask())} answers at {probes.place(url)}"


def _origin(settings: Settings) -> str:
    """Loads the feeds that this installation follows, or all, as an edge does. Raises BusError."""
    feeds = sources.followed_feeds(settings) or list(Feed)

    async def ask() -> list[str]:
        origin = RemoteBus(settings.origin, settings.origin_secret)
        found = []
        async with origin.listen(feeds):
            for feed in feeds:
                if (state := await origin.load(feed)) is None:
                    found.append(f"no {feed}")
                else:
                    found.append(f"{feed} of {state.info.provider} with {len(state.entries)} symbols")
        return found

    return f"{settings.origin} answers: {', '.join(asyncio.run(ask()))}"


def _push(settings: Settings) -> str:
    if not settings.vapid_private_key:
        return "`up` makes a key; other commands need QUOTECAST_VAPID_PRIVATE_KEY"
    return f"browsers get the public key {Vapid(settings.vapid_private_key, '').public_key}"


def _mcp(settings: Settings) -> str:
    if mcp.serves_mcp(settings, settings.mode):
        return f"workers serve tools for language models on http://{settings.host}:{settings.port}/mcp"
    return "off" if mcp.has_sdk() else f"off; it needs an extra: {mcp.REMEDY}"


def _plans(settings: Settings) -> str:
    if not settings.plans:
        return "no file; the limits of the settings bound everybody"
    names = ", ".join(read_plans(Path(settings.plans)))
    return f"{settings.plans} has {names or 'no plan'}"


def breaches(settings: Settings) -> Iterator[str]:
    """Yields a sentence for each plan and provider whose terms forbid what the plan shows.

    A service in development without a file of plans is for its operator alone.
    """
    if settings.mode == "development" and not settings.plans:
        return
    with contextlib.suppress(PlanFileError):
        plans = {ANONYMOUS: UNLIMITED, **plans_of(settings)}
        for group, (name, plan) in product(GROUPS, plans.items()):
            for provider in settings.providers_of(group):
                terms = terms_of(provider)
                if terms and terms.show in {"no", "agreement"} and _shows(plan, group, terms, settings):
                    yield (
                        f"plan {name} shows others {group} of {provider}, whose terms say: {terms.summary} "
                        f"({terms.source})"
                    )


def _shows(plan: Plan, group: str, terms: Terms, settings: Settings) -> bool:
    """Returns whether a plan shows a group of data earlier than the terms let everybody see it."""
    if group == FINANCIALS:
        # Companies come with the feed of stocks.
        return FINANCIALS in plan.doors and plan.has_feed(Feed.STOCKS)
    late = terms.delay_minutes is not None and settings.delay_seconds >= 60 * terms.delay_minutes
    return plan.has_feed(Feed(group)) and not (plan.is_delayed and late)


def _version(command: list[str]) -> str:
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - from a wheel
    except (OSError, subprocess.CalledProcessError) as error:
        raise QuotecastError(f"the embedded server does not run here: {error}") from error
    match = re.search(r"\d+(\.\d+)+", done.stdout)
    return match[0] if match else done.stdout.strip()


async def transactions(url: str, statement_cache: int) -> None:
    """Runs transactions as API workers do. Raises NoAnswer with advice on settings."""
    # Two connections, so that a pooler has to switch sessions between them.
    async with (
        Database(url, pool_size=1, statement_cache=statement_cache) as one,
        Database(url, pool_size=1, statement_cache=statement_cache) as other,
    ):

        async def overlap(run: Run) -> None:
            await _check_bound(run)
            await one.transaction(_check_bound)

        try:
            for _ in range(ROUNDS):
                await one.transaction(_check_bound)
                await other.transaction(overlap)
        except DatabaseAway as error:
            # The driver appends a paragraph on poolers to some errors.
            reason = (str(error.__cause__) or type(error.__cause__).__name__).splitlines()[0]
            advice = _ADVICE.get(error_kind(error.__cause__) or "")
            explanation = f"{reason}; {advice}" if advice else probes.with_advice(reason)
            raise probes.NoAnswer(f"{probes.place(url)} fails a transaction: {explanation}") from error


async def _check_bound(run: Run) -> None:
    """Runs a prepared statement that reads `statement_timeout`, and checks its value."""
    [row] = await run(User.raw(f"SELECT {_BOUND} AS bound"))
    if row["bound"] != "2s":
        raise probes.NoAnswer(f"PostgreSQL ignores statement_timeout in a transaction: {row['bound']}")
