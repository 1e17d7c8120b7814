"""The offer of `replay`: the pairs of a recording."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from quotecast.market.feeds import Feed
from quotecast.providers.offer import Offer, Terms
from quotecast.providers.replay.client import ReplayProvider


class ReplaySettings(Struct, frozen=True, kw_only=True):
    """The variables `QUOTECAST_REPLAY_*`."""

    file: Annotated[Path, Meta(description="Recording that `replay` plays")] = Path("recording.ndjson")
    speed: Annotated[float, Meta(gt=0, le=100_000, description="How many times faster than recorded")] = 1.0
    loop: Annotated[Literal["on", "off"], Meta(description="Whether a replay starts over at its end")] = "off"


def _problems(settings: ReplaySettings) -> Iterator[str]:
    if not settings.file.is_file():
        yield f"FILE: {str(settings.file)!r} is not a file"


OFFER: Final = Offer[ReplaySettings](
    settings=ReplaySettings,
    problems=_problems,
    simulated=True,
    terms={"replay": Terms(summary="those of what it recorded")},
    quotes={
        Feed.CRYPTO: lambda settings, _budgets: ReplayProvider(
            settings.file, speed=settings.speed, loop=settings.loop == "on"
        )
    },
)
