"""A simulated Finnhub with the companies and faults that a test gives."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

from fakes.http import Answer, FakeHttp, Row
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.finnhub.companies import Companies
from quotecast.simulation.vendors.finnhub.errors import NO_ACCESS, TOO_MANY
from quotecast.simulation.vendors.finnhub.server import VERSION, FinnhubServer
from quotecast.simulation.vendors.market import Market
from support.stages.caching import Clock

__all__ = ["NO_ACCESS", "TOO_MANY", "VERSION", "FakeFinnhub"]

MARKET: Final = Market(0)
#: Calls in a minute of the plan that our adapter keeps to.
CALLS_PER_MINUTE: Final = 60


class GivenCompanies(Companies):
    """The answer of each path by symbol, and the rows of a calendar."""

    def __init__(self) -> None:
        super().__init__(MARKET, MarketClock())
        self.companies: dict[str, dict[str, Any]] = {}
        self.reports: Sequence[Row] = ()

    def answer(self, path: str, symbol: str) -> Any | None:
        found: Mapping[str, Any] = self.companies.get(symbol, {})
        return found.get(path)

    def events(self, first: date, last: date) -> Sequence[Row]:
        return [row for row in self.reports if first <= date.fromisoformat(row["date"]) <= last]


class FakeFinnhub(FakeHttp, FinnhubServer):
    """A fake Finnhub, which serves inside `async with`; tests may change every attribute while it serves.

    `companies` has the answer of each path by symbol; other paths and symbols get the answer for an
    unknown symbol. `rest.premium` selects the plan.
    """

    def __init__(self, port: int = 0) -> None:
        self.given = GivenCompanies()
        super().__init__(MARKET, MarketClock(), port=port, key="key", companies=self.given)
        self.limits.per_minute = CALLS_PER_MINUTE

    def follow_clock(self, clock: Clock) -> None:
        """Lets that clock give the time."""
        self.clock = MarketClock(now=clock)

    @property
    def base(self) -> str:
        return self.url + VERSION

    @property
    def key(self) -> str:
        return self._key or ""

    @key.setter
    def key(self, key: str) -> None:
        self._key = key

    @property
    def companies(self) -> dict[str, dict[str, Any]]:
        return self.given.companies

    @companies.setter
    def companies(self, companies: dict[str, dict[str, Any]]) -> None:
        self.given.companies = companies

    @property
    def events(self) -> Sequence[Row]:
        return self.given.reports

    @events.setter
    def events(self, rows: Sequence[Row]) -> None:
        self.given.reports = rows

    def now(self) -> float:
        """Returns the server's time in Unix seconds."""
        return self.clock.moment() / 1000

    def fail(self, answer: Answer, *paths: str) -> None:
        """Returns this answer from those paths from now on."""
        self.answers |= {VERSION + path: answer for path in paths}
