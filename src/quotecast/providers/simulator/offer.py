"""The simulator's offer: all feeds, bars, news, assets and company data of a simulated market."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from quotecast.environment import PREFIX
from quotecast.errors import SettingsError
from quotecast.market.feeds import Feed
from quotecast.providers.offer import Budgets, ExchangeNow, Offer, Terms
from quotecast.providers.simulator.client import SimulatorProvider
from quotecast.simulation.market.actions import SimulatorActions
from quotecast.simulation.market.financials import SimulatorFinancials
from quotecast.simulation.market.history import SimulatorHistory
from quotecast.simulation.market.invented import MAX_STOCKS, TABLE_STOCKS, SimulatorAssets
from quotecast.simulation.market.news import SimulatorNews
from quotecast.simulation.market.scenarios.catalogue import ScenarioError
from quotecast.simulation.market.scenarios.planning import plan_of
from quotecast.simulation.market.scenarios.schedule import Planned, Schedule


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
    stocks: Annotated[
        int,
        Meta(
            ge=TABLE_STOCKS,
            le=MAX_STOCKS,
            description="Number of simulated stocks; those beyond the table of large companies are invented",
        ),
    ] = TABLE_STOCKS
    speed: Annotated[float, Meta(gt=0, le=10_000, description="Simulated seconds per real second")] = 1.0
    scenario: Annotated[
        str,
        Meta(
            description="Events of the simulated market, such as `halt@2026-11-20T15:00:00Z,symbols=AAPL`: "
            "several separated by `;`, or a TOML file; `quotecast up --scenario` sets it"
        ),
    ] = ""

    def plan(self, now: int | None) -> list[Planned]:
        """Returns the scenarios; see `plan_of`. Raises ScenarioError."""
        return plan_of([self.scenario], now) if self.scenario else []


def _problems(settings: SimulatorSettings) -> Iterator[str]:
    try:
        settings.plan(int(time.time() * 1000))
    except ScenarioError as error:
        yield f"SCENARIO: {error}"


def _schedule(settings: SimulatorSettings) -> Schedule:
    """Returns the scenarios. Raises SettingsError if other processes would begin them at other times."""
    try:
        return Schedule(settings.plan(None))
    except ScenarioError as error:
        remedy = "; `quotecast up` also takes +SECONDS, HH:MM and no start"
        raise SettingsError(f"{PREFIX}SIMULATOR_SCENARIO: {error}{remedy}") from error


def _is_always_open(settings: SimulatorSettings, schedule: Schedule) -> bool:
    """Returns whether the exchange never closes; a special day is one of New York's calendar."""
    return settings.hours == "always" and not schedule.special_days()


def _market_clock(speed: float) -> Callable[[], float]:
    """Returns a clock that runs `speed` times as fast as Unix time, from now on."""
    began = time.time()
    return lambda: began + (time.time() - began) * speed


def _quotes(feed: Feed, settings: SimulatorSettings, _budgets: Budgets) -> SimulatorProvider:
    schedule = _schedule(settings)
    return SimulatorProvider(
        feed,
        seed=settings.seed,
        rate=settings.rate,
        speed=settings.speed,
        always_open=_is_always_open(settings, schedule),
        schedule=schedule,
        stocks=settings.stocks,
    )


def _history(
    feed: Feed, settings: SimulatorSettings, _budgets: Budgets, _exchange: ExchangeNow
) -> SimulatorHistory:
    schedule = _schedule(settings)
    return SimulatorHistory(
        feed,
        seed=settings.seed,
        always_open=_is_always_open(settings, schedule),
        schedule=schedule,
        stocks=settings.stocks,
    )


def _financials(settings: SimulatorSettings, _budgets: Budgets) -> SimulatorFinancials:
    schedule = _schedule(settings)
    return SimulatorFinancials(
        settings.seed, always_open=_is_always_open(settings, schedule), schedule=schedule
    )


OFFER: Final = Offer[SimulatorSettings](
    settings=SimulatorSettings,
    problems=_problems,
    simulated=True,
    terms={"simulator": Terms(show="yes", store="yes", redistribute="yes", summary="made up")},
    quotes={feed: partial(_quotes, feed) for feed in Feed},
    history={feed: partial(_history, feed) for feed in Feed},
    news=lambda settings, _budgets: SimulatorNews(settings.seed, time.time, _schedule(settings)),
    assets=lambda settings, _budgets: SimulatorAssets(
        _schedule(settings), _market_clock(settings.speed), stocks=settings.stocks
    ),
    financials=_financials,
    actions=lambda settings, _budgets: SimulatorActions(
        settings.seed, _schedule(settings), _market_clock(settings.speed)
    ),
)
