"""All settings, from environment variables named `QUOTECAST_*`.

Each field is the only definition of a setting's name, type, bounds, default and meaning;
`just docs-settings` writes docs/configuration.md from them. Only commands and composition roots
read settings.
"""

import difflib
import ipaddress
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import FieldInfo, fields

from quotecast.environment import DEMAND, FILE_SUFFIX, PREFIX, text_of, value_of
from quotecast.errors import SettingsError
from quotecast.provider_settings import (
    OWN,
    ProviderSettings,
    Variable,
    names_of,
    own_variables,
    variables_of,
)
from quotecast.providers import plugins
from quotecast.providers.offer import GROUPS, Offer
from quotecast.providers.offers import BUILT_IN, NONE, built_in, offer_of

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


def described() -> list[Variable]:
    """Returns the variables there are: the service's own, then those of providers."""
    inherited = {field.name for field in fields(ProviderSettings)}
    every = sorted(fields(Settings), key=lambda field: field.name in inherited)
    return [*(_variable(field) for field in every if field.name != OWN), *own_variables()]


def names() -> list[str]:
    """Returns the names of the variables there are, those of files that hold secrets among them."""
    variables = described()
    return [each.name for each in variables] + [each.name + FILE_SUFFIX for each in variables if each.secret]


def handed_on(secrets: Mapping[str, str]) -> dict[str, str]:
    """The environment that gives a process these secrets, by field, wherever its parent had them from."""
    variables = {PREFIX + name.upper(): value for name, value in secrets.items()}
    return variables | {variable + FILE_SUFFIX: "" for variable in variables}


def load(environment: Mapping[str, str] = os.environ) -> Settings:
    """Reads and checks the settings. Raises SettingsError with a line for every problem."""
    problems = list(_unknown(environment))
    service = [_variable(field) for field in fields(Settings) if field.name != OWN]
    values = _read(service, environment, problems)
    chosen = Settings(**values)
    values[OWN] = {
        name: offer.settings(**_read(variables_of(name, offer), environment, problems))
        for name, offer in _offers(chosen, problems).items()
    }
    if not problems:
        settings = Settings(**values)
        problems.extend(_unworkable(settings))
        if settings.mode == "production":
            problems.extend(_unsafe(settings))
    if problems:
        # Providers may have a variable in common.
        raise SettingsError("\n".join(dict.fromkeys(problems)))
    return settings


def _read(
    variables: Iterable[Variable], environment: Mapping[str, str], problems: list[str]
) -> dict[str, Any]:
    """Returns the values of the variables that are set, by field, and adds what is wrong to `problems`."""
    values = {}
    for variable in variables:
        try:
            text = text_of(variable.name, environment, secret=variable.secret)
            if text is not None:
                values[variable.field.name] = value_of(variable.name, text, variable.field.type)
        except SettingsError as problem:
            problems.append(str(problem))
    return values


def _offers(settings: Settings, problems: list[str]) -> dict[str, Offer]:
    """Returns the offers that come with the service, and those of the packages that were chosen."""
    chosen = {name for group in GROUPS for name in settings.providers_of(group)}
    found = dict(BUILT_IN)
    for name in sorted(chosen & {*plugins.names()}):
        try:
            found[name] = offer_of(name)
        except plugins.PluginBroken as problem:
            problems.append(str(problem))
    return found


def _variable(field: FieldInfo) -> Variable:
    return Variable(PREFIX + field.name.upper(), field, secret=field.name in SECRETS)


def _unknown(environment: Mapping[str, str]) -> Iterator[str]:
    known = names()
    # Packages that add a provider have settings of their own.
    theirs = tuple(f"{PREFIX}{plugin.upper()}_" for plugin in plugins.names())
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known and not name.startswith(theirs):
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            yield f"{name}: there is no such setting{hint}"


def _unworkable(settings: Settings) -> Iterator[str]:
    if settings.feed_port == settings.port:
        yield f"{PREFIX}FEED_PORT: {settings.port} is the port of the API, which serves feeds by itself"
    if settings.metrics_port in {settings.port, settings.feed_port or None}:
        yield f"{PREFIX}METRICS_PORT: {settings.metrics_port} is public; metrics need a port of their own"
    for proxy in settings.trusted_proxies:
        try:
            ipaddress.ip_network(proxy, strict=False)
        except ValueError:
            yield f"{PREFIX}TRUSTED_PROXIES: {proxy!r} is neither an address nor a network"
    for name in ("jwt_secret", "jwt_previous_secret"):
        if 0 < len(getattr(settings, name).encode()) < MIN_SECRET_BYTES:
            problem = f"at least {MIN_SECRET_BYTES} bytes, such as `openssl rand -hex 32` prints"
            yield f"{PREFIX}{name.upper()}: {problem}"
    for group in GROUPS:
        yield from _wrong_providers(group, settings)
    for name in sorted({name for group in GROUPS for name in settings.providers_of(group)} & {*settings.own}):
        for problem in offer_of(name).problems(settings.own[name]):
            yield f"{PREFIX}{name.upper()}_{problem}"


def _wrong_providers(group: str, settings: Settings) -> Iterator[str]:
    variable = PREFIX + group.upper()
    known = [*built_in(group), *plugins.names()]
    given = names_of(getattr(settings, group))
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else f": one of {', '.join(known)}"
            yield f"{variable}: there is no provider {name!r}{hint}"
        elif name != NONE and not offer_of(name).serves(group):
            yield f"{variable}: the provider {name} has nothing for {group}"
    if not given:
        yield f"{variable}: name a provider, or none"
    alone = sorted(name for name in given if name == NONE or (name in BUILT_IN and BUILT_IN[name].simulated))
    if len(given) > 1 and alone:
        yield f"{variable}: {', '.join(alone)} cannot share a feed with others"


def _unsafe(settings: Settings) -> Iterator[str]:
    if settings.limits == "off":
        yield f"{PREFIX}LIMITS=off: rate limits stay on in production"
    if "*" in settings.account_origins:
        yield f"{PREFIX}ACCOUNT_ORIGINS=*: name the origins that may use account routes"
    if any(ipaddress.ip_network(proxy, strict=False).prefixlen == 0 for proxy in settings.trusted_proxies):
        yield f"{PREFIX}TRUSTED_PROXIES: believing every peer lets clients choose their own address"
    if not settings.database_url:
        yield f"{PREFIX}DATABASE_URL: name a PostgreSQL; the embedded one is for development"
    if not settings.redis_url:
        yield f"{PREFIX}REDIS_URL: name a Redis; the embedded one is for development"
