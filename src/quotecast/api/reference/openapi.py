"""The parts of the OpenAPI document beyond the routes' signatures: statuses, headers and examples."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, ClassVar, Final, cast

import msgspec
from litestar import Litestar, Router
from litestar.openapi import OpenAPIConfig, ResponseSpec
from litestar.openapi.spec import (
    Components,
    Example,
    License,
    OpenAPIHeader,
    OpenAPIMediaType,
    OpenAPIResponse,
    OpenAPIType,
    Operation,
    Parameter,
    Reference,
    Schema,
    SecurityScheme,
    Server,
    Tag,
)
from litestar.routes import HTTPRoute
from litestar.types import ControllerRouterHandler
from msgspec import Struct

from quotecast.api.answers.csv import FORMAT
from quotecast.api.market.selection import MAX_HEADER_BYTES
from quotecast.api.reference.samples import add_samples
from quotecast.api.reference.schemas import complete_fields, complete_parameters, without_modules
from quotecast.api.route_table import FEED, TAG
from quotecast.errors import FieldProblem, Problem
from quotecast.market.feeds import Feed
from quotecast.market.moves import SELECTABLE


def _header(description: str, kind: OpenAPIType = OpenAPIType.STRING) -> OpenAPIHeader:
    return OpenAPIHeader(schema=Schema(type=kind), description=description)


_HEADERS: Final[dict[str, OpenAPIHeader | Reference]] = {
    "X-Request-ID": _header(
        "Id of the request: its own if it sent one, else a new one. Quote it in reports."
    ),
    "X-RateLimit-Limit": _header("Requests per minute, client and path.", OpenAPIType.INTEGER),
    "X-RateLimit-Remaining": _header("Requests left in the window.", OpenAPIType.INTEGER),
    "X-RateLimit-Reset": _header("Seconds until the next slot is free.", OpenAPIType.INTEGER),
    "Retry-After": _header("Seconds to wait before trying again.", OpenAPIType.INTEGER),
    "ETag": _header(
        "Weak tag; send it as If-None-Match. For lists of quotes it names the feed's epoch and seq, for one "
        "quote the epoch and the seq of its last change. While the feed is stale it ends in `-stale`."
    ),
    "Cache-Control": _header(
        "Lifetime of the answer in caches, minus its `Age`; one second while its feed is stale."
    ),
    "X-Feed-State": OpenAPIHeader(
        schema=Schema(type=OpenAPIType.STRING, enum=["live", "stale"]),
        description=(
            "State of the answer's feed: `stale` prices are the last known ones. With `include=quote`, "
            "`live` if every feed of a quote or rate is live."
        ),
    ),
    "WWW-Authenticate": _header("How to authenticate: `Bearer`."),
    "X-Missing-Count": _header("Number of unknown symbols in the request.", OpenAPIType.INTEGER),
    "X-Missing-Symbols": _header(
        "Unknown symbols, comma-separated and percent-encoded, as many as fit into "
        f"{MAX_HEADER_BYTES} bytes; `X-Missing-Count` counts all of them. Absent without unknown symbols."
    ),
    "X-Cache": _header(
        "`HIT`: from the cache; `MISS`: fetched for this request; `STALE`: cached and past its lifetime."
    ),
    "Age": _header(
        "Seconds since the upstream answered; 0 for bars that end with the current price.",
        OpenAPIType.INTEGER,
    ),
    "X-Renamed-Symbols": _header(
        "Former symbols of the request with their present ones, as `FB=META`, separated by commas; absent "
        "without any."
    ),
    "X-Source": _header(
        "Source of the bars: a provider's name, or `own` for bars made from the service's own quotes. A "
        "batch may have several sources."
    ),
    "X-Next-Page": _header(
        "Value of `page` for the next page of the same query; absent on the last page, and without pages."
    ),
    "X-Next-After": _header(
        "Value of `after` for the next page of the same query; absent on the last page, and without pages."
    ),
    "X-Session": OpenAPIHeader(
        schema=Schema(type=OpenAPIType.STRING, enum=["regular", "extended"]),
        description="Hours of the bars: `extended` if the request asks for them and the upstream has them.",
    ),
    "X-Tick-Size": _header(
        "Smallest step of the instrument's prices, `0.01`: of stocks by the rule of the exchanges, of pairs, "
        "currencies and metals the last decimal of their prices."
    ),
    "X-Total-Count": _header("Number of matches on all pages.", OpenAPIType.INTEGER),
}
LIMITED: Final = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
_CACHED: Final = ("ETag", "Cache-Control")


#: Media type and an example of each format beside JSON; the documentation names the columns of each table.
_FORMATS: Final = {
    "csv": ("text/csv", "ticker,name,price\r\nAAPL,Apple Inc.,189.84\r\n"),
    "beancount": ("text/plain", "2026-03-31 price AAPL 8387.1312 TRY\n"),
    "ledger": ("text/plain", "P 2026-03-31 AAPL 8387.1312 TRY\n"),
}


def add_formats(operation: Operation, responses: Mapping[str, OpenAPIResponse]) -> None:
    """Adds to the good response of an operation the media types of its parameter `format`."""
    for parameter in operation.parameters or ():
        if isinstance(parameter, Parameter) and parameter.name == FORMAT:
            forms = parameter.schema.enum if isinstance(parameter.schema, Schema) else None
            examples: dict[str, dict[str, Example | Reference]] = {}
            for form in (each for each in forms or () if each in _FORMATS):
                name, text = _FORMATS[form]
                examples.setdefault(name, {})[form] = Example(value=text)
            schema = Schema(type=OpenAPIType.STRING)
            more = {name: OpenAPIMediaType(schema=schema, examples=each) for name, each in examples.items()}
            responses["200"].content = {**(responses["200"].content or {}), **more}


#: The security requirement of public reads: none, or an API key, whose plan then bounds the client.
_OPEN: Final = [{}, {"apiKey": list[str]()}, {"apiKeyBearer": list[str]()}]


def _key_refusals() -> dict[str, OpenAPIResponse]:
    """Returns the responses to an API key that is wrong, or that excludes the request."""
    return {
        "401": _refusal(
            "The API key is wrong; without one the route is open",
            Problem("The API key is invalid, expired or revoked", "invalid_key", ID),
        ),
        "403": _refusal(
            "The scope or the plan of the client excludes the request",
            Problem('Plan "free" includes crypto only', "plan_feeds", ID),
            Problem("This API key is not for doviz", "key_scope", ID),
        ),
    }


def _refusal(description: str, *problems: Problem) -> OpenAPIResponse:
    media = OpenAPIMediaType(
        schema=Reference("#/components/schemas/Problem"),
        examples={each.code or each.detail: Example(value=msgspec.to_builtins(each)) for each in problems},
    )
    return OpenAPIResponse(description=description, content={"application/json": media})


@dataclass
class Reading(Operation):
    """An operation that only reads; adds to each response the headers of its status."""

    own_headers: ClassVar[Sequence[str]] = ()

    def __post_init__(self) -> None:
        """Adds headers to the framework's responses."""
        responses = cast("dict[str, OpenAPIResponse]", self.responses or {})
        self.security = self.security or []
        add_formats(self, responses)
        # The framework documents a 400 for bad parameters; this API answers 422.
        responses.pop("400", None)
        self._add_headers(responses, *(LIMITED if "429" in responses else ()))

    def accept_key(self) -> None:
        """Adds an optional API key, and the answers to one that is refused.

        The document alone shows the key: a handler with security would need a token.
        """
        self.security = _OPEN
        refusals = _key_refusals()
        # The gate refuses keys before requests count.
        self._add_headers(refusals)
        self.responses = {**(self.responses or {}), **refusals}

    def _add_headers(self, responses: Mapping[str, OpenAPIResponse], *more: str) -> None:
        for status, response in responses.items():
            names = [*self._headers_of(status), *more]
            response.headers = {name: Reference(f"#/components/headers/{name}") for name in names}

    def _headers_of(self, status: str) -> list[str]:
        match status:
            case "401":
                return ["X-Request-ID", "WWW-Authenticate"]
            case "200" | "304":
                return ["X-Request-ID", *_CACHED, *self.own_headers]
            case "429" | "503":
                return ["X-Request-ID", "Retry-After"]
            case _:
                return ["X-Request-ID"]


def reading(*headers: str) -> type[Reading]:
    """Returns the operation class of readings whose answers have these headers too."""
    return type("Reading", (Reading,), {"own_headers": headers})


_STATE: Final = "X-Feed-State"
_RENAMED: Final = "X-Renamed-Symbols"
_SYMBOLS: Final = ("X-Missing-Count", "X-Missing-Symbols", _RENAMED)
_CACHE: Final = ("X-Cache", "Age")
#: Bars are a cached history, closed with a feed's price, by pages.
_BARS: Final = (*_CACHE, _STATE, "X-Source", "X-Next-Page")

FeedReading: Final = reading(_STATE)
SymbolReading: Final = reading(_STATE, _RENAMED)
QuotesReading: Final = reading(_STATE, "X-Next-After")
BatchReading: Final = reading(_STATE, *_SYMBOLS)
BatchQuotesReading: Final = reading(_STATE, "X-Next-After", *_SYMBOLS)
CachedReading: Final = reading(*_CACHE)
CompanyReading: Final = reading(*_CACHE, _RENAMED)
ActionsReading: Final = reading(*_CACHE, *_SYMBOLS)
BarsReading: Final = reading(*_BARS, "X-Tick-Size", _RENAMED)
StockBarsReading: Final = reading(*_BARS, "X-Tick-Size", "X-Session", _RENAMED)
HistoryReading: Final = reading(*_CACHE, _STATE, "X-Source", "X-Tick-Size")
BatchBarsReading: Final = reading(*_BARS, *_SYMBOLS)
SparklinesReading: Final = reading(*_CACHE, _STATE, *_SYMBOLS, "X-Source")
PageReading: Final = reading("X-Total-Count")


def answered(kind: Any, example: Any, description: str, *errors: int) -> dict[int, ResponseSpec]:
    """Returns the responses of a public route: 200, 304 and the given errors."""
    good = described(kind, example, description)
    return {200: good, 304: _NOT_MODIFIED, **{status: _ERRORS[status] for status in errors}}


def described(kind: Any, example: Any, description: str) -> ResponseSpec:
    """Returns a response of one type, with an example."""
    return ResponseSpec(
        data_container=kind,
        generate_examples=False,
        description=description,
        # The framework would drop null fields of a plain value.
        examples=[Example(summary="Example", value=msgspec.Raw(msgspec.json.encode(example)))],
    )


def refused(description: str, *problems: Problem) -> ResponseSpec:
    """Returns an error response with an example for each problem."""
    return ResponseSpec(
        data_container=Problem,
        generate_examples=False,
        description=description,
        examples=[Example(summary=each.detail, value=msgspec.to_builtins(each)) for each in problems],
    )


_SCHEMES: Final[dict[str, SecurityScheme | Reference]] = {
    "bearer": SecurityScheme(
        type="http", scheme="bearer", bearer_format="JWT", description="The `token` of register or login."
    ),
    "apiKey": SecurityScheme(
        type="apiKey", name="X-API-Key", security_scheme_in="header", description="An API key, `qc_live_…`."
    ),
    "apiKeyBearer": SecurityScheme(
        type="http", scheme="bearer", bearer_format="API key", description="An API key in `Authorization`."
    ),
}
#: Schemas whose defaults are for the code that builds them: answers have every field.
_WHOLE_SCHEMAS: Final = [
    *(feed.spec.quote.__name__ for feed in Feed),
    "Price",
    "PriceHistory",
    "CorporateAction",
    "Terms",
]

_NOT_MODIFIED: Final = ResponseSpec(data_container=None, description="The client's copy is current")
ID: Final = "1f0c9b3aa2d84e57"
_INVALID: Final = [FieldProblem("symbols", "Name at least one symbol, or all")]
_ERRORS: Final = {
    404: refused("No feed has the symbol", Problem("Symbol not found", "symbol_not_found", ID)),
    422: refused("A value is out of bounds", Problem("Invalid symbols", "invalid", ID, _INVALID)),
    429: refused("The rate limit of this client and path is exhausted", Problem("Too Many Requests")),
    503: refused(
        "The feed has no data yet, or no provider",
        Problem("No data yet for stocks", "no_data", ID),
        Problem("No provider configured for stocks", "no_provider", ID),
    ),
}


def openapi_document(
    handlers: list[ControllerRouterHandler], bodies: Iterable[type[Struct]] = ()
) -> dict[str, Any]:
    """Returns the OpenAPI document of the routes; `bodies` are the structs of request bodies.

    A separate application generates it: enabling OpenAPI in the serving one would add the framework's pages.
    """
    routers = [each for each in handlers if isinstance(each, Router) and TAG in each.opt]
    config = OpenAPIConfig(
        title="quotecast",
        version=version("quotecast"),
        summary="Self-hosted market data",
        description=(
            "Live quotes of US stocks, crypto pairs, and Turkish currency and metals. The WebSocket feeds "
            "are described at `/api/asyncapi.json`. HEAD works wherever GET does."
        ),
        license=License(name="MIT", identifier="MIT"),
        servers=[Server(url="/")],
        tags=[Tag(router.tags[0], router.opt[TAG]) for router in routers],
        components=Components(headers=_HEADERS, security_schemes=_SCHEMES),
        use_handler_docstrings=True,
    )
    app = Litestar(handlers, openapi_config=config, logging_config=None)
    paths = app.openapi_schema.paths or {}
    for route in (each for each in app.routes if isinstance(each, HTTPRoute)):
        item = paths.get(route.path_format)
        operation = item.get if item else None
        if isinstance(operation, Reading) and route.route_handler_map["GET"][0].opt.get(FEED) is not None:
            operation.accept_key()
    document = without_modules(app.openapi_schema.to_schema())
    _, schemas = msgspec.json.schema_components(bodies, ref_template="#/components/schemas/{name}")
    document["components"]["schemas"] |= schemas
    for name in document["components"]["schemas"].keys() & _WHOLE_SCHEMAS:
        schema = document["components"]["schemas"][name]
        schema["required"] = [field for field in schema["properties"] if field not in SELECTABLE]
    complete_fields(document, schemas)
    complete_parameters(document)
    add_samples(document)
    return document
