"""The standing of an ingest whose bus fails at the moment in which it becomes the leader."""

from quotecast.errors import BusError
from quotecast.ingest.publish import FeedPublisher, IngestStatistics
from quotecast.market.feeds import Feed
from quotecast.providers.simulator.client import SimulatorProvider
from support.made.memory_bus import MemoryBus
from support.runs.waits import until
from support.stages.following import running


class FailingBus(MemoryBus):
    """A bus that neither loads a state nor renews a lease."""

    def __init__(self) -> None:
        super().__init__(lambda: 0.0)

    async def load(self, *_: object, **__: object) -> None:
        raise BusError("away")

    async def hold(self, *_: object) -> bool:
        raise BusError("away")


async def test_outage_before_the_first_state_is_loaded_changes_the_standing() -> None:
    """Readiness must not report `leading` while no bus confirms it."""
    statistics = IngestStatistics(standing="leading")
    provider = SimulatorProvider(Feed.CRYPTO, seed=1, rate=1.0, speed=1.0, always_open=True)
    async with running(FeedPublisher(provider, FailingBus(), "me", statistics=statistics).run()):
        await until(lambda: statistics.standing == "unknown")
