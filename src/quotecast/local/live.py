"""Which groups are live: as `quotecast up --live` chooses, and as the settings say."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.settings import PREFIX, Settings

#: Groups whose upstreams ask for no key.
_KEYLESS: Final = {"crypto": ("binance", "coinbase", "kraken"), "doviz": "truncgil"}


class _Keyed(Struct, frozen=True):
    provider: str
    keys: tuple[str, ...]


_KEYED: Final = {
    "stocks": _Keyed("alpaca", ("alpaca_key", "alpaca_secret")),
    "financials": _Keyed("finnhub", ("finnhub_key",)),
}


def chosen(settings: Settings, environment: Mapping[str, str]) -> Settings:
    """The settings with real providers; a group that was chosen by hand stays as it is.

    A group whose key is missing is switched off: what is real and what is not shall not stand side by side
    unless the operator wants it.
    """
    given = {group for group in (*_KEYLESS, *_KEYED) if _variable(group) in environment}
    keyed = {group: _keyed(each, settings) for group, each in _KEYED.items()}
    return replace(settings, **{g: p for g, p in (_KEYLESS | keyed).items() if g not in given})


def environment_of(settings: Settings) -> dict[str, str]:
    """What tells other processes which providers were chosen."""
    return {_variable(group): ",".join(_names(settings, group)) for group in (*_KEYED, *_KEYLESS)}


def introduction(settings: Settings) -> list[str]:
    """A line for each group: live, simulated, recorded or off, and why."""
    return [f"{group:<10} {_state(settings, group)}" for group in ("stocks", *_KEYLESS, "financials")]


def _keyed(each: _Keyed, settings: Settings) -> str:
    return each.provider if all(getattr(settings, key) for key in each.keys) else "none"


def _state(settings: Settings, group: str) -> str:
    names = _names(settings, group)
    match names[0]:
        case "simulator":
            return "simulated"
        case "replay":
            return "recorded"
        case "none" if group in _KEYED:
            needed = " and ".join(_variable(key) for key in _KEYED[group].keys)
            return f"off; {_KEYED[group].provider} needs {needed}"
        case "none":
            return "off"
        case _:
            return f"live from {', then '.join(names)}"


def _names(settings: Settings, group: str) -> tuple[str, ...]:
    value: str | tuple[str, ...] = getattr(settings, group)
    return (value,) if isinstance(value, str) else value


def _variable(name: str) -> str:
    return PREFIX + name.upper()
