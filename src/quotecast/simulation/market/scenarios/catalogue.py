"""All scenarios by name, made from parameters that are checked."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from quotecast.complaints import choices_of, complaint
from quotecast.market.reference import doviz_instruments, pairs, stocks
from quotecast.simulation.market.scenarios.base import Scenario
from quotecast.simulation.market.scenarios.connections import (
    Drop,
    Duplicate,
    Frozen,
    Maintenance,
    OutOfOrder,
    RateLimited,
    Slow,
)
from quotecast.simulation.market.scenarios.trading import (
    BadTick,
    Delisting,
    FlashCrash,
    GapOpen,
    HalfDay,
    Halt,
    Holiday,
    NewListing,
    OpenBurst,
    Split,
)

_TYPES: Final[tuple[type[Scenario], ...]] = (
    OpenBurst,
    BadTick,
    Frozen,
    Drop,
    Slow,
    Duplicate,
    OutOfOrder,
    Maintenance,
    RateLimited,
    FlashCrash,
    Halt,
    GapOpen,
    Split,
    NewListing,
    Delisting,
    Holiday,
    HalfDay,
)
#: Each scenario's type by name.
CATALOGUE: Final[Mapping[str, type[Scenario]]] = {str(each.__struct_config__.tag): each for each in _TYPES}
#: Instruments that one scenario may name, and characters of a name.
_MAX_SYMBOLS: Final = 1000
_MAX_SYMBOL: Final = 32


class ScenarioError(ValueError):
    """A scenario's name, start or parameter is wrong; the message names it, and what is possible."""


def scenario_of(name: str, parameters: Mapping[str, Any]) -> Scenario:
    """Returns a scenario; numbers may be texts. Raises ScenarioError."""
    if name not in CATALOGUE:
        raise ScenarioError(f"there is no scenario {name[:40]!r}; known are {', '.join(sorted(CATALOGUE))}")
    kind = CATALOGUE[name]
    known = [each.name for each in _fields(kind)]
    unknown = next((key for key in parameters if key not in known), None)
    if unknown is not None:
        raise ScenarioError(f"{name}: there is no parameter {unknown[:40]!r}; it has {', '.join(known)}")
    try:
        scenario = msgspec.convert({"name": name, **parameters}, kind, strict=False)
    except msgspec.ValidationError as error:
        annotations = {each.name: each.type for each in fields(kind)}
        field = complaint(str(error)).field.partition("[")[0]
        found = complaint(str(error), choices_of(annotations.get(field)), as_text=True)
        text = f"{found.field}: {found.message}" if found.field else found.message
        raise ScenarioError(f"{name}: {text}") from None
    if len(scenario.symbols) > _MAX_SYMBOLS or any(len(each) > _MAX_SYMBOL for each in scenario.symbols):
        raise ScenarioError(
            f"{name}: symbols: Must be at most {_MAX_SYMBOLS}, of {_MAX_SYMBOL} characters each"
        )
    unlisted = next((each for each in scenario.symbols if each not in _instruments()), None)
    if unlisted is not None:
        raise ScenarioError(
            f"{name}: symbols: there is no {unlisted!r}; name tickers (AAPL) and pairs (BTC/USDT)"
        )
    return scenario


def parameters_of(scenario: Scenario) -> dict[str, Any]:
    """Returns a scenario's name and parameters as plain values."""
    values: dict[str, Any] = msgspec.to_builtins(scenario)
    known = {each.name for each in _fields(type(scenario))}
    return {key: value for key, value in values.items() if key == "name" or key in known}


class Described(Struct):
    """A scenario's name and meaning, and its parameters with their defaults."""

    name: str
    meaning: str
    parameters: dict[str, Any]


def listing() -> list[Described]:
    """Returns all scenarios by name."""
    found = []
    for name, kind in sorted(CATALOGUE.items()):
        meaning = (kind.__doc__ or "").partition("\n")[0].rstrip(".")
        found.append(Described(name, meaning, {each.name: each.default for each in _fields(kind)}))
    return found


def describe() -> list[str]:
    """Returns a line for each scenario: its name, meaning, and parameters with their defaults."""
    lines = []
    for each in listing():
        shown = ", ".join(f"{name}={_shown(value)}" for name, value in each.parameters.items())
        lines.append(f"{each.name}: {each.meaning}{f' ({shown})' if shown else ''}")
    return lines


def _fields(kind: type[Scenario]) -> list[FieldInfo]:
    """Returns the parameters; `symbols` only where a hook concerns single instruments."""
    hooks = (
        (Scenario.alterations, kind.alterations),
        (Scenario.delays, kind.delays),
        (Scenario.spoil, kind.spoil),
    )
    by_symbol = any(own is not inherited for inherited, own in hooks)
    return [each for each in fields(kind) if by_symbol or each.name != "symbols"]


@lru_cache(1)
def _instruments() -> frozenset[str]:
    """Returns the market's names of its instruments; a pair in USDT has a twin in USD."""
    tickers = [each.ticker for each in pairs()]
    twins = [each.removesuffix("T") for each in tickers if each.endswith("/USDT")]
    return frozenset(
        [
            *tickers,
            *twins,
            *(each.ticker for each in stocks()),
            *(each.symbol for each in doviz_instruments()),
        ]
    )


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return "+".join(value) or "all" if isinstance(value, tuple) else str(value)
