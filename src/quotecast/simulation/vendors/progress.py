"""The progress of scenarios: a log line when one begins, and one when it ends."""

import asyncio
from typing import Any

import structlog

from quotecast.simulation.market.quoters import iso
from quotecast.simulation.market.scenarios.catalogue import parameters_of
from quotecast.simulation.market.scenarios.planning import parameters
from quotecast.simulation.market.scenarios.schedule import Planned, Schedule
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.server import TICK_MS

log = structlog.get_logger()


async def log_progress(schedule: Schedule, clock: MarketClock) -> None:
    """Logs the scenarios that begin and end, indefinitely."""
    running: list[Planned] = []
    while True:
        before, moment = running, clock.moment()
        running = [each for each in schedule.planned if each.is_active(moment)]
        for each in before:
            if each not in running:
                log.info("scenario ends", scenario=each.scenario.__struct_config__.tag, at=iso(moment))
        for each in running:
            if each not in before:
                text = ",".join([str(each.scenario.__struct_config__.tag), *parameters(each.scenario)])
                log.info("scenario begins", scenario=text, at=iso(moment))
        await asyncio.sleep(TICK_MS / 1000)


def row_of(planned: Planned) -> dict[str, Any]:
    """Returns a planned scenario's name, parameters, start and end as plain values."""
    length = planned.scenario.milliseconds
    end = None if length is None else iso(planned.start + length)
    return {**parameters_of(planned.scenario), "start": iso(planned.start), "end": end}


def describe(planned: Planned) -> str:
    """Returns a planned scenario's name and start."""
    return f"{planned.scenario.__struct_config__.tag} at {iso(planned.start)}"
