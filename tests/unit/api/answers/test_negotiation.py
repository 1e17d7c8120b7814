"""Entity tags and content codings, as answers and the terminal's files share them."""

import pytest

from quotecast.api.answers.answers import content_tag, matches, negotiation_headers
from quotecast.codings import best_coding

FILES = (b"br", b"zstd", b"gzip")


@pytest.mark.parametrize(
    ("header", "coding"),
    [
        (b"gzip, deflate, br, zstd", b"br"),
        (b"gzip, zstd", b"zstd"),
        (b"br;q=0.5, gzip", b"gzip"),
        (b"*", b"br"),
        (b"br;q=0, *", b"zstd"),
        (b"br; q=0.000", b""),
        (b"identity", b""),
        (b"", b""),
    ],
)
def test_greatest_weight_wins_and_then_the_order_of_the_server(header: bytes, coding: bytes) -> None:
    """A weight of 0 excludes a coding, and `*` matches each coding that the header does not name."""
    assert best_coding(header, FILES) == coding


def test_nothing_available_is_no_coding() -> None:
    """A file that the build did not compress leaves as it is."""
    assert best_coding(b"*", ()) == b""


@pytest.mark.parametrize("condition", [b'W/"a"', b'"a"', b'"b", W/"a"', b"*"])
def test_tags_match_weakly(condition: bytes) -> None:
    """RFC 9110, 8.8.3.2: the `W/` makes no difference."""
    assert matches(condition, b'W/"a"')


@pytest.mark.parametrize("condition", [b'W/"ab"', b"a", b""])
def test_other_tags_do_not_match(condition: bytes) -> None:
    """A part of a tag is another tag."""
    assert not matches(condition, b'W/"a"')


def test_equal_content_has_equal_tags() -> None:
    """So every worker confirms the tag that another worker sent."""
    assert content_tag(b"[1]") == content_tag(b"[1]") != content_tag(b"[2]")


def test_repeated_conditions_count_together() -> None:
    """A list may be spread over several headers (RFC 9110, 5.3)."""
    headers = [(b"if-none-match", b'"a"'), (b"accept-encoding", b"br"), (b"if-none-match", b'"b"')]
    condition, encodings = negotiation_headers(headers)
    assert matches(condition, b'"a"')
    assert matches(condition, b'"b"')
    assert encodings == b"br"
