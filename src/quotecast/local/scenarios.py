"""The scenarios of `quotecast up`: it decides when each begins, so that all processes agree."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from quotecast.environment import PREFIX
from quotecast.errors import SettingsError
from quotecast.providers.offer import GROUPS
from quotecast.providers.simulator.quoters import NAME
from quotecast.providers.simulator.scenarios.catalogue import ScenarioError
from quotecast.providers.simulator.scenarios.planning import plan_of
from quotecast.providers.simulator.scenarios.schedule import Planned
from quotecast.providers.simulator.scenarios.writing import texts_of
from quotecast.settings.model import Settings

_VARIABLE: Final = f"{PREFIX}SIMULATOR_SCENARIO"


def plan_scenarios(settings: Settings, texts: Sequence[str], now: int) -> Settings:
    """Returns the settings with the scenarios of the setting and of the command line, each with its time.

    `now` is in Unix milliseconds. Raises SettingsError for a wrong text, and if nothing is simulated.
    """
    if texts and not any(NAME in settings.providers_of(group) for group in GROUPS):
        raise SettingsError("--scenario: no group has simulated data here")
    own = settings.own[NAME]
    plan: list[Planned] = own.plan(now)
    try:
        plan += plan_of(texts, now)
    except ScenarioError as error:
        raise SettingsError(f"--scenario: {error}") from error
    return replace(settings, own={**settings.own, NAME: replace(own, scenario=";".join(texts_of(plan)))})


def environment_of(settings: Settings) -> dict[str, str]:
    """Returns the variable that names the scenarios to other processes."""
    return {_VARIABLE: settings.own[NAME].scenario}


def describe_scenarios(settings: Settings) -> list[str]:
    """Returns a line for each scenario."""
    return [f"Scenario        {text}" for text in texts_of(settings.own[NAME].plan(None))]
