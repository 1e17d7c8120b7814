"""Readiness of an ingest: it leads each of its feeds, or waits as the standby of another ingest."""

from collections.abc import Mapping
from http import HTTPStatus

import msgspec

from quotecast.ingest.publish import IngestStatistics
from quotecast.market.feeds import Feed


def readiness(statistics: Mapping[Feed, IngestStatistics]) -> tuple[HTTPStatus, bytes]:
    """Returns 200, or 503 while the bus does not say who leads; the body has its role in each feed."""
    feeds = {feed: each.standing for feed, each in statistics.items()}
    waiting = "unknown" in feeds.values()
    body = msgspec.json.encode({"status": "waiting" if waiting else "ready", "feeds": feeds})
    return HTTPStatus.SERVICE_UNAVAILABLE if waiting else HTTPStatus.OK, body
