"""The plans that the settings name."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from quotecast.access.plans import RESERVED, Plan, PlanFileError, read_plans
from quotecast.environment import PREFIX
from quotecast.settings.model import Settings


def plans_of(settings: Settings) -> Mapping[str, Plan]:
    """Returns the plans of the settings' file by name; none without a file. Raises PlanFileError."""
    return read_plans(Path(settings.plans)) if settings.plans else {}


def wrong_plans(settings: Settings) -> Iterator[str]:
    """Yields a line for each problem of the file."""
    try:
        plans = plans_of(settings)
    except PlanFileError as error:
        yield f"{PREFIX}PLANS: {error}"
        return
    if settings.limits == "edge" and set(RESERVED) & set(plans):
        names = " and ".join(RESERVED)
        yield f"{PREFIX}PLANS: a cache in front has one answer for all, so {names} need LIMITS=on"
    late = [name for name, plan in plans.items() if plan.is_delayed]
    if late and not settings.delay_seconds:
        yield (
            f"{PREFIX}PLANS: {', '.join(late)}: delayed quotes need {PREFIX}DELAY_SECONDS, such as 900, "
            "for ingest and workers alike"
        )
