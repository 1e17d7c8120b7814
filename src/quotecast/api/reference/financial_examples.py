"""Examples of company data in the documents."""

from typing import Final

from quotecast.market.financials import (
    Earnings,
    EarningsCalendar,
    EarningsEvent,
    EarningsQuality,
    EpsEstimate,
    Estimates,
    Metrics,
    QualityScore,
    Recommendation,
    RevenueEstimate,
    Series,
    SeriesPoint,
)

METRICS: Final = Metrics(
    symbol="AAPL",
    metric_type="all",
    metric={
        "52WeekHigh": 324.45,
        "52WeekHighDate": "2026-08-17",
        "52WeekLow": 211.92,
        "52WeekLowDate": "2025-12-06",
        "10DayAverageTradingVolume": 101.98651,
        "marketCapitalization": 4439979.6,
        "beta": 1.057,
        "epsTTM": 8.61,
        "peTTM": 34.7491,
        "netProfitMarginTTM": 20.0947,
        "dividendYieldIndicatedAnnual": 1.1631,
    },
    series=Series(
        annual={"eps": [SeriesPoint("2025-12-31", 8.68)]},
        quarterly={"eps": [SeriesPoint("2026-09-30", 2.12)]},
    ),
    currency="USD",
)
EARNINGS: Final = [
    Earnings(
        symbol="AAPL",
        period="2026-09-30",
        quarter=3,
        year=2026,
        actual=2.12,
        estimate=2.1004,
        surprise=0.0196,
        surprise_percent=0.9332,
        currency="USD",
    )
]
RECOMMENDATIONS: Final = [
    Recommendation(symbol="AAPL", period="2026-11-01", strong_buy=2, buy=11, hold=15, sell=10, strong_sell=3)
]
REVENUE_ESTIMATES: Final = Estimates(
    "AAPL",
    "quarterly",
    [
        RevenueEstimate(
            period="2026-12-31",
            quarter=4,
            year=2026,
            revenue_avg=155917329988.0,
            revenue_high=157788337948.0,
            revenue_low=154046322028.0,
            number_analysts=41,
        )
    ],
    currency="USD",
)
EPS_ESTIMATES: Final = Estimates(
    "AAPL",
    "quarterly",
    [
        EpsEstimate(
            period="2026-12-31",
            quarter=4,
            year=2026,
            eps_avg=2.1587,
            eps_high=2.2235,
            eps_low=2.0939,
            number_analysts=41,
        )
    ],
    currency="USD",
)
EARNINGS_QUALITY: Final = EarningsQuality(
    "AAPL",
    "quarterly",
    [
        QualityScore(
            period="2026-09-30",
            growth=55.7988,
            profitability=75.386,
            cash_generation_capital_allocation=51.0478,
            leverage=70.199,
            score=63.1079,
            letter_score="B-",
        )
    ],
)
EARNINGS_CALENDAR: Final = EarningsCalendar(
    [
        EarningsEvent(
            symbol="AAPL",
            date="2026-11-06",
            hour="amc",
            year=2026,
            quarter=3,
            eps_estimate=2.1004,
            eps_actual=2.12,
            revenue_estimate=152508762851.0,
            revenue_actual=152694100213.0,
        )
    ],
    covered_from="2026-11-02",
    covered_to="2026-11-09",
)
