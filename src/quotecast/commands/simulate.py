"""`quotecast simulate`: a vendor's market on a local port."""

import asyncio
import contextlib
import math
import os
import secrets
from argparse import Namespace
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

import uvloop

from quotecast import parent
from quotecast.errors import SettingsError
from quotecast.local import console
from quotecast.observe.logs import configure_logs
from quotecast.settings.model import Settings
from quotecast.simulation.market.scenarios.catalogue import ScenarioError, describe, listing
from quotecast.simulation.market.scenarios.planning import plan_of, start_of
from quotecast.simulation.market.scenarios.schedule import Schedule
from quotecast.simulation.vendors import control, progress
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.market import Market
from quotecast.simulation.vendors.server import VendorServer

#: The server of each vendor, by name: a command loads one of them.
VENDORS: Final[Mapping[str, str]] = {
    "alpaca": "quotecast.simulation.vendors.alpaca.server:AlpacaServer",
    "binance": "quotecast.simulation.vendors.binance.server:BinanceServer",
    "coinbase": "quotecast.simulation.vendors.coinbase.server:CoinbaseServer",
    "kraken": "quotecast.simulation.vendors.kraken.server:KrakenServer",
    "finnhub": "quotecast.simulation.vendors.finnhub.server:FinnhubServer",
}
_BOUNDS: Final = {
    "port": (0, 65_535),
    "control_port": (0, 65_535),
    "seed": (-(2**63), 2**63 - 1),
    "speed": (0.01, 3600),
    "rate": (0.1, 1_000_000),
}
#: Vendors with a free plan that has rules of its own.
_FREE_PLANS: Final = ("alpaca", "finnhub")
_MAX_TOKEN_BYTES: Final = 1024


def run(settings: Settings, arguments: Namespace) -> int:
    """Serves until a stop signal. Raises SettingsError for wrong arguments or a port that is taken."""
    if arguments.list_scenarios:
        console.say_all(console.json_lines(listing()) if arguments.json else describe())
        return 0
    if arguments.json:
        raise SettingsError("--json: works with --list-scenarios only")
    server = _server(arguments)
    token = _token(arguments.control_token_file)
    configure_logs(level=settings.log_level, as_json=settings.mode == "production")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(server, arguments, token))
    return 0


def server_of(vendor: str) -> type[VendorServer]:
    """Returns the server of a vendor."""
    module, name = VENDORS[vendor].split(":")
    server: type[VendorServer] = getattr(import_module(module), name)
    return server


def _server(arguments: Namespace) -> VendorServer:
    """Returns the server that the arguments describe. Raises SettingsError."""
    _check(arguments)
    try:
        start = None if arguments.start is None else start_of(arguments.start, None)
    except ScenarioError:
        reason = "is not a time such as 2026-11-20T14:25:00Z, from 1990 to 2099"
        raise SettingsError(f"--start: {arguments.start[:40]!r} {reason}") from None
    clock = MarketClock(speed=arguments.speed, start=start)
    try:
        schedule = Schedule(plan_of(arguments.scenario, clock.start))
    except ScenarioError as error:
        raise SettingsError(f"--scenario: {error}") from None
    market = Market(arguments.seed, schedule, always_open=arguments.hours == "always")
    return server_of(arguments.vendor)(
        market,
        clock,
        rate=arguments.rate,
        port=arguments.port,
        host=arguments.host,
        key=arguments.key,
        secret=arguments.secret,
        **({"free": True} if arguments.free_plan else {}),
    )


def _check(arguments: Namespace) -> None:
    """Raises SettingsError for arguments out of bounds."""
    if arguments.vendor is None:
        raise SettingsError(f"simulate: name a vendor: {', '.join(VENDORS)}")
    for name, (least, most) in _BOUNDS.items():
        value = getattr(arguments, name)
        if value is not None and not (math.isfinite(value) and least <= value <= most):
            raise SettingsError(f"--{name.replace('_', '-')}: must be from {least} to {most}")
    for name in ("host", "control_host"):
        if not getattr(arguments, name):
            raise SettingsError(f"--{name.replace('_', '-')}: needs an address, such as 127.0.0.1")
    if arguments.secret and not arguments.key:
        raise SettingsError("--secret: needs --key too")
    if arguments.free_plan and arguments.vendor not in _FREE_PLANS:
        raise SettingsError(f"--free-plan: only {' and '.join(_FREE_PLANS)} have one")


def _token(file: str | None) -> str:
    """Returns the token of the control route: the text of a file, or a new one."""
    if file is None:
        return secrets.token_urlsafe(24)
    try:
        with Path(file).open(encoding="ascii") as opened:
            token = opened.read(_MAX_TOKEN_BYTES).strip()
    except OSError as error:
        raise SettingsError(f"--control-token-file: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError("--control-token-file: the token must be ASCII") from None
    if not token.isprintable() or " " in token or not token:
        raise SettingsError("--control-token-file: needs one token on one line")
    return token


async def _serve(server: VendorServer, arguments: Namespace, token: str) -> None:
    async with contextlib.AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(server)
        except OSError as error:
            # The event loop's own text names the address once more.
            reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
            raise SettingsError(f"--port: cannot listen at {server.url}: {reason}") from error
        planned = ", ".join(progress.describe(each) for each in server.market.schedule.planned) or "none"
        line = (
            f"simulate {arguments.vendor}: REST at {server.url}, streams at {server.websocket_url}, "
            f"simulated prices of seed {server.market.seed}; scenarios: {planned}"
        )
        if arguments.control_port is not None:
            url = await stack.enter_async_context(
                control.serving(server, token, arguments.control_host, arguments.control_port)
            )
            shown = "of --control-token-file" if arguments.control_token_file else token
            line += f"; control at {url} with token {shown}"
        console.say(line)
        work = (server.run(), progress.log_progress(server.market.schedule, server.clock))
        await parent.run_until_stopped([asyncio.create_task(each) for each in work])
