"""Examples of the answers to charts."""

from typing import Final

from quotecast.api.integrations.udf.configuration import configuration_with
from quotecast.api.integrations.udf.finding import FoundSymbol
from quotecast.api.integrations.udf.history import ChartBars
from quotecast.api.integrations.udf.marks import COLOR, FONT_COLOR, SIZE, Marks
from quotecast.api.integrations.udf.quotes import ChartQuotes, KnownQuote, QuoteValues
from quotecast.api.integrations.udf.symbols import SymbolInfo

CONFIGURATION: Final = configuration_with(["DOVIZ", "NASDAQ", "NYSE"])
SYMBOL: Final = SymbolInfo(
    name="AAPL",
    ticker="AAPL",
    description="Apple Inc.",
    type="stock",
    exchange="NASDAQ",
    listed_exchange="NASDAQ",
    timezone="America/New_York",
    session="0930-1600",
    session_holidays="20271224,20271125",
    corrections="0930-1300:20271126",
    minmov=1,
    pricescale=100,
    intraday_multipliers=["1", "5", "15"],
    supported_resolutions=["1", "5", "15", "30", "60", "240", "1D", "1W", "1M"],
    visible_plots_set="ohlcv",
    volume_precision=0,
    data_status="streaming",
    currency_code="USD",
)
FOUND: Final = [FoundSymbol("AAPL", "NASDAQ:AAPL", "Apple Inc.", "NASDAQ", "AAPL", "stock")]
BARS: Final = ChartBars(
    s="ok",
    t=[1_795_188_300, 1_795_188_600],
    o=[189.5, 189.72],
    h=[189.8, 189.9],
    l=[189.41, 189.7],
    c=[189.72, 189.84],
    v=[120400.0, 8100.0],
)
MARKS: Final = Marks(
    ["24843171"],
    [1_795_188_300],
    [COLOR],
    ["Apple opens a store"],
    ["N"],
    [FONT_COLOR],
    [SIZE],
)
QUOTES: Final = ChartQuotes(
    d=[
        KnownQuote(
            "AAPL",
            QuoteValues(
                lp=189.84,
                ch=1.22,
                chp=0.65,
                short_name="AAPL",
                exchange="NASDAQ",
                description="Apple Inc.",
                open_price=188.9,
                high_price=190.32,
                low_price=188.19,
                prev_close_price=188.62,
                volume=48425696.0,
            ),
        )
    ]
)
