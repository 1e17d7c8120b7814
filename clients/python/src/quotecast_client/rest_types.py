"""Types of what the service answers, from its OpenAPI document.

Made by scripts/make_types.py; not to be edited.
"""

from __future__ import annotations

from typing import Any, Literal, Optional, TypedDict, Union

#: Length of a bar: `1m` is a minute, `M` a month. `1Min`, `1Hour`, `1Day` and the like mean the same
Interval = Literal["1m", "5m", "15m", "30m", "1h", "4h", "D", "W", "M"]
#: How far back from `end`, in any letter case; `1D` without `start` and `limit`
Span = Literal["1D", "5D", "1M", "3M", "6M", "YTD", "1Y", "5Y"]
#: How far back the values reach: each day, of `5Y` each week
ValueSpan = Literal["1M", "3M", "6M", "YTD", "1Y", "5Y"]
#: Which shares a sale takes: the oldest (`fifo`), or a part of all at their average cost
HowSold = Literal["fifo", "average"]
#: What the positions of a part have in common; only stocks have a sector
AllocatedBy = Literal["symbol", "type", "currency", "sector"]
#: `asc` has the oldest bar first, `desc` the newest
Order = Literal["asc", "desc"]
#: `own` asks for bars made from the service's own quotes only
Source = Literal["own"]
#: `extended` adds the hours before and after regular sessions
Hours = Literal["regular", "extended"]
#: Actions for which bars are adjusted: none (`raw`), splits, or splits and dividends (`all`); weeks
#: and months for splits only
Adjusted = Literal["raw", "splits", "all"]
#: Amount of a metal that a price is for
MetalUnit = Literal["ounce", "gram", "kilogram"]
#: Kind of the symbols; by default the first of stock, crypto and doviz that has one
Kind = Literal["stock", "crypto", "doviz"]


class AccountDeletion(TypedDict):
    """The body of the deletion of an account."""

    #: Your present password
    password: str


class AlertChange(TypedDict, total=False):
    """The body of a request that changes an alert; a field that is not given stays."""

    #: `above` and `below` a price; `rises` and `falls` by a percentage in a window
    condition: Literal["above", "below", "falls", "rises"]
    #: A price above 0, in the quote's currency; or a percentage from 0.01 to 1000, of a fall at most 99.99
    value: float
    #: For `rises` and `falls`: the time of the change; `day` counts from the previous close
    window: Optional[Literal["15m", "1h", "5m", "day"]]
    #: At most 200 characters; blanks around it do not count
    note: str
    #: Whether each crossing is an event; otherwise the first one ends the alert
    repeats: bool
    #: Whether events go to your webhook
    webhook: bool
    #: Whether events go to your subscribed browsers
    push: bool
    #: `false` pauses the alert, `true` starts it again
    active: bool


class AlertShown(TypedDict):
    """Schema AlertShown."""

    #: Id
    id: str
    #: Symbol that identifies the instrument in requests
    ticker: str
    #: Kind of instrument
    type: Literal["stock", "crypto", "doviz"]
    #: `above` and `below` a price; `rises` and `falls` by a percentage in a window
    condition: Literal["above", "below", "rises", "falls"]
    #: Price in the currency of the instrument, or percentage, of the condition
    value: float
    #: Time of the change; `day` counts from the previous close; null for prices
    window: Optional[Literal["5m", "15m", "1h", "day"]]
    #: Your text for the alert; may be empty
    note: str
    #: Whether each crossing is an event; otherwise the first one ends the alert
    repeats: bool
    #: Whether events go to your webhook
    webhook: bool
    #: Whether events go to your subscribed browsers
    push: bool
    #: Whether the alert waits for a crossing; false after a pause or its only event
    active: bool
    #: Time of creation: ISO 8601 in UTC
    created_at: str
    #: Time from which crossings count: ISO 8601 in UTC
    armed_at: str


class Allocation(TypedDict):
    """Schema Allocation."""

    #: ISO 4217 code of the values
    currency: str
    #: What the positions of a part have in common
    by: Literal["symbol", "type", "currency", "sector"]
    #: An exact decimal, with all its digits and no exponent
    market_value: float
    #: Parts of the value, the largest first
    parts: list[AllocationPart]
    #: Symbols that the values lack
    missing: list[Missing]


class AllocationPart(TypedDict):
    """Schema AllocationPart."""

    #: Symbol, type, currency or sector; null for positions without a sector
    name: Optional[str]
    #: Tickers of the positions, in alphabetical order
    tickers: list[str]
    #: An exact decimal, with all its digits and no exponent
    market_value: float
    #: Part of the whole value: 0.1 is ten percent
    weight: float


class Article(TypedDict):
    """Schema Article."""

    #: Id
    id: str
    #: Headline in plain text
    headline: str
    #: Summary in plain text; may be empty
    summary: str
    #: Name of the author; empty if unknown
    author: str
    #: Name of the publisher
    source: str
    #: Address
    url: Optional[str]
    #: Pictures of the article, by size
    images: list[NewsImage]
    #: Tickers of the stocks that the article is about
    symbols: list[str]
    #: Time of creation: ISO 8601 in UTC
    created_at: str
    #: Time of the last change: ISO 8601 in UTC
    updated_at: str


class Asset(TypedDict):
    """Schema Asset."""

    #: Symbol that identifies the instrument in requests
    ticker: str
    #: Name in words
    name: str
    #: Exchange that lists the instrument
    exchange: str
    #: Class of the asset; of stocks always `us_equity`
    assetClass: str
    #: Sector of the company; `Other` if unknown
    sector: str
    #: Industry of the company; `Other` if unknown
    industry: str
    #: Whether the stock can be traded
    tradable: bool


class Bar(TypedDict):
    """Schema Bar."""

    #: Opening time of the bar: ISO 8601 in UTC
    time: str
    #: First price of the interval or trading day, in the currency of the instrument
    open: float
    #: Highest price of the interval or trading day, in the currency of the instrument
    high: float
    #: Lowest price of the interval or trading day, in the currency of the instrument
    low: float
    #: Last price of the interval, in the currency of the instrument
    close: float
    #: Traded amount of the interval: shares, or units of the pair's coin
    volume: float


class _ChartBars(TypedDict):
    """Fields that each ChartBars has."""

    #: Status that charts read: `ok`, `no_data` without bars, or `error`
    s: Literal["ok", "no_data"]


class ChartBars(_ChartBars, total=False):
    """Schema ChartBars."""

    #: Unix times in seconds of the bars; of a day or longer, midnight UTC of the first trading day
    t: list[int]
    #: First prices of the intervals, in the currency of the instrument
    o: list[float]
    #: Highest prices of the intervals, in the currency of the instrument
    h: list[float]
    #: Lowest prices of the intervals, in the currency of the instrument
    l: list[float]
    #: Last prices of the intervals, in the currency of the instrument
    c: list[float]
    #: Volumes of the intervals, in units of the instrument; absent without volumes
    v: list[float]
    #: Unix time in seconds of the last bar before a span without bars; absent if there is none
    nextTime: int


class _ChartProblem(TypedDict):
    """Fields that each ChartProblem has."""

    #: Error for people: one sentence
    detail: str
    #: Status that charts read: `ok`, `no_data` without bars, or `error`
    s: Literal["error"]
    #: What is wrong, for the user of a chart
    errmsg: str


class ChartProblem(_ChartProblem, total=False):
    """Schema ChartProblem."""

    #: Error for programs; the guide to errors has the remedy of each
    code: str
    #: Id of the request; name it in a report
    request_id: str
    #: Each wrong field
    errors: list[FieldProblem]


class ChartQuotes(TypedDict):
    """Schema ChartQuotes."""

    #: Status that charts read: `ok`, `no_data` without bars, or `error`
    s: Literal["ok"]
    #: One item for each name, in the order of the request
    d: list[Union[KnownQuote, UnknownQuote]]


class Configuration(TypedDict):
    """Schema Configuration."""

    #: Whether a chart asks for searches
    supports_search: bool
    #: Always false: a chart does not ask for lists of all symbols
    supports_group_request: bool
    #: Whether a chart asks for marks on bars
    supports_marks: bool
    #: Always false: there are no marks on the axis of times
    supports_timescale_marks: bool
    #: Whether a chart asks for the time of the service
    supports_time: bool
    #: Resolutions that a chart can show: minutes, or `1D`, `1W` and `1M`
    supported_resolutions: list[str]
    #: Exchanges by which a search can select, the first one for all
    exchanges: list[ExchangeChoice]
    #: Types of instruments by which a search can select, the first one for all
    symbols_types: list[TypeChoice]


ConversionRate = TypedDict(
    "ConversionRate",
    {
        "from": "str",
        "to": "str",
        "rate": "float",
        "date": "Optional[str]",
        "dateAsked": "Optional[str]",
        "rates": "list[RateShown]",
    },
    total=True,
)


class ConvertedPosition(TypedDict):
    """Schema ConvertedPosition."""

    #: ISO 4217 code of the amounts
    currency: str
    #: An exact decimal, with all its digits and no exponent
    cost: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    realized_gain: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    dividends: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    fees: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    market_value: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    unrealized_gain: Optional[float]
    #: Rates that converted the amounts, in their order
    rates: list[RateShown]


class ConvertedShown(TypedDict):
    """Schema ConvertedShown."""

    #: ISO 4217 code of the amounts
    currency: str
    #: Current value of the holding, in `currency`
    market_value: float
    #: Value minus cost, in `currency`
    gain: float
    #: Rates that converted the amounts, in their order
    rates: list[RateShown]


class CorporateAction(TypedDict):
    """Schema CorporateAction."""

    #: Id of the action at its provider
    id: str
    #: Kind of the action
    type: Literal["split", "stock_dividend", "cash_dividend", "rename", "merger"]
    #: Ticker of the stock before the action
    symbol: str
    #: First day of the prices after the action: YYYY-MM-DD
    exDate: str
    #: Day whose holders the action is for: YYYY-MM-DD; null if unknown
    recordDate: Optional[str]
    #: Day on which shares or money are paid: YYYY-MM-DD; null if unknown
    payableDate: Optional[str]
    #: Shares before the action, for `newShares` after it; null for dividends in cash and renames
    oldShares: Optional[float]
    #: Shares after the action, for `oldShares` before it; null for dividends in cash and renames
    newShares: Optional[float]
    #: Dividend of one share, in `currency`; null for other actions
    amount: Optional[float]
    #: ISO 4217 code of the dividend; null for other actions
    currency: Optional[str]
    #: Ticker after a rename or a merger in shares; otherwise null
    newSymbol: Optional[str]
    #: Name of the provider of the action
    provider: str
    #: Time when the service first read it in this form: ISO 8601 in UTC; null without `as_of`
    knownAt: Optional[str]


class Credentials(TypedDict):
    """The body of a login."""

    #: At most 254 characters; letter case makes no difference
    email: str
    #: At most 128 characters
    password: str


class CryptoQuote(TypedDict):
    """Schema CryptoQuote."""

    #: Name of the provider of the price; `simulator` for invented prices
    provider: str
    #: Exchange that lists the instrument
    exchange: str
    #: Symbol that identifies the instrument in requests
    ticker: str
    #: Name in words
    name: str
    #: Ticker of the coin that the pair prices
    symbol: str
    #: Last price of one unit, in the currency of the instrument
    price: float
    #: Highest price at which somebody buys, in the quote currency of the pair
    bid: Optional[float]
    #: Lowest price at which somebody sells, in the quote currency of the pair
    ask: Optional[float]
    #: Price minus the price 24 hours ago, in the quote currency of the pair
    change: Optional[float]
    #: Change from the price 24 hours ago, in percent
    changePercent: Optional[float]
    #: Price 24 hours ago, in the quote currency of the pair
    open: Optional[float]
    #: Highest price of the last 24 hours, in the quote currency of the pair
    high: Optional[float]
    #: Lowest price of the last 24 hours, in the quote currency of the pair
    low: Optional[float]
    #: Traded amount of the last 24 hours, in units of the pair's coin
    volume: Optional[float]
    #: Time of the last trade or price: ISO 8601 in UTC; null if unknown
    timestamp: Optional[str]
    #: Kind of instrument
    type: Literal["crypto_quote"]


class CryptoSymbol(TypedDict):
    """Schema CryptoSymbol."""

    #: Symbol that identifies the instrument in requests
    ticker: str
    #: Ticker of the coin that the pair prices
    symbol: str
    #: Name in words
    name: str
    #: Currency or coin in which the pair is priced
    quote: str
    #: Exchange that lists the instrument
    exchange: str
    #: Name of the provider of the price; `simulator` for invented prices
    provider: str


class DayPrice(TypedDict):
    """Schema DayPrice."""

    #: Day: YYYY-MM-DD
    date: str
    #: Price of the day in the currency of the history; null without a rate
    price: Optional[float]
    #: Price in the currency of the quote; null if unknown
    quotedPrice: float
    #: Product of the rates of the day, 1 without rates; null if one is unknown
    rate: Optional[float]
    #: Day of the oldest close behind the rate; null without rates
    rateDate: Optional[str]


class _DovizBar(TypedDict):
    """Fields that each DovizBar has."""

    #: Opening time of the bar: ISO 8601 in UTC
    time: str
    #: First price of the interval or trading day, in the currency of the instrument
    open: float
    #: Highest price of the interval or trading day, in the currency of the instrument
    high: float
    #: Lowest price of the interval or trading day, in the currency of the instrument
    low: float
    #: Last price of the interval, in the currency of the instrument
    close: float


class DovizBar(_DovizBar, total=False):
    """Schema DovizBar."""

    #: Always null: no source publishes it
    volume: Optional[float]


class DovizQuote(TypedDict):
    """Schema DovizQuote."""

    #: Name of the provider of the price; `simulator` for invented prices
    provider: str
    #: Symbol of the instrument or company
    symbol: str
    #: Name in words
    name: str
    #: Kind of instrument
    category: Literal["gold", "silver", "precious_metals", "currency", "index"]
    #: Market or bank of the price
    source: str
    #: Unit that the price is for
    unit: str
    #: ISO 4217 code, or the ticker of the coin, in which the price is
    currency: str
    #: Price at which dealers buy one unit, in `currency`
    buying: float
    #: Price at which dealers sell one unit, in `currency`
    selling: float
    #: Price of one unit: the selling price, in `currency`
    price: float
    #: Price minus the previous close, in the currency of the price
    change: Optional[float]
    #: Change from the previous close, in percent
    changePercent: Optional[float]
    #: First price of the interval or trading day, in the currency of the instrument
    open: Optional[float]
    #: Highest price of the interval or trading day, in the currency of the instrument
    high: Optional[float]
    #: Lowest price of the interval or trading day, in the currency of the instrument
    low: Optional[float]
    #: Closing price of the previous trading day, in the currency of the instrument
    previousClose: Optional[float]
    #: Time of the last trade or price: ISO 8601 in UTC; null if unknown
    timestamp: Optional[str]
    #: Kind of instrument
    type: Literal["doviz_quote"]


class DovizSymbol(TypedDict):
    """Schema DovizSymbol."""

    #: Symbol of the instrument or company
    symbol: str
    #: Name in words
    name: str
    #: Unit that the price is for
    unit: str
    #: Market or bank of the price
    source: str


class _Earnings(TypedDict):
    """Fields that each Earnings has."""

    #: Symbol of the instrument or company
    symbol: str
    #: Day that ends the reporting period; of recommendations the first day of the month: YYYY-MM-DD
    period: str
    #: Fiscal quarter, 1 to 4
    quarter: Optional[int]
    #: Fiscal year
    year: Optional[int]
    #: Reported earnings per share, in `currency`
    actual: Optional[float]
    #: Expected earnings per share, in `currency`
    estimate: Optional[float]
    #: Reported minus expected earnings per share, in `currency`
    surprise: Optional[float]
    #: Surprise in percent of the absolute estimate
    surprisePercent: Optional[float]


class Earnings(_Earnings, total=False):
    """Schema Earnings."""

    #: ISO 4217 code, or the ticker of the coin, in which the price is
    currency: Optional[str]
    #: Foreign listing that the figures describe; null if it is this one
    homeSymbol: Optional[str]


class _EarningsCalendar(TypedDict):
    """Fields that each EarningsCalendar has."""

    #: Reports by date
    earningsCalendar: list[EarningsEvent]


class EarningsCalendar(_EarningsCalendar, total=False):
    """Schema EarningsCalendar."""

    #: First day that the calendar covers: YYYY-MM-DD; null if it covers none
    coveredFrom: Optional[str]
    #: Last day that the calendar covers: YYYY-MM-DD; null if it covers none
    coveredTo: Optional[str]


class EarningsEvent(TypedDict):
    """Schema EarningsEvent."""

    #: Symbol of the instrument or company
    symbol: str
    #: Day: YYYY-MM-DD
    date: str
    #: `bmo` before the open, `amc` after the close, `dmh` during market hours; empty if unknown
    hour: Literal["bmo", "amc", "dmh", ""]
    #: Fiscal year
    year: Optional[int]
    #: Fiscal quarter, 1 to 4
    quarter: Optional[int]
    #: Expected earnings per share, in the currency of the figures
    epsEstimate: Optional[float]
    #: Reported earnings per share, in the currency of the figures
    epsActual: Optional[float]
    #: Expected revenue, in units of the currency of the figures
    revenueEstimate: Optional[float]
    #: Reported revenue, in units of the currency of the figures
    revenueActual: Optional[float]
    #: Whether the company has a foreign listing, whose currency the figures are in
    abroad: bool


class EarningsQuality(TypedDict):
    """Schema EarningsQuality."""

    #: Symbol of the instrument or company
    symbol: str
    #: Length of a period: `quarterly`
    freq: str
    #: Records by quarter
    data: list[QualityScore]


class _Entry(TypedDict):
    """Fields that each Entry has."""

    #: Symbol that identifies the instrument in requests
    ticker: str
    #: Kind of instrument
    type: Literal["stock", "crypto", "doviz"]
    #: Place in the list, from 0
    position: int
    #: Time at which you added the symbol: ISO 8601 in UTC
    added_at: str


class Entry(_Entry, total=False):
    """Schema Entry."""

    #: Last quote of the symbol; null without one, absent without `include=quote`
    quote: Optional[Union[StockQuote, CryptoQuote, DovizQuote]]


class EpsEstimate(TypedDict):
    """Schema EpsEstimate."""

    #: Day that ends the reporting period; of recommendations the first day of the month: YYYY-MM-DD
    period: str
    #: Fiscal quarter, 1 to 4
    quarter: Optional[int]
    #: Fiscal year
    year: Optional[int]
    #: Mean of the expected earnings per share, in `currency`
    epsAvg: Optional[float]
    #: Highest expected earnings per share, in `currency`
    epsHigh: Optional[float]
    #: Lowest expected earnings per share, in `currency`
    epsLow: Optional[float]
    #: Number of analysts
    numberAnalysts: Optional[int]


class _EstimatesOfEpsEstimate(TypedDict):
    """Fields that each EstimatesOfEpsEstimate has."""

    #: Symbol of the instrument or company
    symbol: str
    #: Length of a period: `quarterly`
    freq: str
    #: Records by quarter
    data: list[EpsEstimate]


class EstimatesOfEpsEstimate(_EstimatesOfEpsEstimate, total=False):
    """Schema EstimatesOfEpsEstimate."""

    #: ISO 4217 code, or the ticker of the coin, in which the price is
    currency: Optional[str]
    #: Foreign listing that the figures describe; null if it is this one
    homeSymbol: Optional[str]


class _EstimatesOfRevenueEstimate(TypedDict):
    """Fields that each EstimatesOfRevenueEstimate has."""

    #: Symbol of the instrument or company
    symbol: str
    #: Length of a period: `quarterly`
    freq: str
    #: Records by quarter
    data: list[RevenueEstimate]


class EstimatesOfRevenueEstimate(_EstimatesOfRevenueEstimate, total=False):
    """Schema EstimatesOfRevenueEstimate."""

    #: ISO 4217 code, or the ticker of the coin, in which the price is
    currency: Optional[str]
    #: Foreign listing that the figures describe; null if it is this one
    homeSymbol: Optional[str]


class EventShown(TypedDict):
    """Schema EventShown."""

    #: Id
    id: int
    #: Id of the alert
    alert_id: str
    #: Symbol that identifies the instrument in requests
    ticker: str
    #: Kind of instrument
    type: Literal["stock", "crypto", "doviz"]
    #: `above` and `below` a price; `rises` and `falls` by a percentage in a window
    condition: Literal["above", "below", "rises", "falls"]
    #: Price in the currency of the instrument, or percentage, of the condition
    value: float
    #: Time of the change; `day` counts from the previous close; null for prices
    window: Optional[Literal["5m", "15m", "1h", "day"]]
    #: Your text for the alert; may be empty
    note: str
    #: Price, or change in percent, that met the condition
    measured: float
    #: Price at the crossing, in the currency of the instrument
    price: float
    #: Time of the crossing: ISO 8601 in UTC
    happened_at: str


class Events(TypedDict):
    """Schema Events."""

    #: Events in the order of their ids
    events: list[EventShown]
    #: Id for the next request's `after`
    last: int


class ExchangeChoice(TypedDict):
    """Schema ExchangeChoice."""

    #: What `exchange` of a search takes; empty for all exchanges
    value: str
    #: Name in words
    name: str
    #: Name of the exchange in words; empty for all exchanges
    desc: str


class ExtendedHours(TypedDict):
    """Schema ExtendedHours."""

    #: Whether the trade was before the regular session or after it
    session: Literal["pre", "post"]
    #: Last price of one unit, in the currency of the instrument
    price: float
    #: Price minus `close`, in US dollars
    change: float
    #: Change from `close`, in percent
    changePercent: float
    #: Last close of a regular session before the trade, in US dollars
    close: float
    #: Time of the trade: ISO 8601 in UTC
    timestamp: str


class _FeedAge(TypedDict):
    """Fields that each FeedAge has."""

    #: `live`; `stale` if updates are late; `down` without any data
    state: Literal["live", "stale", "down"]
    #: Seconds since the feed's last update; null before the first one
    ageSeconds: Optional[float]


class FeedAge(_FeedAge, total=False):
    """Schema FeedAge."""

    #: `unreadable` if Redis holds data of the feed that no known version wrote; otherwise absent
    problem: Literal["unreadable"]


class FeedDay(TypedDict):
    """Schema FeedDay."""

    #: Minutes with a bar of any symbol, up to `writtenAt`
    covered: int
    #: Published changes of quotes, with removals
    updates: int
    #: Age that half of the quotes did not exceed when they came, in milliseconds, at most a tenth too high
    ageP50Ms: Optional[float]
    #: Age that 90 % of the quotes did not exceed, in milliseconds; null without ages
    ageP90Ms: Optional[float]
    #: Age that 99 % of the quotes did not exceed, in milliseconds; null without ages
    ageP99Ms: Optional[float]
    #: Seconds of `ledSeconds` in which clients saw the feed as stale
    staleSeconds: float
    #: Seconds of the day in which an ingest led the feed
    ledSeconds: float
    #: Messages, rows and values that the checks of upstream data refused, by reason
    refused: dict[str, int]
    #: Updates more than ten minutes late, and the venue's bars after their minute was final, repeats too
    corrections: int
    #: Time at which the figures were last written: ISO 8601 in UTC
    writtenAt: str


class FeedMinutes(TypedDict):
    """Schema FeedMinutes."""

    #: Number of symbols with a bar on the day
    symbols: int
    #: Median of the minutes with a bar, over the symbols with any
    medianCovered: int
    #: Minutes with a bar of the 20 symbols that have the fewest, by symbol
    fewestCovered: dict[str, int]


class FeedStatus(TypedDict):
    """Schema FeedStatus."""

    #: `live`; `stale` if updates are late; `down` without any data
    state: Literal["live", "stale", "down"]
    #: Time of the newest quote: ISO 8601 in UTC; null without quotes
    lastUpdate: Optional[str]
    #: Number of symbols that the feed has
    symbols: int
    #: Name of the provider of the price; `simulator` for invented prices
    provider: str
    #: What the terms of `provider` allow; null in lists of prices, or if its package does not say so
    terms: Optional[Terms]
    #: Whether the prices are invented; null before the feed's first data
    simulated: Optional[bool]
    #: Seconds by which the provider delays its prices, 0 for real time; null if unknown
    delaySeconds: Optional[float]
    #: Id of the feed's current numbering; a new one means that numbers start again
    epoch: Optional[str]
    #: Number of the feed's last change in its epoch
    seq: int


class _FieldProblem(TypedDict):
    """Fields that each FieldProblem has."""

    #: Name of the field or parameter; empty if no single one is wrong
    field: str
    #: What is wrong with the field
    message: str


class FieldProblem(_FieldProblem, total=False):
    """Schema FieldProblem."""

    #: Number of the line in the file, from 1
    line: int


class FoundSymbol(TypedDict):
    """Schema FoundSymbol."""

    #: Symbol of the instrument or company
    symbol: str
    #: Exchange, colon and symbol
    full_name: str
    #: Name in words
    description: str
    #: Exchange that lists the instrument
    exchange: str
    #: Symbol that identifies the instrument in requests
    ticker: str
    #: Kind of instrument
    type: str


Gap = TypedDict("Gap", {"from": "str", "to": "str", "minutes": "int"}, total=True)


class Health(TypedDict):
    """Schema Health."""

    #: Overall state
    status: Literal["ok"]


class Heatmap(TypedDict):
    """Schema Heatmap."""

    #: Time of the newest quote: ISO 8601 in UTC; null without quotes
    lastUpdate: Optional[str]
    #: All sectors, the heaviest first
    sectors: list[HeatmapSector]


class HeatmapSector(TypedDict):
    """Schema HeatmapSector."""

    #: Sector of the company; `Other` if unknown
    sector: str
    #: Weighted mean of the stocks' changes, in percent
    changePercent: Optional[float]
    #: Number of stocks of the sector above their previous close
    advancers: int
    #: Number of stocks of the sector below their previous close
    decliners: int
    #: Number of stocks of the sector with the price of their previous close
    unchanged: int
    #: Share of the market capitalisation of all stocks, from 0 to 1
    weight: float
    #: Stocks of the sector, the heaviest first
    stocks: list[HeatmapStock]


class HeatmapStock(TypedDict):
    """Schema HeatmapStock."""

    #: Symbol that identifies the instrument in requests
    ticker: str
    #: Name in words
    name: str
    #: Industry of the company; `Other` if unknown
    industry: str
    #: Last price of one unit, in the currency of the instrument
    price: float
    #: Price minus the previous close, in the currency of the price
    change: Optional[float]
    #: Change from the previous close, in percent
    changePercent: Optional[float]
    #: Shares of the trading day, as digits
    volume: Optional[str]
    #: Share of the market capitalisation of all stocks, from 0 to 1
    weight: float


class HoldingChange(TypedDict, total=False):
    """The body of a request that changes a holding: at least one of the fields."""

    #: At most 8 decimals, taken exactly
    shares: float
    #: Per share; at most 8 decimals, taken exactly
    avg_cost: float
    #: YYYY-MM-DD, not in the future
    bought_at: str
    #: A code of ISO 4217, in any case
    currency: str


class _HoldingShown(TypedDict):
    """Fields that each HoldingShown has."""

    #: Id
    id: str
    #: Symbol that identifies the instrument in requests
    ticker: str
    #: An exact decimal, with all its digits and no exponent
    shares: float
    #: An exact decimal, with all its digits and no exponent
    avg_cost: float
    #: Day of the purchase: YYYY-MM-DD
    bought_at: str
    #: ISO 4217 code of the amounts
    currency: str
    #: Time of creation: ISO 8601 in UTC
    created_at: str


class HoldingShown(_HoldingShown, total=False):
    """Schema HoldingShown."""

    #: Kind of instrument; null while no feed has the ticker
    type: Optional[Literal["stock", "crypto", "doviz"]]
    #: Last price of one share or unit, in `currency`; absent without `include=quote`
    price: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    market_value: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    gain: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    gain_percent: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    day_change: Optional[float]
    #: Rates that converted the amounts, in their order
    rates: Optional[list[RateShown]]
    #: Value in the currency of the request; null without a rate, absent without `currency`
    converted: Optional[ConvertedShown]


class _Imported(TypedDict):
    """Fields that each Imported has."""

    #: Number of holdings in the file
    count: int


class Imported(_Imported, total=False):
    """Schema Imported."""

    #: Holdings of the file, after a dry run
    rows: list[RowShown]


class ImportedTransactions(TypedDict):
    """Schema ImportedTransactions."""

    #: Number of transactions in the file
    count: int
    #: Whether the file was only checked
    dry_run: bool


class KeyChange(TypedDict, total=False):
    """The body of a request that changes a key; a missing field changes nothing."""

    #: 1 to 100 characters, by which you recognise the key
    name: Optional[str]
    #: What the key is for; a missing or empty list leaves that side open
    scope: Optional[Scope]


class KeyRotation(TypedDict, total=False):
    """The body of a request that rotates a key."""

    #: Seconds for which the old secret works too
    overlap_seconds: int


class KeySecret(TypedDict):
    """Schema KeySecret."""

    #: Id
    id: str
    #: Name in words
    name: str
    #: Beginning of the key, which names it in lists and logs
    key: str
    #: Name of the key's plan; `user` for that of all users
    plan: str
    #: What the key is for; a missing or empty list leaves that side open
    scope: Scope
    #: Time of creation: ISO 8601 in UTC
    created_at: str
    #: Time at which the key ends: ISO 8601 in UTC; null for a key without an end
    expires_at: Optional[str]
    #: Time of the revocation: ISO 8601 in UTC; null for a key that nobody revoked
    revoked_at: Optional[str]
    #: Time until which the secret before the last rotation works; null without a rotation
    previous_until: Optional[str]
    #: The whole key, to send as `X-API-Key`; no later answer shows it
    secret_key: str


class KeyShown(TypedDict):
    """Schema KeyShown."""

    #: Id
    id: str
    #: Name in words
    name: str
    #: Beginning of the key, which names it in lists and logs
    key: str
    #: Name of the key's plan; `user` for that of all users
    plan: str
    #: What the key is for; a missing or empty list leaves that side open
    scope: Scope
    #: Time of creation: ISO 8601 in UTC
    created_at: str
    #: Time at which the key ends: ISO 8601 in UTC; null for a key without an end
    expires_at: Optional[str]
    #: Time of the revocation: ISO 8601 in UTC; null for a key that nobody revoked
    revoked_at: Optional[str]
    #: Time until which the secret before the last rotation works; null without a rotation
    previous_until: Optional[str]


class Keys(TypedDict):
    """The keys of a subscription, in base64url."""

    #: The browser's public key
    p256dh: str
    #: The browser's secret of 16 bytes
    auth: str


class KnownQuote(TypedDict):
    """Schema KnownQuote."""

    #: Name of the symbol as the request has it
    n: str
    #: The values of the quote
    v: QuoteValues
    #: Status that charts read: `ok`, `no_data` without bars, or `error`
    s: Literal["ok"]


class LayoutShown(TypedDict):
    """Schema LayoutShown."""

    #: Your arrangement of the terminal
    layout: dict[str, Any]
    #: Number of the saved layout; each save adds one, 0 is none
    version: int
    #: Time of the last change: ISO 8601 in UTC
    updated_at: Optional[str]


class LotShown(TypedDict):
    """Schema LotShown."""

    #: Day of the purchase: YYYY-MM-DD
    date: str
    #: An exact decimal, with all its digits and no exponent
    shares: float
    #: An exact decimal, with all its digits and no exponent
    cost: float


class MarketStatus(TypedDict):
    """Schema MarketStatus."""

    #: Overall state
    status: Literal["running", "degraded", "down"]
    #: Time of the newest quote: ISO 8601 in UTC; null without quotes
    lastUpdate: Optional[str]
    #: Whether the regular session of the New York Stock Exchange is open
    marketOpen: bool
    #: Part of the trading day in New York
    session: Literal["pre", "regular", "post", "closed"]
    #: Next start of a regular session: ISO 8601 in UTC; null for a market that never closes
    nextOpen: Optional[str]
    #: Next end of a regular session: ISO 8601 in UTC; null for a market that never closes
    nextClose: Optional[str]
    #: Time of the answer: ISO 8601 in UTC
    timestamp: str
    #: State of each configured feed, by its name
    feeds: dict[str, FeedStatus]


class Marks(TypedDict):
    """Schema Marks."""

    #: Id of each article
    id: list[str]
    #: Unix time in seconds of each mark's bar
    time: list[int]
    #: Colour of each mark
    color: list[str]
    #: Headline of each article
    text: list[str]
    #: Letter on each mark
    label: list[str]
    #: Colour of each letter
    labelFontColor: list[str]
    #: Diameter of each mark, in pixels
    minSize: list[int]


class _Metrics(TypedDict):
    """Fields that each Metrics has."""

    #: Symbol of the instrument or company
    symbol: str
    #: Group of the figures: `all`
    metricType: str
    #: Figures by name: numbers, or days as YYYY-MM-DD; market capitalisation in millions
    metric: dict[str, Optional[Union[float, str]]]
    #: Figures over time
    series: Series


class Metrics(_Metrics, total=False):
    """Schema Metrics."""

    #: ISO 4217 code, or the ticker of the coin, in which the price is
    currency: Optional[str]
    #: Foreign listing that the figures describe; null if it is this one
    homeSymbol: Optional[str]


class _Missing(TypedDict):
    """Fields that each Missing has."""

    #: Symbol that identifies the instrument in requests
    ticker: str
    #: Why: no feed has it, no bars, no rate, too many symbols, or known since a day only
    reason: Literal["unknown", "bars", "rate", "limit", "late"]


class Missing(_Missing, total=False):
    """Schema Missing."""

    #: First day with a close and a rate: YYYY-MM-DD; null unless `reason` is `late`
    since: Optional[str]


class Mover(TypedDict):
    """Schema Mover."""

    #: Symbol that identifies the instrument in requests
    ticker: str
    #: Name in words
    name: str
    #: Last price of one unit, in the currency of the instrument
    price: float
    #: Price minus the previous close, in the currency of the price
    change: Optional[float]
    #: Change from the previous close, in percent
    changePercent: float
    #: Shares of the trading day, as digits
    volume: Optional[str]
    #: Sector of the company; `Other` if unknown
    sector: str


class Movers(TypedDict):
    """Schema Movers."""

    #: Time of the newest quote: ISO 8601 in UTC; null without quotes
    lastUpdate: Optional[str]
    #: Stocks that rose the most in percent, the greatest rise first; at most 20
    gainers: list[Mover]
    #: Stocks that fell the most in percent, the greatest fall first; at most 20
    losers: list[Mover]


class NamedSymbol(TypedDict):
    """A symbol by its ticker and type."""

    #: In any case; a pair as `BTC/USDT` or `BTC-USDT`
    ticker: str
    #: Kind of instrument
    type: Literal["crypto", "doviz", "stock"]


class _NewAlert(TypedDict):
    """Fields that each NewAlert has."""

    #: A stock, pair, currency or metal, in any case
    ticker: str
    #: `above` and `below` a price; `rises` and `falls` by a percentage in a window
    condition: Literal["above", "below", "falls", "rises"]
    #: A price above 0, in the quote's currency; or a percentage from 0.01 to 1000, of a fall at most 99.99
    value: float


class NewAlert(_NewAlert, total=False):
    """The body of a request that adds an alert."""

    #: By default the first of stock, crypto, doviz that has the ticker
    type: Optional[Literal["crypto", "doviz", "stock"]]
    #: For `rises` and `falls`: the time of the change; `day` counts from the previous close
    window: Optional[Literal["15m", "1h", "5m", "day"]]
    #: At most 200 characters; blanks around it do not count
    note: str
    #: Whether each crossing is an event; otherwise the first one ends the alert
    repeats: bool
    #: Whether events go to your webhook
    webhook: bool
    #: Whether events go to your subscribed browsers
    push: bool


class _NewEntry(TypedDict):
    """Fields that each NewEntry has."""

    #: A stock, pair, currency or metal, in any case
    ticker: str


class NewEntry(_NewEntry, total=False):
    """The body of a request that adds an entry."""

    #: By default the first of stock, crypto, doviz that has the ticker
    type: Optional[Literal["crypto", "doviz", "stock"]]


class _NewHolding(TypedDict):
    """Fields that each NewHolding has."""

    #: A stock, pair, currency or metal, in any case
    ticker: str
    #: At most 8 decimals, taken exactly
    shares: float
    #: Per share; at most 8 decimals, taken exactly
    avg_cost: float


class NewHolding(_NewHolding, total=False):
    """The body of a request that adds a holding."""

    #: YYYY-MM-DD, not in the future; today at its venue by default
    bought_at: Optional[str]
    #: A code of ISO 4217, in any case
    currency: str


class _NewKey(TypedDict):
    """Fields that each NewKey has."""

    #: 1 to 100 characters, by which you recognise the key
    name: str


class NewKey(_NewKey, total=False):
    """The body of a request that makes a key."""

    #: What the key is for; a missing or empty list leaves that side open
    scope: Scope
    #: Time at which the key ends, within 10 years
    expires_at: Optional[str]


class _NewLayout(TypedDict):
    """Fields that each NewLayout has."""

    #: Any JSON object of at most 65536 bytes and 32 levels
    layout: dict[str, Any]


class NewLayout(_NewLayout, total=False):
    """The body of a request that saves a layout."""

    #: The version to replace; by default any version
    version: Optional[int]


class NewOrder(TypedDict):
    """The body of a request that reorders a list."""

    #: The symbols that come first, in their order
    symbols: list[NamedSymbol]


class NewSubscription(TypedDict):
    """A browser's `PushSubscription` as its `toJSON` gives it."""

    #: The URL at the browser's push service
    endpoint: str
    #: Keys of the subscription, in base64url
    keys: Keys


class _NewTransaction(TypedDict):
    """Fields that each NewTransaction has."""

    #: Type of the transaction
    type: Literal["buy", "dividend", "fee", "sell", "split"]
    #: A stock, pair, currency or metal, in any case
    ticker: str
    #: YYYY-MM-DD, not in the future
    date: str


class NewTransaction(_NewTransaction, total=False):
    """The body of a request that adds a transaction."""

    #: A code of ISO 4217, in any case
    currency: str
    #: At most 8 decimals, taken exactly
    shares: float
    #: Per share; at most 8 decimals, taken exactly
    price: float
    #: Per share; at most 8 decimals, taken exactly
    fee: float
    #: At most 8 decimals, taken exactly
    amount: float
    #: At most 8 decimals, taken exactly
    old_shares: float
    #: At most 8 decimals, taken exactly
    new_shares: float


class _NewWatchlist(TypedDict):
    """Fields that each NewWatchlist has."""

    #: 1 to 60 characters; no other list has it, in any case
    name: str


class NewWatchlist(_NewWatchlist, total=False):
    """The body of a request that adds a list."""

    #: Its first symbols; the list leaves out those that no feed has
    symbols: list[NamedSymbol]


class NewWebhook(TypedDict):
    """The body of a request that sets the webhook."""

    #: An https:// URL with a public address, at most 2048 bytes, on port 443 or one from 1024 on
    url: str


class NewsImage(TypedDict):
    """Schema NewsImage."""

    #: Size of the picture: `thumb`, `small` or `large`
    size: str
    #: Address
    url: str


class Overview(TypedDict):
    """Schema Overview."""

    #: Symbol of the instrument or company
    symbol: str
    #: Figures of the company; null if unavailable
    metrics: Optional[Metrics]
    #: Reported earnings, the newest quarter first; null if unavailable
    earnings: Optional[list[Earnings]]
    #: Numbers of analysts by recommendation and month; null if unavailable
    recommendations: Optional[list[Recommendation]]
    #: Expected revenue by quarter; null if unavailable
    revenueEstimates: Optional[EstimatesOfRevenueEstimate]
    #: Expected earnings per share by quarter; null if unavailable
    epsEstimates: Optional[EstimatesOfEpsEstimate]
    #: Quality of the earnings by quarter; null if unavailable
    earningsQuality: Optional[EarningsQuality]
    #: Why a record is null, by the name of the record
    errors: dict[str, str]


class PasswordChange(TypedDict):
    """The body of a change of the password."""

    #: Your present password
    current: str
    #: 8 to 128 characters of any kind
    new: str


PathStep = TypedDict("PathStep", {"from": "str", "to": "str", "symbol": "str", "provider": "str"}, total=True)


class Performance(TypedDict):
    """Schema Performance."""

    #: ISO 4217 code of the amounts
    currency: str
    #: Range of the request
    range: str
    #: First day: YYYY-MM-DD
    start: str
    #: Last day: YYYY-MM-DD
    end: str
    #: Value at the beginning, in `currency`; null if unknown
    start_value: Optional[float]
    #: Present value, in `currency`; null if unknown
    end_value: Optional[float]
    #: What purchases and fees took in the range, in `currency`; null if unknown
    paid_in: Optional[float]
    #: What sales and dividends brought in the range, in `currency`; null if unknown
    taken_out: Optional[float]
    #: `end_value` plus `taken_out`, minus `start_value` and `paid_in`; null if unknown
    gain: Optional[float]
    #: Return of what was held: 0.1 is ten percent; null if unknown
    time_weighted_return: Optional[float]
    #: Interest that the payments had: 0.1 is ten percent; null if unknown
    money_weighted_return: Optional[float]
    #: Tickers that the numbers leave out
    missing: list[Missing]


class PortfolioValue(TypedDict):
    """Schema PortfolioValue."""

    #: ISO 4217 code of the values
    currency: str
    #: How far back the values reach
    range: str
    #: Values, the oldest first
    points: list[ValuePoint]
    #: Symbols that the values lack
    missing: list[Missing]


class PositionShown(TypedDict):
    """Schema PositionShown."""

    #: Symbol that identifies the instrument in requests
    ticker: str
    #: Kind of instrument
    type: Optional[Literal["stock", "crypto", "doviz"]]
    #: ISO 4217 code of the amounts
    currency: str
    #: An exact decimal, with all its digits and no exponent
    shares: float
    #: An exact decimal, with all its digits and no exponent
    cost: float
    #: An exact decimal, with all its digits and no exponent
    average_cost: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    realized_gain: float
    #: An exact decimal, with all its digits and no exponent
    dividends: float
    #: An exact decimal, with all its digits and no exponent
    fees: float
    #: Current price in `currency`; null without a quote or a rate
    price: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    market_value: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    unrealized_gain: Optional[float]
    #: Costs, gains and value in the currency of the request; null without a rate
    converted: Optional[ConvertedPosition]
    #: Lots that make up the position, the oldest first
    lots: list[LotShown]
    #: Why later transactions do not count; null if all do
    problem: Optional[str]


class Price(TypedDict):
    """Schema Price."""

    #: Symbol of the instrument or company
    symbol: str
    #: Kind of instrument
    type: Literal["stock", "crypto", "doviz"]
    #: Name in words
    name: str
    #: Unit that the price is for
    unit: str
    #: Price of one `unit` in `currency`; null if unknown
    price: Optional[float]
    #: Currency of the price: a code of ISO 4217, or a coin
    currency: str
    #: Day of the price at its venue: YYYY-MM-DD; null without a price
    date: Optional[str]
    #: Day of the request: YYYY-MM-DD; null for prices of now
    dateAsked: Optional[str]
    #: Time of the quote: ISO 8601 in UTC; null for closes
    timestamp: Optional[str]
    #: `close`: of a past day; `stale`: a feed behind the price is silent
    status: Literal["live", "delayed", "stale", "close"]
    #: Seconds by which the provider delays its prices, 0 for real time; null for closes
    delaySeconds: Optional[float]
    #: Price in the currency of the quote; null if unknown
    quotedPrice: Optional[float]
    #: Currency of the quote, before the conversion
    quotedCurrency: str
    #: Rates that converted the price, in their order; empty without a conversion
    rates: list[RateShown]
    #: Name of the provider of the price; `simulator` for invented prices
    provider: str
    #: Whether the terms let you show the data to others: `agreement` means only with one
    show: Optional[Literal["yes", "no", "agreement", "unknown"]]
    #: Text that the terms want beside the data; null if none
    attribution: Optional[str]
    #: What the terms of `provider` allow; null in lists of prices, or if its package does not say so
    terms: Optional[Terms]
    #: Corporate actions for which the closes are adjusted
    adjusted: Literal["raw", "splits", "all"]
    #: Why the price is not known; null if it is
    problem: Optional[str]


class PriceHistory(TypedDict):
    """Schema PriceHistory."""

    #: Symbol of the instrument or company
    symbol: str
    #: Kind of instrument
    type: Literal["stock", "crypto", "doviz"]
    #: Name in words
    name: str
    #: Unit that the price is for
    unit: str
    #: Currency of the prices: a code of ISO 4217, or a coin
    currency: str
    #: Currency of the quote, before the conversion
    quotedCurrency: str
    #: Rates that convert the prices, in their order; empty without a conversion
    path: list[PathStep]
    #: Name of the provider of the price; `simulator` for invented prices
    provider: str
    #: What the terms of `provider` allow; null in lists of prices, or if its package does not say so
    terms: Optional[Terms]
    #: Corporate actions for which the closes are adjusted
    adjusted: Literal["raw", "splits", "all"]
    #: Prices by day, the oldest first
    prices: list[DayPrice]


class _Problem(TypedDict):
    """Fields that each Problem has."""

    #: Error for people: one sentence
    detail: str


class Problem(_Problem, total=False):
    """Schema Problem."""

    #: Error for programs; the guide to errors has the remedy of each
    code: Literal[
        "bad_request",
        "busy",
        "cross_site",
        "database",
        "email_taken",
        "forbidden",
        "full",
        "header_too_large",
        "history",
        "history_off",
        "http_version_not_supported",
        "idempotency_key_reused",
        "internal_server_error",
        "invalid",
        "invalid_key",
        "invalid_token",
        "key_not_enough",
        "key_scope",
        "malformed_json",
        "method_not_allowed",
        "misdirected_request",
        "name_taken",
        "no_data",
        "no_provider",
        "not_authenticated",
        "not_found",
        "not_offered",
        "not_recorded",
        "operator_session_ended",
        "plan_doors",
        "plan_feeds",
        "plan_freshness",
        "plan_history",
        "plan_sockets",
        "push_off",
        "request_timeout",
        "service_unavailable",
        "stale_version",
        "symbol_not_found",
        "tickets_away",
        "too_large",
        "unknown_parameter",
        "upgrade_required",
        "upstream",
        "uri_too_long",
        "wrong_credentials",
        "wrong_operator",
        "wrong_password",
    ]
    #: Id of the request; name it in a report
    request_id: str
    #: Each wrong field
    errors: list[FieldProblem]


class Profile(TypedDict):
    """Schema Profile."""

    #: Id
    id: str
    #: Name in words
    name: str
    #: Email address of the user
    email: str


class ProfileChange(TypedDict, total=False):
    """A change of the profile: a new name, the end of all sessions, or both."""

    #: 1 to 100 characters; blanks around it do not count
    name: str
    #: Revokes all your tokens, including the one of this request
    end_sessions: bool


class ProposedTransaction(TypedDict):
    """Schema ProposedTransaction."""

    #: Type of the transaction
    type: Literal["split", "dividend"]
    #: Symbol that identifies the instrument in requests
    ticker: str
    #: Day: YYYY-MM-DD
    date: str
    #: ISO 4217 code of the amount
    currency: str
    #: An exact decimal, with all its digits and no exponent
    old_shares: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    new_shares: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    amount: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    held: float
    #: Corporate action that proposes the transaction
    action: Literal["split", "stock_dividend", "cash_dividend", "rename", "merger"]


class Push(TypedDict):
    """Schema Push."""

    #: The service's VAPID key for `applicationServerKey`, in base64url
    public_key: str
    #: Your subscribed browsers
    subscriptions: list[Subscription]


class Quality(TypedDict):
    """Schema Quality."""

    #: Feed of the figures: market, crypto or doviz
    feed: str
    #: Date at the venue: YYYY-MM-DD
    date: str
    #: Begin of the session: ISO 8601 in UTC; null until it has minutes, and on a date without one
    opensAt: Optional[str]
    #: Close of the session, or the end of its last minute whose bars are stored: ISO 8601 in UTC
    until: Optional[str]
    #: Minutes of the session up to `until`
    minutes: int
    #: Minutes of the asked symbol; null without one, and after the days of one-minute bars
    symbol: Optional[SymbolMinutes]
    #: Minutes over all symbols; null with `symbol`, and if bars are gone or come late
    symbols: Optional[FeedMinutes]
    #: Figures of the whole feed; null without any
    figures: Optional[FeedDay]


class QualityScore(TypedDict):
    """Schema QualityScore."""

    #: Day that ends the reporting period; of recommendations the first day of the month: YYYY-MM-DD
    period: str
    #: Score of the growth, from 0 to 100
    growth: Optional[float]
    #: Score of the profitability, from 0 to 100
    profitability: Optional[float]
    #: Score of cash generation and use of capital, from 0 to 100
    cashGenerationCapitalAllocation: Optional[float]
    #: Score of the debt, from 0 to 100
    leverage: Optional[float]
    #: Overall score, from 0 to 100
    score: Optional[float]
    #: Overall score as a letter, from A+ to F
    letterScore: Optional[str]


class _QuoteValues(TypedDict):
    """Fields that each QuoteValues has."""

    #: Last price of one unit, in the currency of the instrument
    lp: float
    #: The symbol in its feed
    short_name: str
    #: Exchange that lists the instrument
    exchange: str
    #: Name in words
    description: str


class QuoteValues(_QuoteValues, total=False):
    """Schema QuoteValues."""

    #: Price minus the previous close, or the price 24 hours ago, in the currency of the instrument
    ch: float
    #: That change in percent
    chp: float
    #: Lowest price at which somebody sells, in the currency of the instrument
    ask: float
    #: Highest price at which somebody buys, in the currency of the instrument
    bid: float
    #: First price of the day, or the price 24 hours ago, in the currency of the instrument
    open_price: float
    #: Highest price of the day, or of 24 hours, in the currency of the instrument
    high_price: float
    #: Lowest price of the day, or of 24 hours, in the currency of the instrument
    low_price: float
    #: Closing price of the previous trading day, in the currency of the instrument
    prev_close_price: float
    #: Volume of the day, or of 24 hours, in units of the instrument
    volume: float


RateShown = TypedDict(
    "RateShown",
    {
        "from": "str",
        "to": "str",
        "rate": "float",
        "symbol": "str",
        "timestamp": "Optional[str]",
        "date": "Optional[str]",
        "provider": "str",
    },
    total=True,
)


class _Readiness(TypedDict):
    """Fields that each Readiness has."""

    #: Overall state
    status: Literal["ready", "loading", "draining"]
    #: State of each store that the worker needs: `ok`, or what is wrong
    checks: dict[str, str]
    #: State of each configured feed, by its name
    feeds: dict[str, FeedAge]


class Readiness(_Readiness, total=False):
    """Schema Readiness."""

    #: Error for people: one sentence
    detail: str
    #: Error for programs; the guide to errors has the remedy of each
    code: Literal["no_data", "draining", "not_serving"]


class _Recommendation(TypedDict):
    """Fields that each Recommendation has."""

    #: Symbol of the instrument or company
    symbol: str
    #: Day that ends the reporting period; of recommendations the first day of the month: YYYY-MM-DD
    period: str
    #: Number of analysts who strongly recommend to buy
    strongBuy: Optional[int]
    #: Number of analysts who recommend to buy
    buy: Optional[int]
    #: Number of analysts who recommend to hold
    hold: Optional[int]
    #: Number of analysts who recommend to sell
    sell: Optional[int]
    #: Number of analysts who strongly recommend to sell
    strongSell: Optional[int]


class Recommendation(_Recommendation, total=False):
    """Schema Recommendation."""

    #: Foreign listing that the figures describe; null if it is this one
    homeSymbol: Optional[str]


class Registration(TypedDict):
    """The body of a registration."""

    #: 1 to 100 characters; blanks around it do not count
    name: str
    #: At most 254 characters; letter case makes no difference
    email: str
    #: 8 to 128 characters of any kind
    password: str


class RevenueEstimate(TypedDict):
    """Schema RevenueEstimate."""

    #: Day that ends the reporting period; of recommendations the first day of the month: YYYY-MM-DD
    period: str
    #: Fiscal quarter, 1 to 4
    quarter: Optional[int]
    #: Fiscal year
    year: Optional[int]
    #: Mean of the expected revenue, in units of `currency`
    revenueAvg: Optional[float]
    #: Highest expected revenue, in units of `currency`
    revenueHigh: Optional[float]
    #: Lowest expected revenue, in units of `currency`
    revenueLow: Optional[float]
    #: Number of analysts
    numberAnalysts: Optional[int]


class _RowShown(TypedDict):
    """Fields that each RowShown has."""

    #: Symbol that identifies the instrument in requests
    ticker: str
    #: An exact decimal, with all its digits and no exponent
    shares: float
    #: An exact decimal, with all its digits and no exponent
    avg_cost: float
    #: Day of the purchase: YYYY-MM-DD
    bought_at: str
    #: ISO 4217 code of the cost
    currency: str


class RowShown(_RowShown, total=False):
    """Schema RowShown."""

    #: Kind of instrument; null while no feed has the ticker
    type: Optional[Literal["stock", "crypto", "doviz"]]


class Scope(TypedDict, total=False):
    """The bounds of a key; an empty list sets no bound.

    `symbols` are names and groups such as `sector:Energy`. `origins` are those of pages whose browsers may
    use the key; `addresses` are addresses and networks of clients.
    """

    #: Feeds that the key may read
    feeds: list[Literal["crypto", "doviz", "market"]]
    #: Symbols, and groups such as `sector:Energy`
    symbols: list[str]
    #: Web origins whose pages may use the key
    origins: list[str]
    #: Addresses and networks of clients
    addresses: list[str]


class _SearchResult(TypedDict):
    """Fields that each SearchResult has."""

    #: Kind of instrument
    type: Literal["stock", "crypto", "doviz"]
    #: Symbol that identifies the instrument in requests
    ticker: str
    #: Name in words
    name: str
    #: ISO 4217 code, or the ticker of the coin, in which the price is
    currency: str


class SearchResult(_SearchResult, total=False):
    """Schema SearchResult."""

    #: Exchange that lists the instrument
    exchange: Optional[str]
    #: Market or bank of the price
    source: Optional[str]


class Series(TypedDict):
    """Schema Series."""

    #: Yearly figures by name, the newest period first
    annual: dict[str, list[SeriesPoint]]
    #: Quarterly figures by name, the newest period first
    quarterly: dict[str, list[SeriesPoint]]


class SeriesPoint(TypedDict):
    """Schema SeriesPoint."""

    #: Day that ends the reporting period; of recommendations the first day of the month: YYYY-MM-DD
    period: str
    #: Figure of the period, in the unit of the metric of the same name
    v: Optional[float]


class Session(TypedDict):
    """Schema Session."""

    #: Token for the header `Authorization: Bearer`
    token: str
    #: Your profile
    user: Profile


class SessionShown(TypedDict):
    """Schema SessionShown."""

    #: Id
    id: str
    #: Beginning of the client's `User-Agent`; may be empty
    device: str
    #: Network of the client, a /24 or a /48; may be empty
    address: str
    #: Time of creation: ISO 8601 in UTC
    created_at: str
    #: Time at which the session ends: ISO 8601 in UTC
    expires_at: str
    #: Whether this request used the session
    current: bool


class Sparkline(TypedDict):
    """Schema Sparkline."""

    #: Time from which the closes count: ISO 8601 in UTC
    start: str
    #: Time of the last close: ISO 8601 in UTC
    end: str
    #: Closing prices at equal distances of trading time, oldest first, in the instrument's currency
    closes: list[float]


class _StockQuote(TypedDict):
    """Fields that each StockQuote has."""

    #: Symbol that identifies the instrument in requests
    ticker: str
    #: Name in words
    name: str
    #: Last price of one unit, in the currency of the instrument
    price: float
    #: Price minus the previous close, in the currency of the price
    change: Optional[float]
    #: Change from the previous close, in percent
    changePercent: Optional[float]
    #: First price of the interval or trading day, in the currency of the instrument
    open: Optional[float]
    #: Highest price of the interval or trading day, in the currency of the instrument
    high: Optional[float]
    #: Lowest price of the interval or trading day, in the currency of the instrument
    low: Optional[float]
    #: Closing price of the previous trading day, in the currency of the instrument
    previousClose: Optional[float]
    #: Shares of the trading day, as digits
    volume: Optional[str]
    #: Sector of the company; `Other` if unknown
    sector: str
    #: Industry of the company; `Other` if unknown
    industry: str
    #: Time of the last trade or price: ISO 8601 in UTC; null if unknown
    timestamp: Optional[str]
    #: Kind of instrument
    type: Literal["stock_quote"]


class StockQuote(_StockQuote, total=False):
    """Schema StockQuote."""

    #: The last trade if it was outside the regular session; else absent, and null in feeds
    extended: Optional[ExtendedHours]


class Subscription(TypedDict):
    """Schema Subscription."""

    #: Id
    id: str
    #: Host of the browser's push service
    service: str
    #: Time of creation: ISO 8601 in UTC
    created_at: str


class _SymbolInfo(TypedDict):
    """Fields that each SymbolInfo has."""

    #: Name in words
    name: str
    #: Symbol that identifies the instrument in requests
    ticker: str
    #: Name in words
    description: str
    #: Kind of instrument
    type: str
    #: Exchange that lists the instrument
    exchange: str
    #: Exchange that lists the instrument
    listed_exchange: str
    #: Time zone of the venue
    timezone: str
    #: Hours of a usual trading day in `timezone`, or `24x7`
    session: str
    #: Weekdays without trading, the latest first, separated by commas
    session_holidays: str
    #: Days with other hours, by `session`: the latest first, sessions separated by semicolons
    corrections: str
    #: Steps of the price: it changes by `minmov` / `pricescale`
    minmov: int
    #: 100 for prices in hundredths, 10 to the power of the decimals
    pricescale: int
    #: Prices are decimal numbers
    format: Literal["price"]
    #: Whether there are bars of minutes
    has_intraday: bool
    #: Whether there are bars of days
    has_daily: bool
    #: Whether there are bars of weeks and months
    has_weekly_and_monthly: bool
    #: Lengths of bars shorter than a day, in minutes; a chart makes others of them
    intraday_multipliers: list[str]
    #: Resolutions that a chart can show: minutes, or `1D`, `1W` and `1M`
    supported_resolutions: list[str]
    #: Which values bars have: `ohlc` for those without volume
    visible_plots_set: Literal["ohlcv", "ohlc"]
    #: Decimals of volumes
    volume_precision: int
    #: Whether prices come at once, or `delay` seconds late
    data_status: Literal["streaming", "delayed_streaming"]
    #: ISO 4217 code, or the ticker of the coin, in which the price is
    currency_code: str


class SymbolInfo(_SymbolInfo, total=False):
    """Schema SymbolInfo."""

    #: Seconds by which the provider delays its prices; absent for real-time prices
    delay: int


class SymbolMinutes(TypedDict):
    """Schema SymbolMinutes."""

    #: Symbol as the feed spells it
    symbol: str
    #: Minutes with a bar of the symbol
    covered: int
    #: Number of all gaps, of which `gaps` has the first 100
    gapCount: int
    #: Minutes in a row without a bar, the oldest first
    gaps: list[Gap]


class Terms(TypedDict):
    """Schema Terms."""

    #: Whether the terms let you show the data to others: `agreement` means only with one
    show: Literal["yes", "no", "agreement", "unknown"]
    #: Whether the terms let you keep the data: `agreement` means only with one
    store: Literal["yes", "no", "agreement", "unknown"]
    #: Whether the terms let you pass the data on: `agreement` means only with one
    redistribute: Literal["yes", "no", "agreement", "unknown"]
    #: Minutes after which the terms let everybody see a quote; null if they do not say so
    delayMinutes: Optional[int]
    #: Text that the terms want beside the data; null if none
    attribution: Optional[str]
    #: Address of the terms; null if there are none
    source: Optional[str]
    #: Day of the newest known reading of the source: YYYY-MM-DD; null without a source
    read: Optional[str]
    #: The terms in a sentence
    summary: str


class Ticket(TypedDict):
    """Schema Ticket."""

    #: For the parameter `ticket` of a feed's address, once
    ticket: str
    #: Seconds until the ticket ends
    expires_in: int


class TransactionShown(TypedDict):
    """Schema TransactionShown."""

    #: Id
    id: str
    #: Type of the transaction
    type: Literal["buy", "sell", "dividend", "fee", "split"]
    #: Symbol that identifies the instrument in requests
    ticker: str
    #: Day of the transaction: YYYY-MM-DD
    date: str
    #: ISO 4217 code of the amounts
    currency: str
    #: An exact decimal, with all its digits and no exponent
    shares: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    price: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    fee: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    amount: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    old_shares: Optional[float]
    #: An exact decimal, with all its digits and no exponent
    new_shares: Optional[float]
    #: Time of creation: ISO 8601 in UTC
    created_at: str


class Trial(TypedDict):
    """Schema Trial."""

    #: Whether the receiver answered with a status from 200 to 299
    delivered: bool
    #: HTTP status of the receiver; null without an answer
    status: Optional[int]
    #: What went wrong; null after a success
    error: Optional[str]


class TypeChoice(TypedDict):
    """Schema TypeChoice."""

    #: Name in words
    name: str
    #: What `type` of a search takes; empty for all types
    value: str


class UnknownQuote(TypedDict):
    """Schema UnknownQuote."""

    #: Name of the symbol as the request has it
    n: str
    #: No values
    v: dict[str, float]
    #: Status that charts read: `ok`, `no_data` without bars, or `error`
    s: Literal["error"]


class UsageRow(TypedDict):
    """Schema UsageRow."""

    #: Id of the key
    key_id: str
    #: Name of the key
    name: str
    #: Day in UTC: YYYY-MM-DD
    day: str
    #: Requests, with one for the handshake of each feed
    requests: int
    #: Requests of these that were answered with 401, 403 or 429
    refused: int
    #: Minutes for which WebSockets and event streams were open, all added
    socket_minutes: float
    #: Quotes in the messages of feeds: whole ones and changes
    quotes: int
    #: Bytes of bodies as sent, and of messages on feeds before compression
    bytes: int


class UserTicket(TypedDict):
    """Schema UserTicket."""

    #: For the parameter `ticket` of a feed's address, once; null if users have the anonymous plan
    ticket: Optional[str]
    #: Seconds until the ticket ends
    expires_in: int


class ValuePoint(TypedDict):
    """Schema ValuePoint."""

    #: Day: YYYY-MM-DD
    date: str
    #: Value of all holdings at the end of the day, in `currency`; null if unknown
    value: Optional[float]


class Watchlist(TypedDict):
    """Schema Watchlist."""

    #: Id
    id: str
    #: Name in words
    name: str
    #: Place in the list, from 0
    position: int
    #: Number of symbols in the list
    size: int


class WatchlistChange(TypedDict, total=False):
    """The body of a request that renames or moves a list; a missing field changes nothing."""

    #: 1 to 60 characters; no other list has it, in any case
    name: Optional[str]
    #: The first list is at 0; a higher number means the end
    position: Optional[int]


class WebhookSecret(TypedDict):
    """Schema WebhookSecret."""

    #: Address to which the service posts events
    url: str
    #: Time of creation: ISO 8601 in UTC
    created_at: str
    #: Number of events that wait for delivery
    waiting: int
    #: Number of deliveries that were given up
    failed: int
    #: Time of the last successful delivery: ISO 8601 in UTC; null without one
    last_sent_at: Optional[str]
    #: Last error of a delivery; null without one
    last_error: Optional[str]
    #: Time of the last error: ISO 8601 in UTC; null without one
    last_error_at: Optional[str]
    #: Key that signs the deliveries; no later answer shows it
    secret: str


class WebhookShown(TypedDict):
    """Schema WebhookShown."""

    #: Address to which the service posts events
    url: str
    #: Time of creation: ISO 8601 in UTC
    created_at: str
    #: Number of events that wait for delivery
    waiting: int
    #: Number of deliveries that were given up
    failed: int
    #: Time of the last successful delivery: ISO 8601 in UTC; null without one
    last_sent_at: Optional[str]
    #: Last error of a delivery; null without one
    last_error: Optional[str]
    #: Time of the last error: ISO 8601 in UTC; null without one
    last_error_at: Optional[str]
