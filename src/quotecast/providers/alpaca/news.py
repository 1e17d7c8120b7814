"""Alpaca's news of the markets."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from quotecast.market.news import Article
from quotecast.providers.alpaca.rest import Rest
from quotecast.providers.alpaca.rest_wire import NewsPage, Story
from quotecast.providers.base import Admission, unlimited
from quotecast.providers.rows import readable

#: The most that one call brings.
COUNT: Final = 50


class AlpacaNews:
    """The newest fifty articles, on any subject; `url` is that of market data."""

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
        self._refused: Counter[str] = Counter()

    def statistics(self) -> Mapping[str, int]:
        """How many articles were refused since the start, by reason."""
        return dict(self._refused)

    async def news(self) -> Sequence[Article]:
        """See NewsProvider; texts may hold HTML."""
        params = {"limit": str(COUNT), "sort": "desc", "include_content": "false"}
        page = await self._rest.get_once("/v1beta1/news", NewsPage, params)
        articles: dict[str, Article] = {}
        for story in readable(page.news or (), Story, self._refused):
            if article := story.to_article(self._clock()):
                articles.setdefault(article.id, article)
            else:
                self._refused["unreadable"] += 1
        # They come in the order in which they were last changed.
        return sorted(articles.values(), key=lambda article: article.created_at, reverse=True)
