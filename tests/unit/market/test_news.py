"""Cleaning of articles: plain text, and links to the web only."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quotecast.market.news import MAX_LENGTH, NewsImage, clean_article, plain_text, web_url
from support.made.documents import article

#: Pieces that markup is made of, in any order.
markup = st.lists(
    st.sampled_from(
        ["<", ">", "&", "&lt;", "&amp;", "&#60;", "/", "!", "--", "script", "p", "b ", ";", '"', "x\t"]
    )
    | st.text(max_size=3)
).map("".join)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("Apple &amp; Co&#39;s <b>big</b> day", "Apple & Co's big day"),
        ("<p>One.</p><p>Two.<br/>Three.</p>", "One. Two. Three."),
        ("  two\n\tlines&nbsp;here ", "two lines here"),
        ("P/E < 10 and > 5, EPS <3", "P/E < 10 and > 5, EPS <3"),
        ("a<script type='x'>alert('<b>')</script>b", "a b"),
        ("a<!-- <b>hidden</b> -->b<style>p {}</style>", "a b"),
        ("&amp;lt;i&amp;gt;twice&amp;lt;/i&amp;gt; &amp;amp; more", "twice & more"),
        ("<<b>b>nested</b>", "nested"),
        ("seen<<b>script>alert(1)</script>", "seen"),
        ("not closed <script>alert(1)", "not closed"),
        ("cut off <img src=x onerror=alert(1)", "cut off"),
        ("Gram Altın: ₺5.710", "Gram Altın: ₺5.710"),
        ("", ""),
    ],
)
def test_html_becomes_text(html: str, text: str) -> None:
    """Tags disappear, entities become characters, blanks collapse; text that resembles a tag stays."""
    assert plain_text(html) == text


@example("</")
@given(markup)
def test_no_tag_is_left_however_it_was_written(html: str) -> None:
    """No markup survives escaping, nesting or truncation; `</` at the end is text."""
    assert not re.search(r"<(?:[a-zA-Z!?]|/.)", plain_text(html))


@given(markup)
def test_text_stays_as_it_is(html: str) -> None:
    """Cleaning is idempotent, so that equal news have equal digests."""
    text = plain_text(html)
    assert plain_text(text) == text


def test_endless_text_is_cut() -> None:
    assert plain_text("x" * 3 * MAX_LENGTH) == "x" * MAX_LENGTH


@pytest.mark.parametrize(
    "url", ["https://example.com/a?b=c#d", "http://example.com", "HTTPS://EXAMPLE.COM/ü"]
)
def test_web_addresses_stay(url: str) -> None:
    assert web_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "javascript:alert(1)",
        "java\nscript:alert(1)",
        " https://example.com",
        "https://example.com/a b",
        'https://example.com/"onload="x',
        "https://",
        "https:///path",
        "//example.com",
        "/news/1",
        "data:text/html,x",
        "ftp://example.com",
    ],
)
def test_other_addresses_are_not(url: str | None) -> None:
    """Only clear addresses of the web pass."""
    assert web_url(url) is None


def test_an_article_is_cleaned_as_a_whole() -> None:
    """Cleaning covers all texts, the link and the pictures; other fields stay."""
    picture = NewsImage("thumb", "https://example.com/1.png")
    dirty = article(
        headline="<b>A</b>",
        summary="B&amp;C",
        author="<i>D</i>",
        source="E&nbsp;F",
        url="javascript:alert(1)",
        images=[picture, NewsImage("large", "data:image/png;base64,x")],
    )
    assert clean_article(dirty) == article(
        headline="A", summary="B&C", author="D", source="E F", url=None, images=[picture]
    )


@given(st.text(st.characters(codec="utf-8", exclude_characters="<&")))
def test_text_without_markup_is_what_the_parser_makes_of_it(text: str) -> None:
    """The tag sends the second text through the parser."""
    assert plain_text(text) == plain_text(f"{text}<i></i>")
