"""Three tiers, a fault after the other: no client gets a wrong price, and all are right again soon."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Final

import pytest

from faults import tier_faults
from faults.drawn_faults import ingest_dies
from support.runs.figures import Figures
from support.servers.processes import running_valkey
from support.servers.service import Service
from support.servers.whole_service import SETTINGS, Whole
from support.stages.tiers import SECRET, TieredLoad, running_tiers

#: Clients of each tier.
CLIENTS: Final = 6
#: Longer than a worker takes to notice that its bus is silent.
SILENT_SECONDS: Final = 4.0
PATIENCE_SECONDS: Final = 45.0
#: Faults, how long each lasts, and within which time all clients have newer prices.
FAULTS: Final[tuple[tuple[str, Callable[[Whole], AbstractContextManager[Any]], float, float], ...]] = (
    ("edge 2 dies", tier_faults.edge_dies(2), 0.2, 5.0),
    ("line 3 is silent", tier_faults.line_is_silent(3), SILENT_SECONDS, 5.0),
    ("line 2 breaks off", tier_faults.line_breaks_off(2), 1.0, 5.0),
    ("edge 3 freezes", tier_faults.edge_freezes(3), 1.0, 2.0),
    ("line 2 is cut while ingest dies", tier_faults.line_is_cut(2), 0.5, 5.0),
)


@pytest.mark.timeout(300)
def test_three_tiers_are_right_after_each_fault(figures: Figures) -> None:
    """Clients at three tiers, and those that change between them, see no wrong price and end up equal."""
    settings = {**SETTINGS, "QUOTECAST_RELAY_SECRET": SECRET}
    with running_valkey() as redis, Service(redis, settings) as service:
        service.start("ingest", "api")
        ingest, worker = service.processes
        with running_tiers(service.port, SETTINGS) as tiers:
            nowhere: Any = None
            whole = Whole(redis, nowhere, service, None, [ingest], [worker], tiers)
            with TieredLoad(service.port, [edge.port for edge in tiers.edges], CLIENTS) as load:
                for name, inflict, seconds, promised in FAULTS:
                    _suffer(whole, load, inflict, seconds, with_ingest="ingest" in name)
                    took = load.until_newer(time.time(), PATIENCE_SECONDS)
                    figures.at_most(f"prices at all tiers after: {name}", took, promised)
                whole._settle(load)
                assert load.broken_promises == []
                assert sum(wanderer.moves for wanderer in load.wanderers) > len(load.wanderers)
                resumed = [wanderer for wanderer in load.wanderers if wanderer.resyncs <= wanderer.moves // 2]
                assert resumed


def _suffer(
    whole: Whole,
    load: TieredLoad,
    inflict: Callable[[Whole], AbstractContextManager[Any]],
    seconds: float,
    *,
    with_ingest: bool,
) -> None:
    """Lets a fault last; the clients go on meanwhile."""
    with ExitStack() as stack:
        if with_ingest:
            stack.enter_context(ingest_dies(whole))
        stack.enter_context(inflict(whole))
        time.sleep(seconds)
    assert load.broken_promises == []
