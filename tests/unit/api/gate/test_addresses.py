"""Client addresses behind proxies."""

import ipaddress
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.api.gate.addresses import (
    NOWHERE,
    client_address,
    identify_by_address,
    identity,
    network_of,
    networks,
    parse,
)

TRUSTED = networks(["10.0.0.0/8", "fd00::/8"])


def scope(peer: str | None, *forwarded: str) -> dict[str, Any]:
    headers = [(b"x-forwarded-for", line.encode("latin-1")) for line in forwarded]
    return {"client": peer and (peer, 1234), "headers": [(b"host", b"x"), *headers]}


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("192.0.2.1", "192.0.2.1"),
        (" 192.0.2.1 ", "192.0.2.1"),
        ("192.0.2.1:8080", "192.0.2.1"),
        ("2001:DB8::1", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("[::ffff:192.0.2.1]:80", "192.0.2.1"),
    ],
)
def test_an_address_is_read_in_every_form_that_proxies_write(text: str, address: str) -> None:
    """Ports, brackets and zones make no difference, and IPv4 inside IPv6 is IPv4."""
    assert str(parse(text)) == address


@pytest.mark.parametrize(
    "text", ["", "unknown", "_hidden", "1.2.3", "1.2.3.4.5", "::1::", "[", "a:b", "1.2.3.4/8"]
)
def test_text_that_is_no_address_is_none(text: str) -> None:
    """It raises nothing: any client may send it."""
    assert parse(text) is None


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.1", ["198.51.100.7"], "192.0.2.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", [" "], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["203.0.113.9, 198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["203.0.113.9, 198.51.100.7, 10.9.9.9"], "198.51.100.7"),
        ("10.0.0.1", ["203.0.113.9", "198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["198.51.100.7, garbage"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.7, garbage, 10.0.0.2"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.7,"], "10.0.0.1"),
        ("10.0.0.1", ["10.0.0.7, 10.0.0.8"], "10.0.0.7"),
        ("10.0.0.1", ["[2001:db8::1]:9000"], "2001:db8::1"),
        ("::ffff:10.0.0.1", ["198.51.100.7:52000"], "198.51.100.7"),
        ("fd00::1", ["198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", [", ".join(["10.0.0.2"] * 500)], "10.0.0.1"),
    ],
)
def test_only_hops_that_a_trusted_proxy_wrote_are_believed(
    peer: str, forwarded: Sequence[str], client: str
) -> None:
    """The right-most untrusted hop counts; behind an unreadable hop the peer counts."""
    assert str(client_address(scope(peer, *forwarded), TRUSTED)) == client


@given(st.lists(st.ip_addresses() | st.text(max_size=20), max_size=5))
def test_a_client_cannot_choose_what_the_nearest_proxy_wrote(invented: list[object]) -> None:
    """Text to the left of the proxy's own entry changes nothing."""
    line = ", ".join([*(str(hop).encode("ascii", "replace").decode() for hop in invented), "198.51.100.7"])
    assert str(client_address(scope("10.0.0.1", line), TRUSTED)) == "198.51.100.7"


@given(st.ip_addresses(v=6, network="2001:db8:1:2::/64"))
def test_all_of_a_64_is_one_client(address: ipaddress.IPv6Address) -> None:
    """A host may use any address of its /64, so another address there is no new window."""
    assert identity(parse(str(address))) == "2001:db8:1:2::/64"


@pytest.mark.parametrize("client", [None, "", "testclient"])
def test_a_client_without_an_address_has_a_fixed_identity(client: str | None) -> None:
    """Clients of a Unix socket have no peer address and share one identity."""
    assert identify_by_address(())(scope(client)) == NOWHERE


def test_a_proxy_is_seen_through_only_if_it_is_trusted() -> None:
    """By default no proxy is trusted."""
    request = scope("10.0.0.1", "2001:db8::1")
    assert identify_by_address(())(request) == "10.0.0.1"
    assert identify_by_address(["10.0.0.1"])(request) == "2001:db8::/64"


@pytest.mark.parametrize(
    ("address", "network"),
    [("203.0.113.7", "203.0.113.0/24"), ("2001:db8:1:2::/64", "2001:db8:1::/48"), ("local", ""), ("", "")],
)
def test_address_is_shown_as_its_network(address: str, network: str) -> None:
    """Enough to recognise a network, not a person."""
    assert network_of(address) == network
