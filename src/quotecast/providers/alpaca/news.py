"""Alpaca's news of the markets."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from quotecast.market.news import Article
from quotecast.providers.alpaca.rest import Rest
from quotecast.providers.alpaca.rest_wire import NewsPage, Story
from quotecast.providers.base import Admission, unlimited
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.rows import decode_rows

#: Articles that one call brings at most, calls that one question takes at most, articles that are kept.
COUNT: Final = 50
PAGES: Final = 10
KEPT: Final = COUNT * PAGES

_PARAMETERS: Final = {"limit": str(COUNT), "sort": "desc", "include_content": "false"}


class AlpacaNews:
    """The newest articles, on any subject; `url` is that of market data.

    The first question reads KEPT of them, page by page. Later ones read what is new.
    """

    name = "alpaca"
    every_seconds = 60.0

    def __init__(
        self,
        url: str,
        key: str,
        secret: str,
        *,
        admitted: Admission = unlimited,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._rest = Rest(url, key, secret, admitted, clock)
        self._clock = clock
        self._refused = RefusalCounter("alpaca")
        self._articles: dict[str, Article] = {}

    def statistics(self) -> Mapping[str, int]:
        """How many articles were refused since the start, by reason."""
        return self._refused.by_reason()

    async def news(self) -> Sequence[Article]:
        """See NewsProvider; texts may hold HTML."""
        articles = self._articles | await self._unread()
        # They come in the order in which they were last changed.
        newest = sorted(articles.values(), key=lambda article: article.created_at, reverse=True)[:KEPT]
        self._articles = {article.id: article for article in newest}
        return newest

    async def _unread(self) -> dict[str, Article]:
        """Reads pages until one reaches an article that is known as it stands there."""
        found: dict[str, Article] = {}
        parameters: dict[str, str] = _PARAMETERS
        async with self._rest.open() as client:
            for _ in range(PAGES):
                page = await self._rest.get(client, "/v1beta1/news", NewsPage, parameters)
                articles = self._readable(page)
                found = {article.id: article for article in articles} | found
                known = any(self._articles.get(article.id) == article for article in articles)
                if known or not page.next_page_token:
                    break
                parameters = _PARAMETERS | {"page_token": page.next_page_token}
        return found

    def _readable(self, page: NewsPage) -> list[Article]:
        stories = list(decode_rows(page.news or (), Story, self._refused))
        articles = [article for story in stories if (article := story.to_article(self._clock()))]
        self._refused.count("unreadable", len(stories) - len(articles))
        return articles
