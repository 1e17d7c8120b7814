"""Company data of the simulated market: all records agree with each other and with the price."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quotecast.errors import SymbolNotFound
from quotecast.market.feeds import Feed
from quotecast.market.financials import EarningsEvent
from quotecast.market.reference import stocks
from quotecast.market.sessions import NEW_YORK, trading_day
from quotecast.providers.base import FinancialsProvider
from quotecast.simulation.market.financials import SimulatorFinancials
from quotecast.simulation.market.quoters import StockQuoter
from quotecast.simulation.market.reports import ordinal_at, quarter
from quotecast.simulation.market.venues import hours_of, stock_tapes

STOCKS = {stock.ticker: stock for stock in stocks()}
NOW = datetime(2026, 11, 20, 15, 30, tzinfo=UTC)
ALL_QUESTIONS = [
    "metrics",
    "earnings",
    "recommendations",
    "revenue_estimates",
    "eps_estimates",
    "earnings_quality",
]

tickers = st.sampled_from(sorted(STOCKS))
# The exchange's calendar takes long to compute for many years.
moments = st.datetimes(datetime(2025, 6, 1), datetime(2027, 6, 1), timezones=st.just(UTC))  # noqa: DTZ001
seeds = st.integers(0, 3)
property_test = settings(max_examples=20)


def provider(moment: datetime = NOW, seed: int = 1, *, always_open: bool = True) -> FinancialsProvider:
    return SimulatorFinancials(seed, moment.timestamp, always_open=always_open)


def decoded_answer(question: Awaitable[Any]) -> Any:
    """Returns the answer as a client decodes it from JSON."""

    async def ask() -> Any:
        return await question

    return msgspec.json.decode(msgspec.json.encode(asyncio.run(ask())))


def calendar(upstream: FinancialsProvider, first: date, last: date) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = decoded_answer(upstream.earnings_calendar(first, last))["earningsCalendar"]
    return events


@property_test
@given(tickers, moments, seeds, st.booleans())
def test_ratios_agree_with_the_price(ticker: str, moment: datetime, seed: int, always_open: bool) -> None:  # noqa: FBT001 - a case
    """Ratios use the quote's price at the same time; a price-earnings ratio is null with a loss."""
    stock = STOCKS[ticker]
    tape = stock_tapes([stock], seed, hours_of(Feed.STOCKS, always_open=always_open))[ticker]
    quote = StockQuoter(stock, tape).next_quote(int(moment.timestamp() * 1000))
    assert quote
    metric = decoded_answer(provider(moment, seed, always_open=always_open).metrics(ticker))["metric"]
    assert metric["marketCapitalization"] == pytest.approx(quote.price * stock.shares / 1e6)
    assert metric["52WeekLow"] <= quote.low
    assert metric["52WeekHigh"] >= quote.high
    for span in ("TTM", "Annual"):
        eps, ratio = metric[f"eps{span}"], metric[f"pe{span}"]
        assert (ratio is None) is (eps <= 0)
        assert ratio is None or ratio * eps == pytest.approx(quote.price, rel=1e-3)
        assert metric[f"ps{span}"] * metric[f"revenuePerShare{span}"] == pytest.approx(quote.price, rel=1e-3)
    book = metric["bookValuePerShareQuarterly"]
    assert metric["pbQuarterly"] * book == pytest.approx(quote.price, rel=1e-3)
    dividend = metric["dividendPerShareAnnual"]
    assert metric["dividendYieldIndicatedAnnual"] * quote.price / 100 == pytest.approx(dividend, abs=0.01)


@property_test
@given(tickers, moments, seeds)
def test_figures_agree_with_each_other(ticker: str, moment: datetime, seed: int) -> None:
    """Margins narrow from gross to net, dates lie within the year, and no figure is missing."""
    metric = decoded_answer(provider(moment, seed).metrics(ticker))["metric"]
    assert len(metric) >= 40
    today = moment.astimezone(NEW_YORK).date()
    for span in ("TTM", "Annual"):
        net = metric[f"netProfitMargin{span}"]
        assert metric[f"grossMargin{span}"] >= metric[f"operatingMargin{span}"] >= net
        assert metric[f"eps{span}"] / metric[f"revenuePerShare{span}"] * 100 == pytest.approx(net, abs=0.1)
    for name in ("52WeekHighDate", "52WeekLowDate"):
        assert today - timedelta(days=364) <= date.fromisoformat(metric[name]) <= today
    debt, long_term = metric["totalDebt/totalEquityQuarterly"], metric["longTermDebt/equityQuarterly"]
    assert 0 < long_term < debt
    assert metric["quickRatioQuarterly"] < metric["currentRatioQuarterly"]
    assert metric["10DayAverageTradingVolume"] > 0


@property_test
@given(tickers, moments, seeds)
def test_figures_agree_with_what_was_reported(ticker: str, moment: datetime, seed: int) -> None:
    """The trailing twelve months are the last four quarters, an annual figure its fiscal year's four."""
    upstream = provider(moment, seed)
    metrics, reported = decoded_answer(upstream.metrics(ticker)), decoded_answer(upstream.earnings(ticker))
    quarterly = {each["period"]: each["v"] for each in metrics["series"]["quarterly"]["eps"]}
    assert metrics["metric"]["epsTTM"] == pytest.approx(sum(each["actual"] for each in reported[:4]))
    assert [(each["period"], each["actual"]) for each in reported] == list(quarterly.items())[:8]
    annual = metrics["series"]["annual"]["eps"]
    assert annual[0]["v"] == metrics["metric"]["epsAnnual"]
    for year in annual:
        parts = [each["actual"] for each in reported if each["year"] == int(year["period"][:4])]
        if len(parts) == 4:
            assert year["v"] == pytest.approx(sum(parts))
    for series in metrics["series"].values():
        assert len({tuple(point["period"] for point in points) for points in series.values()}) == 1


@property_test
@given(tickers, moments, seeds)
def test_a_surprise_is_actual_less_estimate(ticker: str, moment: datetime, seed: int) -> None:
    """A surprise is the actual less the estimate, for eight consecutive quarters, newest first."""
    reported = decoded_answer(provider(moment, seed).earnings(ticker))
    numbers = [each["year"] * 4 + each["quarter"] for each in reported]
    assert numbers == list(range(numbers[0], numbers[0] - 8, -1))
    assert [each["period"] for each in reported] == sorted(
        (each["period"] for each in reported), reverse=True
    )
    for each in reported:
        assert each["surprise"] == pytest.approx(each["actual"] - each["estimate"], abs=1e-4)
        percent = each["surprisePercent"]
        assert percent * abs(each["estimate"]) / 100 == pytest.approx(each["surprise"], abs=1e-4)


@property_test
@given(tickers, moments, seeds)
def test_estimates_begin_where_reports_end(ticker: str, moment: datetime, seed: int) -> None:
    """Estimates cover the eight quarters after the last report, nearest last, with low <= mean <= high."""
    upstream = provider(moment, seed)
    last = decoded_answer(upstream.earnings(ticker))[0]
    earned, sold = (
        decoded_answer(upstream.eps_estimates(ticker)),
        decoded_answer(upstream.revenue_estimates(ticker)),
    )
    after = last["year"] * 4 + last["quarter"]
    for estimates, name in ((earned, "eps"), (sold, "revenue")):
        assert (estimates["symbol"], estimates["freq"]) == (ticker, "quarterly")
        numbers = [each["year"] * 4 + each["quarter"] for each in estimates["data"]]
        assert numbers == list(range(after + 8, after, -1))
        for each in estimates["data"]:
            assert each[f"{name}Low"] <= each[f"{name}Avg"] <= each[f"{name}High"]
            assert each["numberAnalysts"] > 0


@pytest.mark.slow
@settings(max_examples=15)
@given(moments, seeds)
def test_the_calendar_agrees_with_the_records(moment: datetime, seed: int) -> None:
    """The calendar has the same estimates and actuals as the records, on trading days, by date."""
    upstream = provider(moment, seed)
    today = moment.astimezone(NEW_YORK).date()
    events = calendar(upstream, today - timedelta(days=3), today + timedelta(days=3))
    assert [each["date"] for each in events] == sorted(each["date"] for each in events)
    for each in events[:20]:
        assert trading_day(date.fromisoformat(each["date"]))
        coming = decoded_answer(upstream.eps_estimates(each["symbol"]))["data"]
        records = decoded_answer(upstream.earnings(each["symbol"]))
        reported = {(each["year"], each["quarter"]): (each["estimate"], each["actual"]) for each in records}
        expected = {(each["year"], each["quarter"]): (each["epsAvg"], None) for each in coming}
        fiscal = each["year"], each["quarter"]
        assert (each["epsEstimate"], each["epsActual"]) == (reported | expected)[fiscal]
        assert (each["revenueActual"] is None) is (each["epsActual"] is None)


@pytest.mark.slow
def test_every_company_reports_once_a_quarter() -> None:
    """Every company reports each fiscal quarter once, in order."""
    events = calendar(provider(), date(2025, 1, 1), date(2026, 12, 31))
    for ticker in STOCKS:
        numbers = [each["year"] * 4 + each["quarter"] for each in events if each["symbol"] == ticker]
        assert 7 <= len(numbers) <= 9
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


@pytest.mark.slow
@settings(max_examples=15)
@given(st.dates(date(2025, 6, 1), date(2027, 1, 1)), st.integers(0, 40), st.integers(1, 40))
def test_a_calendar_is_the_sum_of_its_parts(first: date, one: int, other: int) -> None:
    upstream = provider()
    middle, last = first + timedelta(days=one), first + timedelta(days=one + other)
    assert calendar(upstream, first, last) == [
        *calendar(upstream, first, middle),
        *calendar(upstream, middle + timedelta(days=1), last),
    ]


@pytest.mark.parametrize(("hour", "clock"), [("bmo", (7, 0)), ("amc", (16, 30))])
def test_a_report_is_out_at_its_hour(hour: str, clock: tuple[int, int]) -> None:
    """A report appears in the earnings from its hour on: before the open or after the close in New York."""
    events = calendar(provider(), date(2026, 10, 1), date(2026, 11, 1))
    due = msgspec.convert(next(each for each in events if each["hour"] == hour), EarningsEvent)
    out = datetime.combine(date.fromisoformat(due.date), time(*clock), NEW_YORK)
    for moment, is_out in ((out - timedelta(seconds=1), False), (out, True)):
        upstream = provider(moment)
        (event,) = (
            each for each in calendar(upstream, out.date(), out.date()) if each["symbol"] == due.symbol
        )
        assert (event["epsActual"] is not None) is is_out
        last = decoded_answer(upstream.earnings(due.symbol))[0]
        assert ((last["year"], last["quarter"]) == (due.year, due.quarter)) is is_out


@pytest.mark.parametrize(
    ("first", "last"),
    [(date.min, date(1994, 12, 31)), (date(2100, 1, 1), date.max), (date(2026, 11, 21), date(2026, 11, 22))],
)
def test_there_are_days_without_reports(first: date, last: date) -> None:
    """Weekends, and days beyond the exchange's calendar, have no reports."""
    assert calendar(provider(), first, last) == []


@property_test
@given(tickers, moments, seeds)
def test_the_same_analysts_speak_every_month(ticker: str, moment: datetime, seed: int) -> None:
    """Recommendations cover consecutive months, newest first, with the same number of analysts."""
    opinions = decoded_answer(provider(moment, seed).recommendations(ticker))
    months = [date.fromisoformat(each["period"]) for each in opinions]
    assert months[0] == moment.astimezone(NEW_YORK).date().replace(day=1)
    assert all((later - timedelta(days=1)).replace(day=1) == earlier for later, earlier in pairwise(months))
    names = ("strongBuy", "buy", "hold", "sell", "strongSell")
    assert len({sum(each[name] for name in names) for each in opinions}) == 1
    assert all(each[name] >= 0 for each in opinions for name in names)


@property_test
@given(tickers, moments, seeds)
def test_a_score_is_the_mean_of_its_parts(ticker: str, moment: datetime, seed: int) -> None:
    """A score is the mean of its parts, from 0 to 100, for each reported quarter."""
    upstream = provider(moment, seed)
    quality = decoded_answer(upstream.earnings_quality(ticker))
    periods = [each["period"] for each in decoded_answer(upstream.earnings(ticker))]
    assert [each["period"] for each in quality["data"]] == periods
    for each in quality["data"]:
        parts = [
            each[name] for name in ("growth", "profitability", "cashGenerationCapitalAllocation", "leverage")
        ]
        assert all(0 <= part <= 100 for part in parts)
        assert each["score"] == pytest.approx(sum(parts) / 4, abs=1e-3)


def test_a_better_score_has_no_worse_letter() -> None:
    order = ["F", "D", "D+", "C-", "C", "C+", "B-", "B", "B+", "A-", "A", "A+"]
    upstream = provider()
    scores = [
        (each["score"], order.index(each["letterScore"]))
        for ticker in list(STOCKS)[::10]
        for each in decoded_answer(upstream.earnings_quality(ticker))["data"]
    ]
    assert [letter for _, letter in sorted(scores)] == sorted(letter for _, letter in scores)
    assert len({letter for _, letter in scores}) > 4


@pytest.mark.parametrize("question", ALL_QUESTIONS)
def test_same_seed_same_companies(question: str) -> None:
    """The same seed yields the same companies, and another seed others."""

    def all_answers(seed: int) -> list[Any]:
        upstream = provider(seed=seed)
        return [decoded_answer(getattr(upstream, question)(ticker)) for ticker in ("AAPL", "MSFT", "NVDA")]

    assert all_answers(1) == all_answers(1)
    assert all_answers(1) != all_answers(2)


@pytest.mark.parametrize("question", ALL_QUESTIONS)
async def test_an_unknown_symbol_is_not_found(question: str) -> None:
    ask: Callable[[str], Awaitable[object]] = getattr(provider(), question)
    with pytest.raises(SymbolNotFound):
        await ask("NOPE")


def test_most_companies_earn_money() -> None:
    """Most companies earn a profit, some a loss, and ratios are plausible."""
    upstream = provider()
    ratios = [decoded_answer(upstream.metrics(ticker))["metric"]["peTTM"] for ticker in list(STOCKS)[::10]]
    profitable = [ratio for ratio in ratios if ratio]
    assert 0.8 * len(ratios) < len(profitable) < len(ratios)
    assert 12 < sorted(profitable)[len(profitable) // 2] < 40


@given(st.integers(1990 * 4, 2100 * 4), st.integers(1, 12))
def test_fiscal_quarters_follow_each_other(ordinal: int, last_month: int) -> None:
    """Every day belongs to one fiscal quarter, and the fourth ends the fiscal year."""
    one, after = quarter(ordinal, last_month), quarter(ordinal + 1, last_month)
    assert ordinal_at(one.end, last_month) == ordinal
    assert ordinal_at(one.end + timedelta(days=1), last_month) == ordinal + 1
    assert 89 <= (after.end - one.end).days <= 92
    assert (one.number == 4) is (one.end.month == last_month)
    assert one.number != 4 or one.end.year == one.year
