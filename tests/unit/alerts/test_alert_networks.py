"""Addresses that are public, and those that only look so."""

import random
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest

from quotecast.alerts.networks import LOOPBACK, is_admitted, is_public

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.215.14",
    "172.15.255.255",
    "172.32.0.1",
    "100.63.255.255",
    "100.128.0.0",
]
PUBLIC_6 = ["2606:4700:4700::1111", "2a00:1450:4001:80f::200e", "2001:200::1"]
PRIVATE = [
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254"),  # noqa: S104 - refused
    *("168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1"),
    *("192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.1.1.1"),
    *("240.0.0.1", "255.255.255.255"),
]
PRIVATE_6 = [
    *("::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::7f00:1", "100::1", "2001::1", "2001:0:4136:e378::1"),
    *("2001:db8::1", "2002:7f00:1::", "2002:808:808::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254"),
    *("fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "2606:4700:4700::1111%1"),
]


@pytest.mark.parametrize("text", [*PUBLIC, *PUBLIC_6])
def test_public_address_is_admitted(text: str) -> None:
    assert is_public(ip_address(text))


@pytest.mark.parametrize("text", [*PRIVATE, *PRIVATE_6])
def test_special_address_is_refused(text: str) -> None:
    """Loopback, private, link-local, carrier-grade NAT, multicast, and every form that embeds IPv4."""
    assert not is_public(ip_address(text))
    assert not is_admitted(ip_address(text), ())


def test_python_calls_no_refused_half_of_the_internet_private() -> None:
    """Addresses that this Python calls private or multicast are refused, for random ones of both families."""
    chance = random.Random(7)
    for _ in range(20_000):
        for address in (IPv4Address(chance.getrandbits(32)), IPv6Address(chance.getrandbits(128))):
            if not address.is_global or address.is_multicast or address.is_reserved:
                assert not is_public(address), address


def test_an_operator_admits_networks_by_name() -> None:
    """An admitted network admits its own addresses only."""
    networks = [ip_network("10.1.0.0/16"), ip_network("fd00::/8")]
    assert is_admitted(ip_address("10.1.2.3"), networks)
    assert is_admitted(ip_address("fd12::1"), networks)
    assert not is_admitted(ip_address("10.2.0.1"), networks)
    assert not is_admitted(ip_address("::ffff:10.1.2.3"), networks)
    assert is_admitted(ip_address("127.0.0.1"), LOOPBACK)
