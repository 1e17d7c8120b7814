"""Every API path in README.md and in the pages exists."""

import re

from msgspec.structs import replace

from docs.pages import DOCS, README
from quotecast.api.market.services import Services
from quotecast.api.worker import composition
from quotecast.api.worker.app import build_app, private_prefixes
from quotecast.feed.documents import Documents
from quotecast.market.calendars import EXCHANGE
from quotecast.market.feeds import Feed
from quotecast.providers.base import Admission, unlimited
from quotecast.settings.model import Settings
from quotecast.stream.endpoint import GRIDS
from support.made.documents import article, asset, assets_of, news_of
from support.made.factories import PAIRS, client_of, doviz, full_mirrors, mirror_of, services
from support.made.market import pair

#: The changelog names groups of paths.
PAGES = [path for path in sorted(DOCS.glob("*.md")) if path.name != "changelog.md"]
TEXTS = "\n".join(path.read_text("utf-8") for path in [README, *PAGES])
PATHS = {path.rstrip(".") for path in re.findall(r"(?<!\.io)/api/[\w/%?=&,.-]+(?![\w/%?=&,.{-])", TEXTS)}
#: Addresses to which a program adds the paths.
BASES = {"/api/udf"}


def no_budget(_upstream: str, _limit: int) -> Admission:
    return unlimited


def everything() -> Services:
    """Returns the services of an application that has an answer on every route."""
    offered = composition.history_providers(Settings(), no_budget, lambda: EXCHANGE)
    documents = Documents()
    documents.news.take(news_of(article()))
    documents.assets.take(assets_of(asset()))
    mirrors = full_mirrors()
    # The currencies of the examples.
    lira = [replace(doviz(code, "currency"), unit=f"1 {code}") for code in ("USD", "EUR")]
    ounce = replace(doviz("ons", "gold"), currency="USD")
    quotes = [*mirrors[Feed.DOVIZ].quotes().values(), ounce, *lira]
    mirrors[Feed.DOVIZ] = mirror_of(Feed.DOVIZ, quotes)
    mirrors[Feed.CRYPTO] = mirror_of(Feed.CRYPTO, [*PAIRS, pair("USDT/TRY", 44.0)])
    return services(
        mirrors,
        documents=documents,
        # The provider of the mirrors' quotes.
        history={feed: dict.fromkeys(["test"], each["simulator"]) for feed, each in offered.items() if each},
        financials=composition.financials_provider(Settings(), no_budget),
        actions=composition.actions_providers(Settings(), no_budget),
    )


async def test_the_routes_answer() -> None:
    """Every path outside of accounts and of the operator's page, which is off by default, answers 200."""
    private = (*private_prefixes(build_app(everything())), "/api/admin")
    routes = sorted(path for path in PATHS - BASES if not path.startswith(("/api/ws", "/api/sse", *private)))
    async with client_of(everything()) as client:
        answers = {path: (await client.get(path)).status_code for path in routes}
    assert len(answers) > 8
    assert answers == dict.fromkeys(routes, 200)


def test_every_feed_is_named() -> None:
    """The documents name every feed's path, and no other."""
    feeds = {path.partition("?")[0] for path in PATHS if path.startswith("/api/ws/")} - {"/api/ws/"}
    assert feeds - set(GRIDS) == {f"/api/ws/{feed.spec.name}" for feed in Feed}
    streams = {path.partition("?")[0].rstrip("/") for path in PATHS if path.startswith("/api/sse")}
    assert streams - {"/api/sse"} == {f"/api/sse/{feed.spec.name}" for feed in Feed}
