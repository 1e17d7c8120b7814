"""Addresses that the service may connect to for a user: public ones, and networks that the operator admits.

The list follows IANA's registries of special-purpose addresses (RFC 6890). It is written out here because
`ipaddress.is_global` differs between releases of Python, and because addresses that embed an IPv4 address
(mapped, 6to4, Teredo, NAT64) reach other places than their own prefix says.
"""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_SPECIAL_V4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT, and Alibaba's metadata
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's host: a public address that only its machines reach
        "169.254.0.0/16",  # link-local, and most clouds' metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocols, and Oracle's metadata
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
#: The only part of IPv6 that is routed publicly; mapped addresses, NAT64 and local ones lie outside.
_GLOBAL_V6: Final = IPv6Network("2000::/3")
_SPECIAL_V6: Final = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocols, with Teredo
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
    )
)
#: What development mode admits, so that a webhook can be tried on one machine.
LOOPBACK: Final[tuple[Network, ...]] = (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128"))


def is_public(address: Address) -> bool:
    """Returns whether the address is of the public internet."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _SPECIAL_V4)
    # A scope id names an interface of this machine.
    if address.scope_id is not None or address not in _GLOBAL_V6:
        return False
    return not any(address in network for network in _SPECIAL_V6)


def is_admitted(address: Address, networks: Iterable[Network]) -> bool:
    """Returns whether the address is public or in one of the networks."""
    return is_public(address) or any(address in network for network in networks)
