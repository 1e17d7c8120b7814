"""All settings, from environment variables named `QUOTECAST_*`.

Each field is the only definition of a setting's name, type, bounds, default and meaning;
`just docs-settings` writes docs/configuration.md from them. Only commands and composition roots
read settings.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import FieldInfo, fields

from quotecast.environment import DEMAND, FILE_SUFFIX, PREFIX
from quotecast.settings.providers import (
    OWN,
    ProviderSettings,
    Variable,
    own_variables,
)

MIN_SECRET_BYTES: Final = 32
#: Settings that a file may hold, which `QUOTECAST_<FIELD>_FILE` names; so are the keys of providers.
SECRETS: Final = ("database_url", "redis_url", "jwt_secret", "jwt_previous_secret")

Port = Annotated[int, Meta(ge=1, le=65535)]
PerMinute = Annotated[int, Meta(ge=1, le=1_000_000)]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Settings(ProviderSettings, frozen=True, kw_only=True):
    """One process's settings; each field is the variable `QUOTECAST_<FIELD>`."""

    mode: Annotated[
        Literal["development", "production"],
        Meta(description="`production` refuses unsafe values and logs JSON"),
    ] = "development"
    host: Annotated[str, Meta(min_length=1, description="Address the API listens on")] = "127.0.0.1"
    port: Annotated[Port, Meta(description="Port the API listens on")] = 8000
    feed_port: Annotated[
        int,
        Meta(
            ge=0,
            le=65535,
            description="Port of feeds alone, for load balancers that split by path; 0: one port for all",
        ),
    ] = 0
    workers: Annotated[
        int, Meta(ge=1, le=256, description="API workers that `up` starts; one per core by default")
    ] = msgspec.field(default_factory=_cores)
    data_dir: Annotated[
        Path, Meta(description="Where the embedded PostgreSQL keeps its data, and `up` its secret")
    ] = Path("data")
    database_url: Annotated[
        str,
        Meta(
            pattern=r"^(|postgres(ql)?://[^\s]+)$",
            description="PostgreSQL to use; empty: an embedded one",
            extra={DEMAND: "begin with postgresql:// and hold no spaces"},
        ),
    ] = ""
    redis_url: Annotated[
        str,
        Meta(
            pattern=r"^(|(rediss?|rediss?\+cluster|unix)://[^\s]+|rediss?\+sentinel://[^\s/]+/[^\s/?]\S*)$",
            description="Redis or Valkey to use, `redis+cluster://` for a cluster, "
            "`redis+sentinel://host:26379,host:26379/service` for Sentinels; empty: an embedded one",
            extra={
                DEMAND: "begin with redis://, redis+cluster://, redis+sentinel:// (rediss for TLS) or unix://"
                " and hold no spaces; Sentinels name a service: redis+sentinel://host:26379/service"
            },
        ),
    ] = ""
    redis_prefix: Annotated[
        str,
        Meta(
            pattern=r"^[a-z0-9_-]{1,32}$",
            description="Start of every key and channel, so that installations can share a Redis",
            extra={DEMAND: "be 1 to 32 of a-z, 0-9, - and _"},
        ),
    ] = "quotecast"
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="Least level that is logged")
    ] = "info"

    access_log: Annotated[
        Literal["off"] | Annotated[float, Meta(ge=0, le=1)],
        Meta(description="Share of the requests that are logged: a number from 0 to 1, or `off`"),
    ] = "off"
    metrics_host: Annotated[
        str, Meta(min_length=1, description="Address that this process's metrics are served on")
    ] = "127.0.0.1"
    metrics_port: Annotated[
        int,
        Meta(
            ge=-1,
            le=65535,
            description="Port of this process's metrics, of which `up` gives each process the next; "
            "0: none; -1: any that is free, as `up` does by itself",
        ),
    ] = 0

    database_connections: Annotated[
        int, Meta(ge=1, le=100, description="PostgreSQL connections that one worker makes at most")
    ] = 8
    database_statement_cache: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000,
            description="Prepared statements that each connection keeps; 0: none, as poolers before "
            "PgBouncer 1.21 need",
        ),
    ] = 100

    jwt_secret: Annotated[
        str, Meta(description="Signs the tokens of users: at least 32 random bytes; `up` makes one")
    ] = ""
    jwt_previous_secret: Annotated[
        str, Meta(description="The secret before, whose tokens are still good")
    ] = ""
    token_days: Annotated[int, Meta(ge=1, le=365, description="Days for which a token is good")] = 7

    trusted_proxies: Annotated[
        tuple[str, ...],
        Meta(description="Addresses or networks whose X-Forwarded-For is believed; nobody by default"),
    ] = ()
    cors_origins: Annotated[
        tuple[str, ...],
        Meta(description="Origins that browsers may read public routes from; `*` is any"),
    ] = ("*",)
    account_origins: Annotated[
        tuple[str, ...],
        Meta(description="Origins that browsers may use account routes from; in development local ones too"),
    ] = ()
    websocket_origins: Annotated[
        tuple[str, ...],
        Meta(description="Origins that browsers may open feeds from; `*` is any"),
    ] = ("*",)

    limits: Annotated[
        Literal["on", "off"], Meta(description="Rate limits; switch off for load tests only")
    ] = "on"
    limit_auth: Annotated[PerMinute, Meta(description="Requests per minute and path: accounts")] = 10
    limit_market: Annotated[PerMinute, Meta(description="Requests per minute and path: market")] = 120
    limit_crypto: Annotated[PerMinute, Meta(description="Requests per minute and path: crypto")] = 120
    limit_doviz: Annotated[PerMinute, Meta(description="Requests per minute and path: doviz")] = 120
    limit_financials: Annotated[PerMinute, Meta(description="Requests per minute and path: financials")] = 30
    limit_portfolio: Annotated[PerMinute, Meta(description="Requests per minute and path: portfolio")] = 60
    limit_watchlist: Annotated[PerMinute, Meta(description="Requests per minute and path: watchlist")] = 60
    limit_terminal: Annotated[PerMinute, Meta(description="Requests per minute and path: terminal")] = 60

    sockets_per_worker: Annotated[
        int,
        Meta(
            ge=0,
            description="WebSockets one worker accepts; 0: as many as its memory and open files allow",
        ),
    ] = 0
    sockets_per_address: Annotated[
        int, Meta(ge=0, description="WebSockets one client address may hold per worker; 0 is no cap")
    ] = 1000
    heartbeat_ms: Annotated[
        int, Meta(ge=100, le=60_000, description="Milliseconds between heartbeats on a feed")
    ] = 15_000

    movers_min_price: Annotated[
        float, Meta(ge=0, description="US dollars below which a stock is no mover")
    ] = 1.0
    movers_min_volume: Annotated[
        int, Meta(ge=0, description="Shares of the day below which a stock is no mover")
    ] = 1000


def all_variables() -> list[Variable]:
    """Returns the variables there are: the service's own, then those of providers."""
    inherited = {field.name for field in fields(ProviderSettings)}
    every = sorted(fields(Settings), key=lambda field: field.name in inherited)
    return [*(variable_of(field) for field in every if field.name != OWN), *own_variables()]


def variable_names() -> list[str]:
    """Returns the names of the variables there are, those of files that hold secrets among them."""
    variables = all_variables()
    return [each.name for each in variables] + [each.name + FILE_SUFFIX for each in variables if each.secret]


def secret_variables(secrets: Mapping[str, str]) -> dict[str, str]:
    """The environment that gives a process these secrets, by field, wherever its parent had them from."""
    variables = {PREFIX + name.upper(): value for name, value in secrets.items()}
    return variables | {variable + FILE_SUFFIX: "" for variable in variables}


def variable_of(field: FieldInfo) -> Variable:
    """Returns the variable that sets a field of `Settings`."""
    return Variable(PREFIX + field.name.upper(), field, secret=field.name in SECRETS)
