"""URLs of Redis: one server, a cluster by some of its nodes, or a master by its Sentinels.

    redis://[user:password@]host:6379[/db]
    redis+cluster://[user:password@]host1:6379,host2:6379
    redis+sentinel://[user:password@]host1:26379,host2:26379/service[/db]

`rediss` instead of `redis` connects to every host over TLS. Its options are redis-py's: `ssl_ca_certs`,
`ssl_certfile`, `ssl_keyfile` and others.
"""

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from redis import DriverInfo
from redis.asyncio import SSLConnection
from redis.asyncio.connection import ConnectKwargs, parse_url

from quotecast.redis import tls

_CLUSTER: Final = "+cluster://"
_SENTINEL: Final = "+sentinel://"
_SENTINEL_PORT: Final = 26379
#: Options of redis-py that apply to connections to Sentinels too.
_SHARED: Final = ("connection_class", "driver_info", "ssl_")
#: What each connection says of its library. Made for each, it reads the metadata of the package redis, which
#: stops the event loop for a millisecond; after an outage all connections come back at once.
DRIVER: Final = DriverInfo()
_URL: Final = re.compile(
    r"(?P<scheme>[a-z]+)\+[a-z]+://(?P<user>[^/?]*@)?(?P<hosts>[^/?]*)(/(?P<path>[^?]*))?(?P<query>\?.*)?"
)


def is_cluster(url: str) -> bool:
    """Returns whether the URL is of a cluster: keys of different hash tags may lie on different nodes."""
    return _CLUSTER in url


def is_sentinel(url: str) -> bool:
    """Returns whether the hosts are Sentinels, which name the server."""
    return _SENTINEL in url


def is_readable(url: str) -> bool:
    """Whether clients can be made of the URL. A bare `/` in a password ends the hosts too early."""
    try:
        if is_sentinel(url):
            hosts = master_of_sentinels(url)[2]
        elif is_cluster(url):
            hosts = cluster_nodes(url)
        else:
            hosts = []
            parse_url(url)
        path = urlsplit(url).path
    except (KeyError, ValueError):
        return False
    return all("host" in each for each in hosts) and (url.startswith("unix:") or "@" not in path)


def tls_problems(url: str) -> Iterator[str]:
    """Yields what is wrong with the TLS options of a readable URL; the lines hold no secret."""
    options = _first_options(url)
    yield from tls.problems(options, encrypted="connection_class" in options and not url.startswith("unix:"))


def is_unverified(url: str) -> bool:
    """Returns whether a readable URL asks for TLS without a check of the server's certificate."""
    return tls.is_unverified(_first_options(url))


def _first_options(url: str) -> dict[str, Any]:
    if is_sentinel(url):
        return master_of_sentinels(url)[1]
    return cluster_nodes(url)[0] if is_cluster(url) else server_options(url)


def server_options(url: str) -> dict[str, Any]:
    """Returns redis-py's options for one server. Raises ValueError."""
    return _with_shared_objects(parse_url(url))


def cluster_nodes(url: str) -> list[dict[str, Any]]:
    """Returns redis-py's options for each node that the URL names. Raises ValueError."""
    parts = _parts(url)
    return [_options(parts, parts["user"], host, parts["path"]) for host in parts["hosts"].split(",")]


def master_of_sentinels(url: str) -> tuple[str, dict[str, Any], list[dict[str, Any]]]:
    """Returns the service, redis-py's options for its master, and those for each Sentinel. Raises ValueError.

    `sentinel_username` and `sentinel_password` are options for Sentinels with access control.
    """
    parts = _parts(url)
    service, _, database = parts["path"].partition("/")
    master = _options(parts, parts["user"], "", database)
    own = {
        name: master.pop(f"sentinel_{name}")
        for name in ("username", "password")
        if f"sentinel_{name}" in master
    }
    own |= {name: value for name, value in master.items() if name.startswith(_SHARED)}
    sentinels = []
    for host in parts["hosts"].split(","):
        address = _options(parts, "", host, "")
        sentinels.append(own | {"host": address["host"], "port": address.get("port", _SENTINEL_PORT)})
    return service, master, sentinels


def _parts(url: str) -> dict[str, str]:
    match = _URL.fullmatch(url)
    if match is None:
        raise ValueError("not a URL of Redis")
    return match.groupdict(default="")


def _options(parts: dict[str, str], user: str, host: str, path: str) -> dict[str, Any]:
    return _with_shared_objects(parse_url(f"{parts['scheme']}://{user}{host}/{path}{parts['query']}"))


def _with_shared_objects(options: ConnectKwargs) -> dict[str, Any]:
    found: dict[str, Any] = {**options, "driver_info": DRIVER}
    if found.get("connection_class") is SSLConnection:
        found["connection_class"] = tls.TlsConnection
    return found
