"""Plans of scenarios as texts that other processes read."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import fields

from quotecast.simulation.market.quoters import iso
from quotecast.simulation.market.scenarios.base import Scenario
from quotecast.simulation.market.scenarios.schedule import Planned


def texts_of(plan: Iterable[Planned]) -> Iterator[str]:
    """Yields the text of each scenario, with the date and time of its start: `plan_of` reads it."""
    for planned in plan:
        head = f"{planned.scenario.__struct_config__.tag}@{iso(planned.start)}"
        yield ",".join([head, *parameters(planned.scenario)])


def parameters(scenario: Scenario) -> Iterator[str]:
    """Yields the parameters that differ from their defaults."""
    for field in fields(scenario):
        value: Any = getattr(scenario, field.name)
        if value != field.default:
            yield f"{field.name}={_shown(value)}"


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return "+".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
