"""`quotecast up`: everything on one machine, with nothing but Python.

The processes start in the order of their dependencies and stop in the reverse order, all within ten seconds.
PostgreSQL and Valkey start here unless settings name others. If `up` itself is killed, the ingest and the API
workers notice it (`quotecast.parent`) and end. PostgreSQL and Valkey do not notice it, and run until the next
`up` on the same data folder ends them (`quotecast.local.locks`).
"""

import asyncio
import contextlib
import os
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path

import asyncpg
from msgspec.structs import replace

from quotecast import parent
from quotecast.background import run_beside
from quotecast.database import migration_files
from quotecast.errors import QuotecastError, SettingsError
from quotecast.garbage import return_free_memory
from quotecast.local import children, console, folder, locks, ports, servers, signing
from quotecast.local import live as live_providers
from quotecast.local.child import ProcessSpec
from quotecast.observe import metrics
from quotecast.providers.offer import GROUPS
from quotecast.settings.model import Settings, secret_variables
from quotecast.simulation.market.quoters import NAME
from quotecast.simulation.market.scenarios.catalogue import ScenarioError
from quotecast.simulation.market.scenarios.planning import plan_of, texts_of
from quotecast.simulation.market.scenarios.schedule import Planned


def run(settings: Settings, arguments: Namespace) -> int:
    """Runs everything until a signal arrives. Raises QuotecastError if a process cannot run."""
    planned = plan_scenarios(settings, arguments.scenario, int(time.time() * 1000))
    if arguments.workers:
        planned = replace(planned, workers=arguments.workers)
    asyncio.run(_until_stopped(planned, build_script() if arguments.build else None))
    return 0


def live(settings: Settings, arguments: Namespace) -> int:
    """Runs everything with real upstreams where possible, after a line on each group's provider."""
    live_settings = live_providers.choose_providers(settings, os.environ)
    for line in live_providers.describe_groups(live_settings):
        console.say(line)
    return run(live_settings, arguments)


async def _until_stopped(settings: Settings, script: Path | None) -> None:
    serving = asyncio.create_task(_serve(settings, script))
    loop = asyncio.get_running_loop()

    def stop() -> None:
        # A second signal must not interrupt the orderly stop, which ends soon anyway.
        if not serving.cancelling():
            console.say("Stopping.")
            serving.cancel()

    for number in parent.stop_signals():
        loop.add_signal_handler(number, stop)
    with contextlib.suppress(asyncio.CancelledError):
        await serving
    console.say("Stopped.")


async def _serve(settings: Settings, script: Path | None) -> None:
    with folder.hold_folder(settings.data_dir) as data:
        # The workers of a killed `up` may still drain their connections, and hold the port until then.
        lock = await locks.claim(data / "workers.lock")
        ports.check_free(settings.host, settings.port)
        if settings.feed_port:
            ports.check_free(settings.host, settings.feed_port, setting="QUOTECAST_FEED_PORT")
        with folder.socket_folder(data) as sockets:
            async with (
                run_beside(_build(script)),
                servers.database(settings.database_url, data, sockets) as database_url,
                servers.cache(settings.redis_url, data, sockets) as redis_url,
            ):
                vapid_key = settings.vapid_private_key or signing.load_vapid_key(data)
                environment = {
                    **secret_variables(
                        database_url=database_url, redis_url=redis_url, vapid_private_key=vapid_key
                    ),
                    **live_providers.environment_of(settings),
                    "QUOTECAST_SIMULATOR_SCENARIO": settings.own[NAME].scenario,
                }
                secret = settings.jwt_secret or signing.load_secret(data)
                spec_of = partial(_command_spec, environment=environment, lock=lock)
                applied = False
                # The command says why a database does not answer.
                with contextlib.suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                    applied = await migration_files.are_applied(database_url)
                seconds = 0.0 if applied else await children.run_to_end(spec_of("migrate", "migrate"))
                console.say(f"{'migrate':<9} the tables are up to date, {seconds:.1f} s")
                await _run_commands(settings, spec_of, secret)


async def _run_commands(settings: Settings, spec_of: Callable[..., ProcessSpec], secret: str) -> None:
    ingest = spec_of("ingest", "ingest", stop_seconds=1.5, more=_metrics(settings, 0))
    signing_key = secret_variables(jwt_secret=secret)
    apis = [
        spec_of(f"api {number}", "api", stop_seconds=5.5, more=signing_key | _metrics(settings, number))
        for number in range(1, settings.workers + 1)
    ]
    # Both load their code at the same time; a worker then waits for the first data.
    ingesting = children.keep_running(ingest, waits=False)
    async with ingesting as ingest_serves, children.keep_running(*apis):
        await ingest_serves()
        return_free_memory()
        host = ports.url_host(settings.host)
        console.say("")
        console.say(f"Terminal        http://{host}:{settings.port}/")
        console.say(f"API reference   http://{host}:{settings.port}/api/docs")
        console.say(f"Stock quotes    http://{host}:{settings.port}/api/market/quotes?symbols=AAPL,MSFT")
        console.say(f"Live feed       ws://{host}:{settings.port}/api/ws/market?symbols=AAPL,MSFT")
        console.say_all(describe_scenarios(settings))
        console.say("Ctrl-C stops everything.")
        await asyncio.Event().wait()


def _metrics(settings: Settings, number: int) -> dict[str, str]:
    """Returns a process's metrics port: counted up from the setting, or any free port without one."""
    is_set = "QUOTECAST_METRICS_PORT" in os.environ
    port = settings.metrics_port + number if settings.metrics_port > 0 else settings.metrics_port
    return {"QUOTECAST_METRICS_PORT": str(port if is_set else metrics.ANY_PORT)}


def _command_spec(
    name: str,
    command: str,
    *,
    environment: Mapping[str, str],
    lock: int,
    stop_seconds: float = 2.0,
    more: Mapping[str, str] = {},
) -> ProcessSpec:
    """Returns the specification of a process that runs a command of quotecast."""
    return ProcessSpec(
        name=name,
        command=[sys.executable, "-m", "quotecast", command],
        environment={**environment, **more},
        lock=lock,
        stop_seconds=stop_seconds,
    )


def build_script() -> Path | None:
    """Returns the script that builds the page if its sources changed; None in an installed wheel."""
    script = Path(str(files("quotecast"))) / "web" / "build"
    return script if script.is_file() else None


async def _build(script: Path | None) -> None:
    """Runs the script, if there is one. Its failure is a line, and ends nothing."""
    if script is None:
        return
    try:
        seconds = await children.run_to_end(ProcessSpec(name="page", command=[str(script)]))
    except QuotecastError as error:
        console.pass_on("page", f"is not built, all else is served: {error}")
    else:
        console.say(f"{'page':<9} is built, {seconds:.1f} s")


def plan_scenarios(settings: Settings, texts: Sequence[str], now: int) -> Settings:
    """Returns the settings with the scenarios of the setting and of the command line, each with its time.

    `now` is in Unix milliseconds. Raises SettingsError for a wrong text, and if nothing is simulated.
    """
    if texts and not any(NAME in settings.providers_of(group) for group in GROUPS):
        raise SettingsError("--scenario: no group has simulated data here")
    own = settings.own[NAME]
    plan: list[Planned] = own.plan(now)
    try:
        plan += plan_of(texts, now)
    except ScenarioError as error:
        raise SettingsError(f"--scenario: {error}") from error
    return replace(settings, own={**settings.own, NAME: replace(own, scenario=";".join(texts_of(plan)))})


def describe_scenarios(settings: Settings) -> list[str]:
    """Returns a line for each scenario."""
    return [f"Scenario        {text}" for text in texts_of(settings.own[NAME].plan(None))]
