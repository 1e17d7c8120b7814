"""Market news from Alpaca."""

from collections.abc import Sequence
from typing import Final

from quotecast.market.news import Article
from quotecast.providers.alpaca.rest import AlpacaRest
from quotecast.providers.alpaca.rest_wire import NewsPage, Story
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.rows import decode_rows, readable

#: Articles per page, pages per poll, and articles in memory, at most.
PER_PAGE: Final = 50
MAX_PAGES: Final = 10
MAX_ARTICLES: Final = PER_PAGE * MAX_PAGES

_PARAMETERS: Final = {"limit": str(PER_PAGE), "sort": "desc", "include_content": "false"}


class AlpacaNews:
    """The newest articles on any subject.

    The first poll reads MAX_ARTICLES articles page by page. Later polls read only new pages.
    """

    name = "alpaca"
    every_seconds = 60.0

    def __init__(self, rest: AlpacaRest) -> None:
        self._rest = rest
        self._refused = RefusalCounter("alpaca")
        self._articles: dict[str, Article] = {}

    async def news(self) -> Sequence[Article]:
        """See NewsProvider; texts may hold HTML."""
        articles = self._articles | await self._fetch_new()
        # Alpaca sorts articles by their last update, not by their creation.
        newest = sorted(articles.values(), key=lambda article: article.created_at, reverse=True)[
            :MAX_ARTICLES
        ]
        self._articles = {article.id: article for article in newest}
        return newest

    async def _fetch_new(self) -> dict[str, Article]:
        """Returns new and changed articles by id: reads pages until one contains an unchanged article."""
        new: dict[str, Article] = {}
        parameters: dict[str, str] = _PARAMETERS
        async with self._rest.open() as client:
            for _ in range(MAX_PAGES):
                page = await self._rest.get(client, "/v1beta1/news", NewsPage, parameters)
                stories = decode_rows(page.news or (), Story, self._refused)
                articles = readable((each.to_article(self._rest.clock()) for each in stories), self._refused)
                new = {article.id: article for article in articles} | new
                is_caught_up = any(self._articles.get(article.id) == article for article in articles)
                if is_caught_up or not page.next_page_token:
                    break
                parameters = _PARAMETERS | {"page_token": page.next_page_token}
        return new
