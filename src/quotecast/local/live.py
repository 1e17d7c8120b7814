"""The choice of live providers by `quotecast up --live`, and the description of each group's provider."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from quotecast.environment import PREFIX
from quotecast.providers.offer import GROUPS
from quotecast.providers.offers import BUILT_IN, NONE, live_names
from quotecast.settings.model import Settings
from quotecast.settings.providers import key_variables, names_of


def choose_providers(settings: Settings, environment: Mapping[str, str]) -> Settings:
    """Returns the settings with real providers; a group with a variable of its own stays unchanged.

    A group without its API key is off: real and simulated data mix only by the operator's own settings.
    """
    changes: dict[str, Any] = {}
    for group in GROUPS:
        if _variable(group) not in environment:
            names = [
                name
                for name in live_names(group)
                if all(getattr(settings.own[name], key) for key in BUILT_IN[name].keys)
            ] or [NONE]
            # Some settings are several names, others one.
            changes[group] = tuple(names) if isinstance(getattr(settings, group), tuple) else names[0]
    return replace(settings, **changes)


def environment_of(settings: Settings) -> dict[str, str]:
    """Returns the variables that name the chosen providers to other processes."""
    return {_variable(group): ",".join(names_of(getattr(settings, group))) for group in GROUPS}


def describe_groups(settings: Settings) -> list[str]:
    """Returns a line for each group: live, simulated, recorded or off, with the reason."""
    return [f"{group:<10} {_state(settings, group)}" for group in GROUPS]


def _state(settings: Settings, group: str) -> str:
    names = names_of(getattr(settings, group))
    match names[0]:
        case "simulator":
            return "simulated"
        case "replay" | "history":
            return "recorded"
        case "quotecast":
            return f"followed from {settings.origin}"
        case "none":
            first = live_names(group)[0]
            needed = key_variables(first)
            return f"off; {first} needs {' and '.join(needed)}" if needed else "off"
        case _:
            return f"live from {', then '.join(names)}"


def _variable(group: str) -> str:
    return PREFIX + group.upper()
