"""Alpaca's news, assets and clock from a local Alpaca."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fakes.alpaca import FakeAlpaca
from fakes.alpaca_rows import asset, story
from fakes.http import Answer, Row
from quotecast.market.assets import Asset
from support.made.alpaca_rest import NOW, Upstreams, failure, local_rest


@pytest.fixture
async def fake() -> AsyncIterator[FakeAlpaca]:
    async with local_rest() as fake:
        yield fake


async def test_news_are_in_the_order_in_which_they_appeared(fake: FakeAlpaca) -> None:
    """The adapter sorts news by creation, although Alpaca sorts by last update."""
    fake.stories = [
        story(number, created_at=created, updated_at="2026-11-19T15:00:00Z" if number == 30 else created)
        for number in range(60)
        for created in [f"2026-11-19T14:00:{number:02}Z"]
    ]
    articles = await Upstreams(fake).news.news()
    assert [article.id for article in articles] == [str(number) for number in range(59, -1, -1)]
    asked, _ = fake.requests
    assert asked.path == "/v1beta1/news"
    assert asked.query == {"limit": "50", "sort": "desc", "include_content": "false"}


def make_stories(count: int) -> list[Row]:
    """Returns stories created one second apart."""
    times = [
        (datetime(2026, 11, 19, 14, tzinfo=UTC) + timedelta(seconds=n)).isoformat() for n in range(count)
    ]
    return [story(number, created_at=time, updated_at=time) for number, time in enumerate(times)]


async def test_news_go_back_further_than_a_page(fake: FakeAlpaca) -> None:
    """The first poll reads five hundred articles for searches by symbol; later polls read only new ones."""
    fake.stories = make_stories(700)
    upstream = Upstreams(fake).news
    assert [article.id for article in await upstream.news()] == [str(n) for n in range(699, 199, -1)]
    assert len(fake.requests) == 10
    fake.stories = make_stories(720)
    assert [article.id for article in await upstream.news()] == [str(n) for n in range(719, 219, -1)]
    assert len(fake.requests) == 11
    fake.stories = make_stories(790)
    assert [article.id for article in await upstream.news()] == [str(n) for n in range(789, 289, -1)]
    assert len(fake.requests) == 13


async def test_a_changed_story_takes_the_place_of_the_old_one(fake: FakeAlpaca) -> None:
    fake.stories = [story(1), story(2)]
    upstream = Upstreams(fake).news
    await upstream.news()
    fake.stories = [story(1, headline="Corrected", updated_at="2026-11-19T15:00:00Z"), story(2)]
    headlines = {article.id: article.headline for article in await upstream.news()}
    assert headlines == {"1": "Corrected", "2": "Example &amp; headline"}


async def test_malformed_stories_do_not_affect_the_others(fake: FakeAlpaca) -> None:
    """Malformed stories do not affect the others, and a duplicate appears once."""
    rows = [story(1), story(1), None, story(2, headline=None), {"id": None}, story(3, symbols="AAPL")]
    fake.answers["/v1beta1/news"] = Answer.of({"news": rows, "next_page_token": None})
    upstream = Upstreams(fake).news
    assert [article.id for article in await upstream.news()] == ["1"]
    assert upstream._refused.by_reason() == {"malformed": 3, "unreadable": 1}


@pytest.mark.parametrize("body", [{"news": None}, {"news": []}, {}])
async def test_no_news_are_no_error(fake: FakeAlpaca, body: Any) -> None:
    fake.answers["/v1beta1/news"] = Answer.of(body)
    assert await Upstreams(fake).news.news() == []


async def test_assets_are_the_active_stocks_by_ticker(fake: FakeAlpaca) -> None:
    """The adapter filters and sorts assets even when Alpaca ignores the query."""
    fake.answers["/v2/assets"] = Answer.of(
        [
            asset("ZZZ", "Last Corp.", exchange="NYSE"),
            asset("AAPL", tradable=False),
            asset("AAPL"),
            asset("OLD", status="inactive"),
            asset("BTC/USD", **{"class": "crypto"}),
            asset("not a ticker"),
            None,
        ]
    )
    upstream = Upstreams(fake).assets
    assert await upstream.assets() == [
        Asset(
            ticker="AAPL",
            name="Apple",
            exchange="NASDAQ",
            sector="Information Technology",
            industry="Hardware",
        ),
        Asset(ticker="ZZZ", name="Last Corp.", exchange="NYSE"),
    ]
    assert upstream._refused.by_reason() == {"malformed": 1, "unreadable": 1}
    assert fake.requests[0].query == {"status": "active", "asset_class": "us_equity"}


async def test_list_without_stocks_is_an_error(fake: FakeAlpaca) -> None:
    """An empty list would make every stock unknown, so it is an error."""
    fake.assets = []
    assert "no stocks" in str(await failure(fake, "assets"))


async def test_thousands_of_assets_are_read(fake: FakeAlpaca) -> None:
    """The adapter decodes a list of realistic length."""
    fake.assets = [asset(f"{chr(65 + number % 26)}{number}") for number in range(13_000)]
    assert len(await Upstreams(fake).assets.assets()) == 13_000


async def test_clock_is_asked_once_a_minute(fake: FakeAlpaca) -> None:
    """The adapter requests the clock once a minute, so an unscheduled closure appears within a minute."""
    now = NOW.timestamp()
    clock = Upstreams(fake, clock=lambda: now).clock
    assert (await clock.market_clock()).is_open
    fake.closed_days.add(NOW.date())
    now += 59.9
    assert (await clock.market_clock()).is_open
    now += 0.1
    assert not (await clock.market_clock()).is_open
    now -= 3600
    assert not (await clock.market_clock()).is_open
    assert [asked.path for asked in fake.requests] == ["/v2/clock"] * 3
