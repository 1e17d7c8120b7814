"""Addresses as people see them: their networks."""

import ipaddress
from typing import Final

#: Bits of an address that anybody sees: enough to recognise a network, not a person.
_PREFIXES: Final = {4: 24, 6: 48}


def network_of(address: str) -> str:
    """Returns the network of a limiter's address: a /24 or a /48; nothing where there is no address."""
    try:
        network = ipaddress.ip_interface(address)
    except ValueError:
        return ""
    return str(ipaddress.ip_network((network.ip, _PREFIXES[network.version]), strict=False))
