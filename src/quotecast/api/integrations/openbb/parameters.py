"""Query parameters of the widgets' endpoints."""

from typing import Annotated, Literal

from litestar.params import QueryParameter

from quotecast.api.integrations.openbb.charts import Theme
from quotecast.api.market.selection import AS_OPTIONAL_TEXT, AS_TEXT, MAX_SYMBOLS

Rows = Annotated[
    list[str],
    QueryParameter(
        name="symbol",
        description=(
            f"Comma-separated symbols or groups in any case, at most {MAX_SYMBOLS}; may be repeated. `all` "
            "alone is every symbol"
        ),
        schema_extra=AS_TEXT,
    ),
]
AboutSymbols = Annotated[
    list[str] | None,
    QueryParameter(
        name="symbol",
        description="Only articles about any of these: comma-separated tickers; all articles without any",
        schema_extra=AS_OPTIONAL_TEXT,
    ),
]
Group = Annotated[
    str, QueryParameter(description="A group such as `sector:Energy` or `bank:akbank` in any case, or `all`")
]
OneSymbol = Annotated[str, QueryParameter(name="symbol", description="The symbol, in any case")]
Company = Annotated[str, QueryParameter(name="symbol", description="Ticker of the company, in any case")]
Instrument = Annotated[str, QueryParameter(description="A currency or metal that banks deal in, in any case")]
Theming = Annotated[Theme, QueryParameter(name="theme", description="Colours of the chart")]
# Texts, because the framework would accept `1` and `TRUE` for a boolean.
Raw = Annotated[
    Literal["true", "false"], QueryParameter(description="`true` answers the rows behind the chart")
]
