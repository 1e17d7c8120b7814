"""Every path of the API in README.md and in the pages exists."""

import re

from docs.pages import DOCS, README
from documents_made import article, asset, assets_of, news_of
from factories import client_of, full_mirrors, parts
from quotecast.api import sources
from quotecast.api.edge import ACCOUNT_PATHS
from quotecast.api.parts import Parts
from quotecast.feed.documents import Documents
from quotecast.feed.frames import FEED_NAMES
from quotecast.providers.base import Admission, unlimited
from quotecast.settings import Settings

TEXTS = "\n".join(path.read_text("utf-8") for path in [README, *sorted(DOCS.glob("*.md"))])
PATHS = {path.rstrip(".") for path in re.findall(r"(?<!\.io)/api/[\w/%?=&,.-]+", TEXTS)}


def no_budget(_upstream: str, _limit: int) -> Admission:
    return unlimited


def everything() -> Parts:
    """Returns the parts of an application that has an answer on every route."""
    documents = Documents()
    documents.news.take(news_of(article()))
    documents.assets.take(assets_of(asset()))
    return parts(
        full_mirrors(),
        documents=documents,
        history=sources.history(Settings(), no_budget),
        financials=sources.financials(Settings(), no_budget),
    )


async def test_the_routes_answer() -> None:
    """Those that need no account."""
    routes = sorted(path for path in PATHS if not path.startswith(("/api/ws/", *ACCOUNT_PATHS)))
    async with client_of(everything()) as client:
        answers = {path: (await client.get(path)).status_code for path in routes}
    assert len(answers) > 8
    assert answers == dict.fromkeys(routes, 200)


def test_every_feed_is_named() -> None:
    """And no other."""
    feeds = {path.partition("?")[0] for path in PATHS if path.startswith("/api/ws/")} - {"/api/ws/"}
    assert feeds == {f"/api/ws/{name}" for name in FEED_NAMES.values()}
