"""The plans that the settings name, and what follows from them."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from quotecast.access.plans import RESERVED, Plan, PlanFileError, of_everybody, read_plans
from quotecast.environment import PREFIX
from quotecast.settings.model import Settings


def plans_of(settings: Settings) -> Mapping[str, Plan]:
    """Returns the plans of the settings' file by name; none without a file. Raises PlanFileError."""
    return read_plans(Path(settings.plans)) if settings.plans else {}


def users_are_delayed(settings: Settings) -> bool:
    """Returns whether users who are logged in see delayed quotes. Raises PlanFileError."""
    _, user = of_everybody(plans_of(settings))
    return user.is_delayed


def delayed_prefix(settings: Settings) -> str:
    """Returns the prefix, in Redis, of the bus of the delayed feeds.

    Each delay has its own: a worker with a longer one never reads what an ingest published for a shorter one.
    """
    return f"{settings.redis_prefix}:delayed:{settings.delay_seconds}"


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
