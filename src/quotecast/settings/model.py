"""All settings, from environment variables named `QUOTECAST_*`.

Each field is the only definition of a setting's name, type, bounds, default and meaning;
`just docs-tables` writes docs/configuration.md from them. Only commands and composition roots
read settings.
"""

import os
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import FieldInfo, fields

from quotecast.environment import DEMAND, FILE_SUFFIX, PREFIX
from quotecast.providers.quotecast.offer import Origin, OriginSecret
from quotecast.settings.mcp import McpSettings
from quotecast.settings.providers import OWN, PerMinute, Variable, own_variables

MIN_SECRET_BYTES: Final = 32
#: Settings that `QUOTECAST_<FIELD>_FILE` may read from a file; providers' keys are such settings too.
SECRETS: Final = (
    "database_url",
    "redis_url",
    "jwt_secret",
    "jwt_previous_secret",
    "vapid_private_key",
    "relay_secret",
    "origin_secret",
    "edge_key",
)

Port = Annotated[int, Meta(ge=1, le=65535)]
Days = Annotated[int, Meta(ge=1, le=36_500)]


#: API workers that one `up` starts at most.
MOST_WORKERS: Final = 256


def _usual_workers() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // 4)


class Settings(McpSettings, frozen=True, kw_only=True):
    """One process's settings; the variable `QUOTECAST_<FIELD>` sets each field."""

    mode: Annotated[
        Literal["development", "production"],
        Meta(description="`production` refuses unsafe settings and logs JSON"),
    ] = "development"
    host: Annotated[str, Meta(min_length=1, description="Address the API listens on")] = "127.0.0.1"
    port: Annotated[Port, Meta(description="Port the API listens on")] = 8000
    feed_port: Annotated[
        int,
        Meta(
            ge=0,
            le=65535,
            description="Port for feeds only, for load balancers that route by path; 0: feeds share `PORT`",
        ),
    ] = 0
    workers: Annotated[
        int,
        Meta(
            ge=1,
            le=MOST_WORKERS,
            description="Number of API workers that `up` starts; by default one, or one for every four cores",
        ),
    ] = msgspec.field(default_factory=_usual_workers)
    data_dir: Annotated[
        Path, Meta(description="Folder of the embedded PostgreSQL's data and of the secret that `up` creates")
    ] = Path("data")
    database_url: Annotated[
        str,
        Meta(
            pattern=r"^(|postgres(ql)?://[^\s]+)$",
            description="URL of the PostgreSQL; empty: an embedded one",
            extra={DEMAND: "begin with postgresql:// and hold no spaces"},
        ),
    ] = ""
    redis_url: Annotated[
        str,
        Meta(
            pattern=r"^(|(rediss?|rediss?\+cluster|unix)://[^\s]+|rediss?\+sentinel://[^\s/]+/[^\s/?]\S*)$",
            description="URL of the Redis or Valkey, `redis+cluster://` for a cluster, "
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
            description="Prefix of every key and channel, so that several installations can share a Redis",
            extra={DEMAND: "be 1 to 32 of a-z, 0-9, - and _"},
        ),
    ] = "quotecast"
    bus_spacing_ms: Annotated[
        int,
        Meta(
            ge=0,
            le=100,
            description="Maximum milliseconds that ingest collects changes for a batch on the bus while they "
            "keep coming; 0: every change goes out at once",
        ),
    ] = 20
    history: Annotated[
        str,
        Meta(
            pattern=r"^(off|[1-9][0-9]{0,3}[dh])$",
            description="Days or hours for which published batches are stored for replay, such as `7d` or "
            "`12h`, or `off`",
            extra={DEMAND: "be a number of days or hours such as 7d or 12h, or off"},
        ),
    ] = "off"
    history_store: Annotated[
        str,
        Meta(
            pattern=r"^(?!s3:)|^s3://[a-z0-9.-]+(/[A-Za-z0-9_./-]*)?$",
            description="Folder of the recorded segments, or `s3://bucket/prefix`; empty: `history` in the "
            "data folder",
            extra={DEMAND: "be a folder or s3://bucket/prefix"},
        ),
    ] = ""
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="Lowest level of logged events")
    ] = "info"
    access_log: Annotated[
        Literal["off"] | Annotated[float, Meta(ge=0, le=1)],
        Meta(description="Fraction of requests in the access log, from 0 to 1, or `off`"),
    ] = "off"
    metrics_host: Annotated[
        str, Meta(min_length=1, description="Address that this process serves metrics on")
    ] = "127.0.0.1"
    metrics_port: Annotated[
        int,
        Meta(
            ge=-1,
            le=65535,
            description="Port of this process's metrics; under `up` the first of consecutive ports, one per "
            "process; 0: no metrics; -1: any free port, the default under `up`",
        ),
    ] = 0

    database_connections: Annotated[
        int, Meta(ge=1, le=100, description="Maximum number of PostgreSQL connections per worker")
    ] = 8
    database_statement_cache: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000,
            description="Prepared statements cached per connection; 0: none, which poolers before "
            "PgBouncer 1.21 need",
        ),
    ] = 100

    bars_1m_days: Annotated[Days, Meta(description="Days that one-minute bars stay in PostgreSQL")] = 30
    bars_5m_days: Annotated[Days, Meta(description="Days that five-minute bars stay in PostgreSQL")] = 180
    bars_15m_days: Annotated[Days, Meta(description="Days that 15-minute bars stay in PostgreSQL")] = 365
    bars_1h_days: Annotated[Days, Meta(description="Days that hourly bars stay in PostgreSQL")] = 3650
    bars_d_days: Annotated[Days, Meta(description="Days that daily bars stay in PostgreSQL")] = 36_500

    jwt_secret: Annotated[
        str, Meta(description="Secret that signs users' tokens, at least 32 random bytes; `up` creates one")
    ] = ""
    jwt_previous_secret: Annotated[
        str, Meta(description="Previous secret, whose tokens stay valid after a change of `JWT_SECRET`")
    ] = ""
    token_days: Annotated[int, Meta(ge=1, le=365, description="Days until a token expires")] = 7

    alerts_per_user: Annotated[int, Meta(ge=0, le=10_000, description="Alerts that a user may have")] = 100
    alert_events_days: Annotated[
        Days, Meta(description="Days that events of alerts stay in PostgreSQL, with their deliveries")
    ] = 90
    webhook_networks: Annotated[
        tuple[str, ...],
        Meta(
            description="Private networks, such as `10.1.0.0/16`, whose addresses webhooks may have beside "
            "public ones; in development they may have this machine's loopback too"
        ),
    ] = ()
    vapid_private_key: Annotated[
        str,
        Meta(
            description="Key that identifies this service to browsers' push services, as `quotecast vapid` "
            "prints; `up` creates one; empty: no Web Push"
        ),
    ] = ""
    vapid_contact: Annotated[
        str,
        Meta(
            pattern=r"^(mailto:[^\s@]+@[^\s@]+|https://[^\s]+)$",
            description="Address of the operator for push services; Apple's refuses one of localhost",
            extra={DEMAND: "begin with mailto: or https://"},
        ),
    ] = "mailto:operator@localhost"

    admin: Annotated[
        Literal["on", "off"], Meta(description="The operator's page at `/admin`, and its API; off: not there")
    ] = "off"

    relay_secret: Annotated[
        str,
        Meta(
            description="Secret for installations and edges that follow this one's feeds, at least 32 random "
            "bytes; empty: none may"
        ),
    ] = ""
    origin: Origin = ""
    origin_secret: OriginSecret = ""

    trusted_proxies: Annotated[
        tuple[str, ...],
        Meta(
            description="Addresses or networks of proxies whose X-Forwarded-For is trusted; none by default"
        ),
    ] = ()
    cors_origins: Annotated[
        tuple[str, ...],
        Meta(description="Web origins that may read public routes; `*`: any"),
    ] = ("*",)
    account_origins: Annotated[
        tuple[str, ...],
        Meta(description="Web origins that may use account routes; in development also local ones"),
    ] = ()
    websocket_origins: Annotated[
        tuple[str, ...],
        Meta(description="Web origins that may open feeds; `*`: any"),
    ] = ("*",)

    limits: Annotated[
        Literal["on", "edge", "off"],
        Meta(description="Rate limits; `edge`: a cache in front counts reads; `off`: only for load tests"),
    ] = "on"
    edge_key: Annotated[
        str, Meta(description="Secret that this cache and the workers share, at least 32 random bytes")
    ] = ""
    limit_auth: Annotated[PerMinute, Meta(description="Requests per minute and path: accounts")] = 10
    limit_portfolio: Annotated[PerMinute, Meta(description="Requests per minute and path: portfolio")] = 60
    limit_watchlist: Annotated[PerMinute, Meta(description="Requests per minute and path: watchlist")] = 60
    limit_alerts: Annotated[PerMinute, Meta(description="Requests per minute and path: alerts")] = 60
    limit_terminal: Annotated[PerMinute, Meta(description="Requests per minute and path: terminal")] = 60
    limit_admin: Annotated[PerMinute, Meta(description="Requests per minute and path: `/admin`")] = 120

    plans: Annotated[
        str,
        Meta(description="TOML file of plans for API keys, users and requests without a key; empty: none"),
    ] = ""
    delay_seconds: Annotated[
        int,
        Meta(
            ge=0,
            le=3600,
            description="Seconds by which plans with delayed quotes are late, such as 900, for ingest and "
            "workers alike; 0: no plan is delayed",
        ),
    ] = 0

    sockets_per_worker: Annotated[
        int,
        Meta(ge=0, description="WebSockets per worker; 0: as many as memory and open files allow"),
    ] = 0
    sockets_per_address: Annotated[
        int, Meta(ge=0, description="WebSockets per client address and worker; 0: no limit")
    ] = 1000
    replays_per_worker: Annotated[
        int, Meta(ge=0, le=1000, description="Replays of recorded feeds at once per worker; 0: none")
    ] = 20
    replays_per_address: Annotated[
        int, Meta(ge=0, le=1000, description="Replays at once per client address and worker")
    ] = 6
    heartbeat_ms: Annotated[
        int, Meta(ge=100, le=60_000, description="Milliseconds between heartbeats on a feed")
    ] = 15_000

    movers_min_price: Annotated[
        float, Meta(ge=0, description="Lowest price, in US dollars, of a stock in the ranking of movers")
    ] = 1.0
    movers_min_volume: Annotated[
        int,
        Meta(ge=0, description="Lowest volume, in shares of the day, of a stock in the ranking of movers"),
    ] = 1000


#: The groups of routes with a rate limit; each has its setting.
LIMIT_GROUPS: Final = tuple(
    name.removeprefix("limit_") for name in Settings.__struct_fields__ if name.startswith("limit_")
)


def history_seconds(settings: Settings) -> int:
    """Returns how long published batches are kept; 0 if they are not."""
    if settings.history == "off":
        return 0
    return int(settings.history[:-1]) * (86_400 if settings.history.endswith("d") else 3600)


def history_folder(settings: Settings) -> Path:
    """Returns the folder of the segments; of those that are not in the bucket yet, if there is one."""
    location = settings.history_store
    return settings.data_dir / "history" if not location or history_bucket(settings) else Path(location)


def history_bucket(settings: Settings) -> str:
    """Returns the URL of the segments' bucket; empty if they stay in a folder."""
    return settings.history_store if settings.history_store.startswith("s3://") else ""


def all_variables() -> list[Variable]:
    """Returns all variables: the service's own, then those of providers."""
    inherited = {field.name for field in fields(McpSettings)}
    every = sorted(fields(Settings), key=lambda field: field.name in inherited)
    variables = [*(variable_of(field) for field in every if field.name != OWN), *own_variables()]
    # The provider `quotecast` shares variables with the service.
    return list({variable.name: variable for variable in variables}.values())


def variable_names() -> list[str]:
    """Returns the names of all variables, including the `_FILE` variables of secrets."""
    variables = all_variables()
    return [each.name for each in variables] + [each.name + FILE_SUFFIX for each in variables if each.secret]


def secret_variables(**secrets: str) -> dict[str, str]:
    """Returns environment variables that pass secrets, given by field, to a child process.

    They replace those of the parent, `_FILE` variables included.
    """
    variables = {PREFIX + name.upper(): value for name, value in secrets.items()}
    return variables | {variable + FILE_SUFFIX: "" for variable in variables}


def variable_of(field: FieldInfo) -> Variable:
    """Returns the variable that sets a field of `Settings`."""
    return Variable(PREFIX + field.name.upper(), field, secret=field.name in SECRETS)
