"""The configuration that a chart reads first."""

from typing import Final

from msgspec import Struct

from quotecast.api.integrations.udf.instruments import TYPES, exchanges
from quotecast.api.integrations.udf.resolutions import RESOLUTIONS
from quotecast.api.market.services import Services

_NAMES: Final = {"stock": "Stocks", "crypto": "Crypto", "forex": "Forex"} | {
    "commodity": "Metals",
    "index": "Indices",
}


class ExchangeChoice(Struct, frozen=True):
    """A choice of the search: `value` is what the search takes."""

    value: str
    name: str
    desc: str


class TypeChoice(Struct, frozen=True):
    """A choice of the search: `value` is what the search takes."""

    name: str
    value: str


class Configuration(Struct, frozen=True, kw_only=True):
    """What the service offers to charts, in the fields of TradingView's `DatafeedConfiguration`."""

    supports_search: bool = True
    supports_group_request: bool = False
    supports_marks: bool = True
    supports_timescale_marks: bool = False
    supports_time: bool = True
    supported_resolutions: list[str]
    exchanges: list[ExchangeChoice]
    symbols_types: list[TypeChoice]


def configuration(services: Services) -> Configuration:
    """Returns the configuration; the exchanges are those of the present symbols."""
    return configuration_with(exchanges(services))


def configuration_with(names: list[str]) -> Configuration:
    """Returns the configuration with some exchanges."""
    return Configuration(
        supported_resolutions=[*RESOLUTIONS],
        exchanges=[
            ExchangeChoice("", "All exchanges", ""),
            *(ExchangeChoice(name, name, name) for name in names),
        ],
        symbols_types=[TypeChoice("All types", ""), *(TypeChoice(_NAMES[each], each) for each in TYPES)],
    )
