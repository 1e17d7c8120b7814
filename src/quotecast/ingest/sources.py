"""The providers that this process reads, as the settings choose them."""

from quotecast.ingest.documents import DocumentSource, assets_source, news_source, renames_source
from quotecast.ingest.failover import Failover
from quotecast.market.feeds import Feed
from quotecast.providers.base import QuoteProvider
from quotecast.providers.offer import Budgets
from quotecast.providers.offers import offer_of
from quotecast.settings.model import Settings


def quote_providers(settings: Settings, budgets: Budgets) -> list[QuoteProvider]:
    """Returns a provider for each feed that this ingest leads."""
    followed = followed_feeds(settings)
    return [
        _provider_of(feed, settings, budgets) for feed in settings.configured_feeds() if feed not in followed
    ]


def followed_feeds(settings: Settings) -> list[Feed]:
    """Returns the feeds that another installation leads."""
    feeds = settings.configured_feeds()
    return [feed for feed in feeds if any(offer_of(name).follows for name in settings.providers_of(feed))]


def quote_provider(name: str, feed: Feed, settings: Settings, budgets: Budgets) -> QuoteProvider:
    """Returns one upstream's provider of a feed's quotes."""
    return offer_of(name).quotes[feed](settings.own[name], budgets)


def document_sources(settings: Settings, budgets: Budgets) -> list[DocumentSource]:
    """Returns the sources of news, assets and renames: the upstreams that quote the stocks have them too."""
    feed = Feed.STOCKS
    sources = []
    for name in settings.providers_of(feed):
        offer, own = offer_of(name), settings.own[name]
        if offer.news:
            sources.append(news_source(offer.news(own, budgets), feed))
        if offer.assets:
            sources.append(assets_source(offer.assets(own, budgets), feed))
        if offer.renames:
            sources.append(renames_source(offer.renames(own, budgets), feed))
    return sources


def _provider_of(feed: Feed, settings: Settings, budgets: Budgets) -> QuoteProvider:
    names = settings.providers_of(feed)
    providers = [quote_provider(name, feed, settings, budgets) for name in names]
    return providers[0] if len(providers) == 1 else Failover(providers)
