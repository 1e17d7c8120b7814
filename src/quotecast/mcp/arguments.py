"""Arguments of the tools; the JSON schemas of their inputs are made of these types."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import fields

from quotecast.complaints import choices_of, complaint
from quotecast.market.feeds import feed_named
from quotecast.mcp.asking import ToolRefused
from quotecast.mcp.results import MAX_ROWS

MAX_SYMBOLS: Final = 50

Feed = Annotated[
    Literal["stocks", "crypto", "doviz"],
    Meta(
        description="stocks: US stocks, in US dollars; crypto: pairs such as BTC/USDT, in the second one's "
        "currency; doviz: Turkish currencies, gold and silver, mostly in lira. The `type` in results of "
        "`search` names the feed"
    ),
]
Symbol = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=32,
        description="A symbol as `search` returns it, such as AAPL, BTC/USDT or gram-altin",
    ),
]
Day = Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$", description="A day, as YYYY-MM-DD")]
Moment = Annotated[
    str, Meta(min_length=4, max_length=32, description="ISO 8601 in UTC, such as 2026-01-02T14:30:00Z")
]


class Arguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of a tool that takes none."""


class Search(Arguments, frozen=True):
    """Arguments of `search`."""

    query: Annotated[
        str,
        Meta(min_length=1, max_length=64, description="Symbol or words of a name: apple, btc, gram altin"),
    ]
    limit: Annotated[int, Meta(ge=1, le=50, description="Maximum number of matches")] = 10


class Quotes(Arguments, frozen=True):
    """Arguments of `quotes`."""

    symbols: Annotated[
        list[Symbol],
        Meta(min_length=1, max_length=MAX_SYMBOLS, description=f"1 to {MAX_SYMBOLS} symbols of one feed"),
    ]
    feed: Feed = "stocks"


class Bars(Arguments, frozen=True):
    """Arguments of `bars`."""

    symbol: Symbol
    feed: Feed = "stocks"
    interval: Annotated[
        Literal["1m", "5m", "15m", "1h", "4h", "D", "W", "M"],
        Meta(description="Length of a bar"),
    ] = "D"
    start: Annotated[Moment | None, Meta(description="First moment; without it, the newest bars")] = None
    end: Annotated[
        Moment | None, Meta(description="Moment before which the bars begin; the present by default")
    ] = None
    limit: Annotated[int, Meta(ge=1, le=MAX_ROWS, description="Maximum number of bars")] = 100


class Movers(Arguments, frozen=True):
    """Arguments of `movers`."""

    limit: Annotated[int, Meta(ge=1, le=20, description="Maximum number of gainers, and of losers")] = 10


class Heatmap(Arguments, frozen=True):
    """Arguments of `heatmap`."""

    stocks: Annotated[int, Meta(ge=0, le=5, description="Number of the largest stocks of each sector")] = 3


class Company(Arguments, frozen=True):
    """Arguments of `company`."""

    symbol: Symbol
    part: Annotated[
        Literal[
            "overview",
            "metrics",
            "earnings",
            "recommendations",
            "revenue-estimates",
            "eps-estimates",
            "earnings-quality",
        ],
        Meta(description="The overview has the newest of each part; another part is whole"),
    ] = "overview"


class EarningsCalendar(Arguments, frozen=True):
    """Arguments of `earnings_calendar`."""

    start: Annotated[Day | None, Meta(description="First day; today by default")] = None
    end: Annotated[Day | None, Meta(description="Last day; a week after the first by default")] = None
    symbols: Annotated[
        list[Symbol], Meta(max_length=MAX_SYMBOLS, description="Only these stocks; empty: all")
    ] = []
    limit: Annotated[int, Meta(ge=1, le=MAX_ROWS, description="Maximum number of reports")] = 50


class News(Arguments, frozen=True):
    """Arguments of `news`."""

    symbols: Annotated[
        list[Symbol], Meta(max_length=MAX_SYMBOLS, description="Only news about these stocks; empty: all")
    ] = []
    limit: Annotated[int, Meta(ge=1, le=50, description="Maximum number of articles")] = 10


class Portfolio(Arguments, frozen=True):
    """Arguments of `portfolio`."""

    currency: Annotated[
        Annotated[str, Meta(max_length=8)] | None,
        Meta(description="Convert values to this currency too, such as TRY"),
    ] = None


class Watchlist(Arguments, frozen=True):
    """Arguments of `watchlist`."""

    list: Annotated[str, Meta(max_length=32, description="Id of a list, as `watchlists` returns it")] = (
        "default"
    )


A = TypeVar("A", bound=Arguments)


def read_arguments(kind: type[A], given: Mapping[str, Any]) -> A:
    """Returns the checked arguments. Raises ToolRefused with the name of the wrong one."""
    names = [field.name for field in fields(kind)]
    if unknown := sorted({*given} - {*names}):
        raise ToolRefused(
            f"{unknown[0]}: There is no such argument; there are: {', '.join(names) or 'none'}", 422
        )
    try:
        msgspec.json.encode(given)
    except UnicodeEncodeError:
        raise ToolRefused("The arguments hold half of a character (a lone surrogate)", 422) from None
    try:
        return msgspec.convert(_as_meant(kind, given), type=kind)
    except msgspec.ValidationError as error:
        name = complaint(str(error)).field.partition("[")[0]
        choices = next((choices_of(field.type) for field in fields(kind) if field.name == name), [])
        found = complaint(str(error), choices)
        raise ToolRefused(f"{found.field}: {found.message}", 422) from None


def _as_meant(kind: type[Arguments], given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments in their types where models write `"AAPL,MSFT"`, `'["AAPL"]'` or `3.0`."""
    lists = set()
    for field in fields(kind):
        plain = get_args(field.type)[0] if get_origin(field.type) is Annotated else field.type
        if get_origin(plain) is list:
            lists.add(field.name)
    meant: dict[str, Any] = {}
    for name, value in given.items():
        if name in lists:
            meant[name] = _as_list(value)
        elif name == "feed":
            # Tools have names of their own for feeds; that of paths is `market`.
            found = feed_named(value) if isinstance(value, str) else None
            meant[name] = found.value if found else value
        else:
            is_whole = isinstance(value, float) and value.is_integer()
            meant[name] = int(value) if is_whole else value
    return meant


def _as_list(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value.strip().startswith("["):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return value
    return [each.strip() for each in value.split(",")]


def schema_of(kind: type[Struct]) -> dict[str, Any]:
    """Returns the JSON schema of an object with its definitions inside, as MCP wants it."""
    (_,), schemas = msgspec.json.schema_components((kind,))
    return {"additionalProperties": False, **schemas[kind.__name__]}
