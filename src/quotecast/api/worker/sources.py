"""Providers that answer requests for bars and company data, selected by the settings."""

from quotecast.market.feeds import Feed
from quotecast.providers.base import Admission, FinancialsProvider, HistoryProvider, unlimited
from quotecast.providers.offer import FINANCIALS, Budgets, ExchangeNow
from quotecast.providers.offers import offer_of
from quotecast.settings.model import Settings


def history_providers(
    settings: Settings, budgets: Budgets, exchange: ExchangeNow
) -> dict[Feed, dict[str, HistoryProvider]]:
    """Returns the providers of bars for each feed, by name."""
    return {feed: {bars.name: bars for bars in _of_feed(feed, settings, budgets, exchange)} for feed in Feed}


def financials_provider(settings: Settings, budgets: Budgets) -> FinancialsProvider | None:
    """Returns the provider of company data; None if the operator chose none."""
    for name in settings.providers_of(FINANCIALS):
        if make := offer_of(name).financials:
            return make(settings.own[name], budgets)
    return None


def unlisted_admission(settings: Settings, budgets: Budgets) -> Admission:
    """Returns the admission of requests about companies that are not listed."""
    for name in settings.providers_of(FINANCIALS):
        if make := offer_of(name).unlisted:
            return make(settings.own[name], budgets)
    return unlimited


def _of_feed(
    feed: Feed, settings: Settings, budgets: Budgets, exchange: ExchangeNow
) -> list[HistoryProvider]:
    names = [name for name in settings.providers_of(feed) if feed in offer_of(name).history]
    return [offer_of(name).history[feed](settings.own[name], budgets, exchange) for name in names]
