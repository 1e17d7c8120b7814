"""Simulated news and the list of simulated stocks."""

from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.market.news import Article, clean_article
from quotecast.market.reference import stocks
from quotecast.providers.base import AssetsProvider, NewsProvider
from quotecast.simulation.market.invented import SimulatorAssets
from quotecast.simulation.market.news import COUNT, SLOT_SECONDS, SOURCE, SimulatorNews

NOW = 1_795_188_600.0
TICKERS = {stock.ticker for stock in stocks()}

moments = st.floats(NOW, NOW + 10 * 86_400)


def as_news_provider(provider: NewsProvider) -> NewsProvider:
    return provider


async def news_at(now: float, seed: int = 1) -> list[Article]:
    return [*await as_news_provider(SimulatorNews(seed, lambda: now)).news()]


def time_of(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@given(moments)
async def test_the_newest_come_first_and_none_is_from_the_future(now: float) -> None:
    """Articles are newest first, and neither creation nor revision lies in the future."""
    articles = await news_at(now)
    written = [time_of(article.created_at) for article in articles]
    assert written == sorted(written, reverse=True)
    for article in articles:
        assert time_of(article.created_at) <= time_of(article.updated_at) <= now


async def test_the_same_seed_and_time_give_the_same_news() -> None:
    """Seed and time determine the news; another seed yields other articles."""
    assert await news_at(NOW) == await news_at(NOW)
    assert await news_at(NOW) != await news_at(NOW, seed=2)


@given(moments)
async def test_news_have_enough_articles(now: float) -> None:
    """There are more articles than the API returns, without duplicates."""
    articles = await news_at(now)
    assert len({article.id for article in articles}) == len(articles) == COUNT >= 50


async def test_news_stay_the_same_until_the_next_article_or_revision() -> None:
    """An article changes only by its revision; a new one follows every few minutes."""
    before = {article.id: article for article in await news_at(NOW)}
    after = {article.id: article for article in await news_at(NOW + 3600)}
    assert len(after.keys() - before.keys()) == pytest.approx(3600 / SLOT_SECONDS, abs=1)
    for number in before.keys() & after.keys():
        assert before[number].headline == after[number].headline
        assert before[number].created_at == after[number].created_at


async def test_a_moment_later_nothing_has_changed() -> None:
    """Two polls a moment apart return the same articles, so most polls store nothing."""
    clock = iter([NOW + second for second in range(SLOT_SECONDS)])
    provider = as_news_provider(SimulatorNews(1, lambda: next(clock)))
    lists = [await provider.news() for _ in range(SLOT_SECONDS)]
    assert lists[-1] == await news_at(NOW + SLOT_SECONDS - 1)
    changes = sum(one != other for one, other in pairwise(lists))
    assert 1 <= changes <= 5


async def test_articles_are_about_simulated_stocks() -> None:
    """An article is about one stock, or two of one sector; its headline names the first."""
    sectors = {stock.ticker: stock.sector for stock in stocks()}
    names = {stock.ticker: stock.name for stock in stocks()}
    counts = set()
    for article in await news_at(NOW):
        assert set(article.symbols) <= TICKERS
        assert len({sectors[symbol] for symbol in article.symbols}) == 1
        assert all(names[symbol] in article.headline for symbol in article.symbols)
        counts.add(len(set(article.symbols)))
    assert counts == {1, 2}


async def test_articles_say_that_they_are_invented() -> None:
    """Links lead to example.com, texts need no cleaning, and templates are complete."""
    articles = await news_at(NOW)
    assert {article.source for article in articles} == {SOURCE}
    assert articles == [clean_article(article) for article in articles]
    for article in articles:
        links = [article.url or "https://example.com/", *(image.url for image in article.images)]
        assert all(link.startswith("https://example.com/") for link in links)
        assert "{" not in article.headline + article.summary
    assert {bool(article.url) for article in articles} == {True, False}
    assert 0 < sum(bool(article.images) for article in articles) < COUNT / 2
    revised = [article for article in articles if article.updated_at != article.created_at]
    assert 0 < len(revised) < COUNT / 2


async def test_revisions_come_within_minutes() -> None:
    longest = max(time_of(each.updated_at) - time_of(each.created_at) for each in await news_at(NOW))
    assert timedelta(minutes=1) <= timedelta(seconds=longest) <= timedelta(minutes=15)


async def test_the_assets_are_the_simulated_stocks() -> None:
    """The assets are the reference stocks by ticker, with exchange, sector and industry."""
    provider: AssetsProvider = SimulatorAssets()
    assets = await provider.assets()
    assert [asset.ticker for asset in assets] == [stock.ticker for stock in stocks()]
    apple = next(asset for asset in assets if asset.ticker == "AAPL")
    assert (apple.name, apple.exchange, apple.sector) == ("Apple Inc.", "NASDAQ", "Information Technology")
    assert all(asset.tradable and asset.asset_class == "us_equity" for asset in assets)
