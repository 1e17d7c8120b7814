"""Client addresses: the peer, or the hop that trusted proxies forward; as limits and as people see them."""

import ipaddress
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Scope = Mapping[str, Any]

#: The identity of every client without an address, such as one behind a Unix socket.
NOWHERE: Final = "local"

#: Hops of X-Forwarded-For to read, from the right.
_MAX_HOPS: Final = 32

#: Bits of an address that anybody sees: enough to recognise a network, not a person.
_PREFIXES: Final = {4: 24, 6: 48}


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Returns the addresses and networks of a setting. Raises ValueError for any other text."""
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)


@lru_cache(maxsize=4096)
def parse(text: str) -> Address | None:
    """Returns an address as servers and proxies write it: with or without brackets, port or zone.

    Returns the IPv4 address inside an IPv6 one as IPv4, and None for any other text.
    """
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def client_address(scope: Scope, trusted: Sequence[Network]) -> Address | None:
    """Returns the peer, or behind a trusted proxy the right-most hop of X-Forwarded-For that is not trusted.

    Returns the peer when a trusted proxy forwards no address or an unreadable one: a client may have invented
    what precedes an unreadable hop. Returns the first hop when all are trusted, and None when the server does
    not know the peer.
    """
    client = scope.get("client")
    peer = parse(client[0]) if client else None
    if peer is None or not _is_in(peer, trusted):
        return peer
    address = peer
    for hop in _hops(scope):
        forwarded = parse(hop)
        if forwarded is None:
            return peer
        address = forwarded
        if not _is_in(address, trusted):
            break
    return address


def identity(address: Address | None) -> str:
    """Returns the limiter's name for a client: an IPv4 address, or the /64 network of an IPv6 address."""
    if address is None:
        return NOWHERE
    if address.version == 4:
        return str(address)
    return f"{ipaddress.IPv6Address(int(address) >> 64 << 64)}/64"


def identify_by_address(trusted_proxies: Iterable[str]) -> Callable[[Scope], str]:
    """Returns a function from a request's scope to the identity for the rate limiter."""
    trusted = networks(trusted_proxies)

    @lru_cache(maxsize=4096)
    def describe(peer: str) -> tuple[str, bool]:
        address = parse(peer)
        return identity(address), address is not None and _is_in(address, trusted)

    def identify(scope: Scope) -> str:
        client = scope.get("client")
        name, is_proxy = describe(client[0] if client else "")
        return identity(client_address(scope, trusted)) if is_proxy else name

    return identify


def is_trusted_peer(trusted_proxies: Iterable[str]) -> Callable[[Scope], bool]:
    """Returns a function from a request's scope to whether its peer is a trusted proxy."""
    trusted = networks(trusted_proxies)

    @lru_cache(maxsize=4096)
    def is_trusted(peer: str) -> bool:
        address = parse(peer)
        return address is not None and _is_in(address, trusted)

    def is_from_proxy(scope: Scope) -> bool:
        client = scope.get("client")
        return is_trusted(client[0] if client else "")

    return is_from_proxy


def _is_in(address: Address, trusted: Sequence[Network]) -> bool:
    return any(address in network for network in trusted)


def _hops(scope: Scope) -> list[str]:
    """Returns the forwarded hops, the nearest first; hops beyond _MAX_HOPS stay one unreadable text."""
    lines = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    chain = b",".join(lines).decode("latin-1")
    return chain.rsplit(",", _MAX_HOPS)[::-1] if chain.strip() else []


def network_of(address: str) -> str:
    """Returns the network of a limiter's address: a /24 or a /48; nothing where there is no address."""
    try:
        network = ipaddress.ip_interface(address)
    except ValueError:
        return ""
    return str(ipaddress.ip_network((network.ip, _PREFIXES[network.version]), strict=False))
