"""Checks of settings together, and of those that production refuses."""

import difflib
import ipaddress
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from quotecast.environment import PREFIX
from quotecast.market.feeds import Feed
from quotecast.providers import plugins
from quotecast.providers.offer import GROUPS
from quotecast.providers.offers import BUILT_IN, NONE, built_in, offer_of
from quotecast.redis import urls
from quotecast.settings import mcp
from quotecast.settings.model import MIN_SECRET_BYTES, Settings
from quotecast.settings.plans import wrong_plans
from quotecast.settings.providers import names_of

UNENCRYPTED: Final = "ws:// shows the secret to the network; wss:// hides it, ws:// is for this machine only"

#: 32 bytes in base64url.
_VAPID_KEY = re.compile(r"[A-Za-z0-9_-]{43}=?")
#: Text that a header may hold.
_HEADER = re.compile(r"[!-~]*")
#: A host name, an IPv4 address, or an IPv6 address in brackets.
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]")


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
    yield from _wrong_secrets(settings)
    yield from _wrong_edge(settings)
    yield from _wrong_receivers(settings)
    yield from _wrong_mcp(settings)
    yield from _wrong_origin(settings)
    yield from wrong_plans(settings)
    for group in GROUPS:
        yield from _wrong_providers(group, settings)
    for name in sorted({name for group in GROUPS for name in settings.providers_of(group)} & {*settings.own}):
        for problem in offer_of(name).problems(settings.own[name]):
            yield f"{PREFIX}{name.upper()}_{problem}"


def _wrong_secrets(settings: Settings) -> Iterator[str]:
    for name in ("jwt_secret", "jwt_previous_secret", "relay_secret", "edge_key"):
        if 0 < len(getattr(settings, name).encode()) < MIN_SECRET_BYTES:
            problem = f"at least {MIN_SECRET_BYTES} bytes, such as `openssl rand -hex 32` prints"
            yield f"{PREFIX}{name.upper()}: {problem}"
    for name in ("relay_secret", "origin_secret"):
        if not _HEADER.fullmatch(getattr(settings, name)):
            yield f"{PREFIX}{name.upper()}: must have visible ASCII characters only: a header carries it"


def _wrong_edge(settings: Settings) -> Iterator[str]:
    if settings.limits != "edge":
        return
    if not settings.edge_key:
        what = "give the cache and the workers one, such as `openssl rand -hex 32` prints"
        yield f"{PREFIX}EDGE_KEY: LIMITS=edge needs it; {what}"
    if not settings.trusted_proxies:
        yield f"{PREFIX}TRUSTED_PROXIES: LIMITS=edge needs the cache's address, and the balancer's"


def _wrong_receivers(settings: Settings) -> Iterator[str]:
    if settings.vapid_private_key and not _VAPID_KEY.fullmatch(settings.vapid_private_key):
        yield f"{PREFIX}VAPID_PRIVATE_KEY: must be 32 bytes in base64url, such as `quotecast vapid` prints"
    for network in settings.webhook_networks:
        try:
            ipaddress.ip_network(network)
        except ValueError:
            yield f"{PREFIX}WEBHOOK_NETWORKS: {network!r} is not a network such as 10.1.0.0/16"


def _wrong_mcp(settings: Settings) -> Iterator[str]:
    if settings.mcp == "on" and not mcp.has_sdk():
        yield f"{PREFIX}MCP: on needs an extra: {mcp.REMEDY}"
    if settings.mcp == "on" and settings.mode == "production" and not settings.mcp_hosts:
        yield f"{PREFIX}MCP_HOSTS: name the hosts by which clients reach /mcp, such as quotes.example.com"
    for host in settings.mcp_hosts:
        if not _HOST.fullmatch(host):
            yield f"{PREFIX}MCP_HOSTS: {host!r} is not a host name; leave out scheme, port and path"


def _unreadable(redis_url: str) -> Iterator[str]:
    """Yields a problem without the URL, which may hold a password."""
    if redis_url and not urls.is_readable(redis_url):
        problem = "a host, a port or an option cannot be read; write / and @ in a password as %2F and %40"
        yield f"{PREFIX}REDIS_URL: {problem}"
    elif redis_url:
        yield from (f"{PREFIX}REDIS_URL: {problem}" for problem in urls.tls_problems(redis_url))


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
    alone = sorted(name for name in names if _stands_alone(name))
    if len(names) > 1 and alone:
        yield f"{variable}: {', '.join(alone)} cannot share a feed with others"


def _stands_alone(name: str) -> bool:
    """Returns whether a provider is not a fallback of others, and has none."""
    return name == NONE or (name in BUILT_IN and (BUILT_IN[name].simulated or BUILT_IN[name].follows))


def _wrong_origin(settings: Settings) -> Iterator[str]:
    followers = [group for group in GROUPS if _follows(settings, group)]
    if followers and not settings.origin:
        needed = f"{PREFIX}{followers[0].upper()}=quotecast follows an installation"
        yield f"{PREFIX}ORIGIN: {needed}: name it, such as wss://quotes.example.com"
    if any(_follows(settings, feed) for feed in Feed) and not settings.origin_secret:
        yield f"{PREFIX}ORIGIN_SECRET: give the QUOTECAST_RELAY_SECRET of the origin"


def _follows(settings: Settings, group: str) -> bool:
    return any(name in BUILT_IN and BUILT_IN[name].follows for name in settings.providers_of(group))


def sends_secret_unencrypted(settings: Settings) -> bool:
    """Returns whether the origin's secret would cross a network that others may read."""
    address = urlsplit(settings.origin)
    return address.scheme == "ws" and not _is_this_machine(address.hostname or "")


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def embedded_servers(settings: Settings) -> Iterator[str]:
    """Yields a line for each server that production needs, and that only `up` has of its own."""
    if not settings.database_url:
        yield f"{PREFIX}DATABASE_URL: name a PostgreSQL; the embedded one is for development"
    if not settings.redis_url:
        yield f"{PREFIX}REDIS_URL: name a Redis; the embedded one is for development"


def unsafe_settings(settings: Settings) -> Iterator[str]:
    """Yields a line for each setting that production refuses."""
    if sends_secret_unencrypted(settings):
        yield f"{PREFIX}ORIGIN: {UNENCRYPTED}"
    if settings.limits == "off":
        yield f"{PREFIX}LIMITS=off: rate limits stay on in production"
    url = settings.redis_url
    if url and urls.is_readable(url) and urls.is_unverified(url):
        problem = "production checks the server's certificate and name; name its authority in ssl_ca_certs"
        yield f"{PREFIX}REDIS_URL: {problem}"
    if "*" in settings.account_origins:
        yield f"{PREFIX}ACCOUNT_ORIGINS=*: name the origins that may use account routes"
    if any(ipaddress.ip_network(proxy, strict=False).prefixlen == 0 for proxy in settings.trusted_proxies):
        yield f"{PREFIX}TRUSTED_PROXIES: trusting every peer lets clients choose their own address"
    if any(ipaddress.ip_network(network).prefixlen == 0 for network in settings.webhook_networks):
        yield f"{PREFIX}WEBHOOK_NETWORKS: name your own networks; this one has every address"
