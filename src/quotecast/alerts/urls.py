"""URLs that users name as receivers: one strict form, so that no two parsers read a URL in two ways."""

import ipaddress
import re
from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from quotecast.alerts.networks import Network, is_admitted
from quotecast.errors import QuotecastError

MAX_BYTES: Final = 2048
#: The well-known ports that a URL may name; those from here on belong to applications.
_KNOWN_PORTS: Final = {"https": 443, "http": 80}
_FIRST_FREE_PORT: Final = 1024

_HOST: Final = re.compile(
    r"(?=.{1,253}\Z)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
)
#: Resolvers read such a last label as a part of an IPv4 address, in decimal, octal or hexadecimal.
_NUMBER: Final = re.compile(r"\d+|0x[0-9a-f]*")
#: Visible ASCII but for characters that parsers disagree about.
_PLAIN: Final = re.compile(r"[!$-;=?-\[\]_a-z~%]+")
#: Names of private networks (RFC 6761, RFC 6762, RFC 9476, ICANN's `internal`).
_LOCAL_NAMES: Final = ("localhost", "local", "internal", "home.arpa", "alt", "onion")


class BadUrl(QuotecastError):
    """The service does not post to this URL; the message says why."""

    code = "bad_url"


class Target(Struct, frozen=True):
    """A URL in its parts: `host` is a name in lower case or an address, `path` includes the query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The value of the header `Host`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _KNOWN_PORTS[self.scheme] else f"{host}:{self.port}"


def parse_url(text: str, *, schemes: Collection[str], networks: Collection[Network] = ()) -> Target:
    """Returns the parts of a URL that users may name. Raises BadUrl.

    An address in the URL must be public or in one of the networks; the client checks those of names when it
    connects.
    """
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise BadUrl(f"Must have at most {MAX_BYTES} bytes")
    if not _PLAIN.fullmatch(text):
        raise BadUrl("Must have visible ASCII characters only: write bücher.example as xn--bcher-kva.example")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise BadUrl("Must be a URL") from error
    if parts.scheme not in schemes:
        raise BadUrl(
            f"Must be a URL that begins with {' or '.join(f'{each}://' for each in sorted(schemes))}"
        )
    if "@" in parts.netloc:
        raise BadUrl("Must not have a user name or password")
    if "#" in text:
        raise BadUrl("Must not have a fragment")
    host = _host(parts.hostname or "", is_bracketed="[" in parts.netloc, networks=networks)
    port = _port(parts.scheme, port)
    query = f"?{parts.query}" if parts.query else ""
    return Target(parts.scheme, host, port, (parts.path or "/") + query)


def _host(host: str, *, is_bracketed: bool, networks: Collection[Network]) -> str:
    """Returns a host in lower case. Raises BadUrl."""
    last = host.rpartition(".")[2]
    if is_bracketed or _NUMBER.fullmatch(last):
        try:
            # Accepts four decimal numbers without leading zeros only.
            address = ipaddress.IPv6Address(host) if is_bracketed else ipaddress.IPv4Address(host)
        except ValueError as error:
            raise BadUrl("Must be an IP address in its usual form") from error
        if not is_admitted(address, networks):
            raise BadUrl("Must be a public address")
        return str(address)
    if not _HOST.fullmatch(host):
        raise BadUrl("Must be a host name")
    if not networks and any(host == name or host.endswith(f".{name}") for name in _LOCAL_NAMES):
        raise BadUrl("Must be a public host name")
    return host


def _port(scheme: str, port: int | None) -> int:
    if port is None:
        return _KNOWN_PORTS[scheme]
    if port != _KNOWN_PORTS[scheme] and port < _FIRST_FREE_PORT:
        raise BadUrl(f"Must have port {_KNOWN_PORTS[scheme]}, or one from {_FIRST_FREE_PORT} on")
    return port
