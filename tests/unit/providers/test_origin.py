"""Bars and company data of an origin, by its REST interface."""

from datetime import UTC, date, datetime
from typing import Any

import httpx
import msgspec
import pytest

from quotecast.api.reference import financial_examples
from quotecast.errors import NotOffered, SymbolNotFound, UpstreamError
from quotecast.market.bars import Interval
from quotecast.market.feeds import Feed
from quotecast.market.financials import EarningsCalendar
from quotecast.providers.quotecast.history import MAX_PAGES, OriginHistory
from quotecast.providers.quotecast.rest import OriginFinancials, OriginRest
from quotecast.providers.transport.fetch import open_client

START, END = datetime(2026, 11, 20, 14, 40, tzinfo=UTC), datetime(2026, 11, 20, 16, 0, 0, 1000, tzinfo=UTC)


class Scripted(OriginRest):
    """An origin that answers what the test says, and remembers what it was asked."""

    def __init__(self, *answers: httpx.Response) -> None:
        super().__init__("wss://quotes.example.com")
        self.asked: list[httpx.URL] = []
        self._answers = list(answers)

    def open(self) -> httpx.AsyncClient:
        client = open_client("https://quotes.example.com")
        client._transport = httpx.MockTransport(self._answer)
        return client

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def answer(body: Any, status: int = 200, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    content = msgspec.json.encode(body)
    return httpx.Response(status, content=content, headers={"content-type": "application/json", **named})


def bar(time: str, close: float = 2.0, volume: float | None = 5.0) -> dict[str, Any]:
    return {
        "time": f"2026-11-20T{time}:00Z",
        "open": 2.0,
        "high": 3.0,
        "low": 1.0,
        "close": close,
        "volume": volume,
    }


async def test_pages_are_read_to_the_last_one() -> None:
    """The first page begins with the bar that holds the start."""
    rest = Scripted(answer([bar("14:00"), bar("15:00")], x_next_page="token"), answer([bar("16:00")]))
    bars = await OriginHistory(rest, Feed.CRYPTO).bars("BTC/USDT", "1h", START, END)
    assert [each.time for each in bars] == [f"2026-11-20T{hour}:00:00Z" for hour in (14, 15, 16)]
    first, second = rest.asked
    assert first.raw_path.startswith(b"/api/crypto/bars/BTC%2FUSDT?timeframe=1h&")
    assert dict(first.params) == {
        "timeframe": "1h",
        "start": str(int(datetime(2026, 11, 20, 14, tzinfo=UTC).timestamp())),
        "end": str(int(datetime(2026, 11, 20, 16, 0, 1, tzinfo=UTC).timestamp())),
        "limit": "1000",
    }
    assert second.params["page"] == "token"


@pytest.mark.parametrize(
    ("feed", "interval", "path"),
    [
        (Feed.STOCKS, "5m", "/api/market/bars/A?interval=5m"),
        (Feed.STOCKS, "30m", "/api/market/bars/A?interval=15m"),
        (Feed.DOVIZ, "D", "/api/doviz/bars/A?timeframe=D"),
    ],
)
async def test_each_feed_has_its_route(feed: Feed, interval: Interval, path: str) -> None:
    """Stocks have no route of half hours, and currencies have no volume."""
    rest = Scripted(answer([bar("14:30", 2.0, None), bar("14:45", 2.5, None)]))
    bars = await OriginHistory(rest, feed).bars("A", interval, START, END)
    assert str(rest.asked[0]).startswith(f"https://quotes.example.com{path}&")
    assert [(each.close, each.volume) for each in bars] == (
        [(2.5, 0.0)] if interval == "30m" else [(2.0, 0.0), (2.5, 0.0)]
    )


@pytest.mark.parametrize(
    "rows",
    [
        [bar("15:00"), bar("15:00")],
        [bar("15:00"), bar("14:00")],
        [bar("15:00", -1.0)],
        [{**bar("15:00"), "low": 9.0}],
        [{"time": "2026-11-20T15:00:00Z"}],
        {"bars": []},
    ],
)
async def test_unsound_bars_are_an_error_of_the_origin(rows: Any) -> None:
    """None of them reach the cache."""
    with pytest.raises(UpstreamError):
        await OriginHistory(Scripted(answer(rows)), Feed.CRYPTO).bars("BTC/USDT", "1h", START, END)


async def test_an_endless_history_ends() -> None:
    """An origin that always names another page must not hold a worker for ever."""
    rest = Scripted(answer([], x_next_page="token"))
    with pytest.raises(UpstreamError, match="pages"):
        await OriginHistory(rest, Feed.CRYPTO).bars("BTC/USDT", "1h", START, END)
    assert len(rest.asked) == MAX_PAGES


@pytest.mark.parametrize(
    ("status", "body", "raised"),
    [
        (404, {"detail": "Symbol not found", "code": "symbol_not_found"}, SymbolNotFound),
        (404, {"detail": "Not Found"}, UpstreamError),
        (503, {"detail": "Not in the upstream's plan", "code": "not_offered"}, NotOffered),
        (503, {"detail": "No provider configured for financials", "code": "no_provider"}, NotOffered),
        (503, {"detail": "Upstream unavailable", "code": "upstream"}, UpstreamError),
        (301, {}, UpstreamError),
    ],
)
async def test_errors_mean_what_they_mean_at_the_origin(
    status: int, body: Any, raised: type[Exception]
) -> None:
    """A gateway's 404 says nothing about a symbol."""
    rest = Scripted(answer(body, status, location="https://elsewhere.example"))
    with pytest.raises(raised) as caught:
        await OriginFinancials(rest).metrics("AAPL")
    assert type(caught.value) is raised or raised is UpstreamError


async def test_the_origins_limit_says_when_to_ask_again() -> None:
    """The cache waits as long."""
    rest = Scripted(
        answer({"detail": "Too Many Requests", "code": "too_many_requests"}, 429, retry_after="7")
    )
    with pytest.raises(UpstreamError) as caught:
        await OriginFinancials(rest).earnings("AAPL")
    assert caught.value.retry_after == 7


async def test_company_data_are_read_as_they_were_written() -> None:
    """The records of both installations are the same structs."""
    for name, path, example in (
        ("metrics", "metrics", financial_examples.METRICS),
        ("earnings", "earnings", financial_examples.EARNINGS),
        ("recommendations", "recommendations", financial_examples.RECOMMENDATIONS),
        ("revenue_estimates", "revenue-estimates", financial_examples.REVENUE_ESTIMATES),
        ("eps_estimates", "eps-estimates", financial_examples.EPS_ESTIMATES),
        ("earnings_quality", "earnings-quality", financial_examples.EARNINGS_QUALITY),
    ):
        rest = Scripted(answer(example))
        found = await getattr(OriginFinancials(rest), name)("BRK.B")
        assert rest.asked[0].path == f"/api/financials/company/BRK.B/{path}"
        assert msgspec.json.encode(found) == msgspec.json.encode(example)


async def test_the_calendar_is_asked_for_by_days() -> None:
    """Both ends are included."""
    rest = Scripted(answer(EarningsCalendar([], "2026-11-20", "2026-11-27")))
    found = await OriginFinancials(rest).earnings_calendar(date(2026, 11, 20), date(2026, 11, 27))
    assert dict(rest.asked[0].params) == {"from": "2026-11-20", "to": "2026-11-27"}
    assert found.covered_to == "2026-11-27"


async def test_the_calendar_of_one_company_names_it() -> None:
    """Its symbol is a parameter of the origin's route."""
    rest = Scripted(answer(EarningsCalendar([])))
    await OriginFinancials(rest).earnings_calendar(date(2026, 11, 20), date(2026, 11, 27), "BRK.B")
    assert dict(rest.asked[0].params)["symbol"] == "BRK.B"
