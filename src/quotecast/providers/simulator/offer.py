"""The simulator's offer: all feeds, bars, news, assets and company data of a simulated market."""

import time
from functools import partial
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from quotecast.market.feeds import Feed
from quotecast.providers.offer import Budgets, ExchangeNow, Offer
from quotecast.providers.simulator.assets import SimulatorAssets
from quotecast.providers.simulator.bars import SimulatorHistory
from quotecast.providers.simulator.client import SimulatorProvider
from quotecast.providers.simulator.financials import SimulatorFinancials
from quotecast.providers.simulator.news import SimulatorNews


class SimulatorSettings(Struct, frozen=True, kw_only=True):
    """The settings `QUOTECAST_SIMULATOR_*`."""

    seed: Annotated[int, Meta(ge=0, le=2**63 - 1, description="Same seed, same invented market")] = 1
    hours: Annotated[
        Literal["always", "exchange"],
        Meta(description="Whether the simulated exchange never closes or keeps the New York calendar"),
    ] = "always"
    rate: Annotated[
        float, Meta(gt=0, le=100_000, description="Updates per second that the simulator sends on each feed")
    ] = 50.0
    speed: Annotated[float, Meta(gt=0, le=10_000, description="Simulated seconds per real second")] = 1.0

    @property
    def always_open(self) -> bool:
        """Returns whether the simulated exchange never closes."""
        return self.hours == "always"


def _quotes(feed: Feed, settings: SimulatorSettings, _budgets: Budgets) -> SimulatorProvider:
    return SimulatorProvider(
        feed,
        seed=settings.seed,
        rate=settings.rate,
        speed=settings.speed,
        always_open=settings.always_open,
    )


def _history(
    feed: Feed, settings: SimulatorSettings, _budgets: Budgets, _exchange: ExchangeNow
) -> SimulatorHistory:
    return SimulatorHistory(feed, seed=settings.seed, always_open=settings.always_open)


def _news(settings: SimulatorSettings, _budgets: Budgets) -> SimulatorNews:
    return SimulatorNews(settings.seed, time.time)


def _assets(_settings: SimulatorSettings, _budgets: Budgets) -> SimulatorAssets:
    return SimulatorAssets()


def _financials(settings: SimulatorSettings, _budgets: Budgets) -> SimulatorFinancials:
    return SimulatorFinancials(settings.seed, always_open=settings.always_open)


OFFER: Final = Offer(
    settings=SimulatorSettings,
    simulated=True,
    quotes={feed: partial(_quotes, feed) for feed in (Feed.STOCKS, Feed.CRYPTO, Feed.DOVIZ)},
    history={feed: partial(_history, feed) for feed in (Feed.STOCKS, Feed.CRYPTO)},
    news=_news,
    assets=_assets,
    financials=_financials,
)
