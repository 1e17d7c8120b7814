"""URLs of receivers: one strict form, whatever other parsers would make of a text."""

from ipaddress import ip_network

import pytest

from quotecast.alerts.networks import LOOPBACK
from quotecast.alerts.urls import BadUrl, Target, parse_url

HTTPS = ("https",)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("https://example.com", Target("https", "example.com", 443, "/")),
        ("HTTPS://Example.COM/Path?a=b&c", Target("https", "example.com", 443, "/Path?a=b&c")),
        ("https://example.com:8443/x", Target("https", "example.com", 8443, "/x")),
        ("https://example.com:443?x", Target("https", "example.com", 443, "/?x")),
        ("https://xn--bcher-kva.example/", Target("https", "xn--bcher-kva.example", 443, "/")),
        ("https://a_b.example.com/", Target("https", "a_b.example.com", 443, "/")),
        ("https://8.8.8.8/", Target("https", "8.8.8.8", 443, "/")),
        ("https://[2606:4700:4700::1111]/", Target("https", "2606:4700:4700::1111", 443, "/")),
    ],
)
def test_public_url_is_taken_apart(text: str, target: Target) -> None:
    assert parse_url(text, schemes=HTTPS) == target


@pytest.mark.parametrize(
    "host",
    [
        *(
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0x7f.0.0.1",
            "0177.0.0.1",
            "017700000001",
        ),
        *("127.0.0.1.", "0", "0x", "00000000000000000000177.0.0.1", "127.0.0.01", "1.1.1.1.1", "256.1.1.1"),
        *("8.8.8.0x8", "example.0x7f", "example.1", "10.0.0.1", "169.254.169.254", "192.168.0.1"),
        *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"),
        *("[fe80::1]", "[fe80::1%25eth0]", "[fd00::1]", "[ff02::1]", "[::1", "::1]", "[v1.x]", "[127.0.0.1]"),
        *("localhost", "LOCALHOST", "localhost.", "a.localhost", "printer.local", "metadata.google.internal"),
        *("x.home.arpa", "x.onion", "example.com.", ".example.com", "example..com", "-a.com", "a-.com"),
        *("user@example.com", "user:pass@example.com", "127.0.0.1@example.com", "example.com@127.0.0.1"),
        *("@example.com", "example.com:25", "example.com:0", "example.com:80", "example.com:65536"),
        *("example.com:x", "example.com:-1", "exa mple.com", "example.com\\@127.0.0.1", "exämple.com"),
        *(
            "\uff11\uff12\uff17.0.0.1",
            "①②⑦.0.0.1",
            "example.com\u3002localhost",
            "%31%32%37.0.0.1",
            "exam%70le.com",
        ),
        *("", "a" * 64 + ".com", ("a" * 60 + ".") * 5 + "com", "example.com,127.0.0.1", "example.com\t"),
        *("example.com/\r\nHost: x", "example.com/#fragment", "example.com#@127.0.0.1", "example.com/\0"),
    ],
)
def test_odd_host_is_refused(host: str) -> None:
    """Decimal, hexadecimal and octal addresses, embedded ones, local names, user information, ports."""
    with pytest.raises(BadUrl):
        parse_url(f"https://{host}/", schemes=HTTPS)


@pytest.mark.parametrize(
    "text",
    [
        *("http://example.com/", "ftp://example.com/", "file:///etc/passwd", "//example.com/", "example.com"),
        *("https:/example.com", "https:example.com", "https:///example.com", "gopher://example.com", ""),
        *("javascript:alert(1)", "unix:///run/x", "https", " https://example.com/", "https ://example.com"),
        *(
            "https://example.com/uyarılar",
            "https://example.com/İş",
            "https://example.com/\u017f",
            "https://example.com/bücher",
        ),
        "https://example.com/" + "a" * 2048,
    ],
)
def test_other_urls_are_refused(text: str) -> None:
    with pytest.raises(BadUrl):
        parse_url(text, schemes=HTTPS)


def test_loopback_is_admitted_where_the_operator_says_so() -> None:
    """Development admits http:// and this machine, and nothing else that is private."""
    schemes = ("https", "http")
    local = parse_url("http://127.0.0.1:9000/x", schemes=schemes, networks=LOOPBACK)
    assert (local, local.authority) == (Target("http", "127.0.0.1", 9000, "/x"), "127.0.0.1:9000")
    assert parse_url("http://[::1]:9000", schemes=schemes, networks=LOOPBACK).authority == "[::1]:9000"
    assert parse_url("http://localhost:9000", schemes=schemes, networks=LOOPBACK).host == "localhost"
    for text in (
        "http://127.1:9000/",
        "http://2130706433:9000/",
        "http://10.0.0.1/",
        "http://[::ffff:127.0.0.1]/",
    ):
        with pytest.raises(BadUrl):
            parse_url(text, schemes=schemes, networks=LOOPBACK)
    assert parse_url("https://10.1.2.3/", schemes=HTTPS, networks=[ip_network("10.1.0.0/16")]).port == 443
