"""The delayed feeds in the settings."""

from quotecast.access.plans import of_everybody
from quotecast.settings.model import Settings
from quotecast.settings.plans import plans_of


def delayed_prefix(settings: Settings) -> str:
    """Returns the prefix, in Redis, of the bus of the delayed feeds.

    Each delay has its own: a worker with a longer one never reads what an ingest published for a shorter one.
    """
    return f"{settings.redis_prefix}:delayed:{settings.delay_seconds}"


def users_are_delayed(settings: Settings) -> bool:
    """Whether users who are logged in see delayed quotes. Raises PlanFileError."""
    plans = plans_of(settings)
    _, user = of_everybody(plans)
    return user.is_delayed
