"""Checks of settings together, and of those that production refuses."""

import difflib
import ipaddress
from collections.abc import Iterator

from quotecast.environment import PREFIX
from quotecast.providers import plugins
from quotecast.providers.offer import GROUPS
from quotecast.providers.offers import BUILT_IN, NONE, built_in, offer_of
from quotecast.redis import urls
from quotecast.settings.model import MIN_SECRET_BYTES, Settings
from quotecast.settings.providers import (
    names_of,
)


def contradictions(settings: Settings) -> Iterator[str]:
    """Yields a line for each problem that single settings do not show."""
    if settings.feed_port == settings.port:
        yield f"{PREFIX}FEED_PORT: {settings.port} is the port of the API, which serves feeds by itself"
    if settings.metrics_port in {settings.port, settings.feed_port or None}:
        yield f"{PREFIX}METRICS_PORT: {settings.metrics_port} is public; metrics need a port of their own"
    yield from _unreadable(settings.redis_url)
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


def _unreadable(redis_url: str) -> Iterator[str]:
    """Yields a problem without the URL, which may hold a password."""
    if redis_url and not urls.is_readable(redis_url):
        problem = "a host, a port or an option cannot be read; write / and @ in a password as %2F and %40"
        yield f"{PREFIX}REDIS_URL: {problem}"


def _wrong_providers(group: str, settings: Settings) -> Iterator[str]:
    variable = PREFIX + group.upper()
    valid = [*built_in(group), *plugins.names()]
    names = names_of(getattr(settings, group))
    for name in names:
        if name not in valid:
            near = difflib.get_close_matches(name, valid, n=1)
            hint = f"; did you mean {near[0]}?" if near else f": one of {', '.join(valid)}"
            yield f"{variable}: there is no provider {name!r}{hint}"
        elif name != NONE and not offer_of(name).serves(group):
            yield f"{variable}: the provider {name} has nothing for {group}"
    if not names:
        yield f"{variable}: name a provider, or none"
    alone = sorted(name for name in names if name == NONE or (name in BUILT_IN and BUILT_IN[name].simulated))
    if len(names) > 1 and alone:
        yield f"{variable}: {', '.join(alone)} cannot share a feed with others"


def unsafe_settings(settings: Settings) -> Iterator[str]:
    """Yields a line for each setting that production refuses."""
    if settings.limits == "off":
        yield f"{PREFIX}LIMITS=off: rate limits stay on in production"
    if "*" in settings.account_origins:
        yield f"{PREFIX}ACCOUNT_ORIGINS=*: name the origins that may use account routes"
    if any(ipaddress.ip_network(proxy, strict=False).prefixlen == 0 for proxy in settings.trusted_proxies):
        yield f"{PREFIX}TRUSTED_PROXIES: trusting every peer lets clients choose their own address"
    if not settings.database_url:
        yield f"{PREFIX}DATABASE_URL: name a PostgreSQL; the embedded one is for development"
    if not settings.redis_url:
        yield f"{PREFIX}REDIS_URL: name a Redis; the embedded one is for development"
