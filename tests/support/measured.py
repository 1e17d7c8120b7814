"""An ingest and a worker export metrics, which tests scrape."""

import re

from support.scraping import scrape
from support.service import Service

SETTINGS = {
    "QUOTECAST_METRICS_PORT": "-1",
    "QUOTECAST_LIMIT_DOVIZ": "3",
    "QUOTECAST_LIMIT_AUTH": "100",
    "QUOTECAST_ACCESS_LOG": "1",
    "QUOTECAST_HEARTBEAT_MS": "200",
    "QUOTECAST_WEBSOCKET_ORIGINS": "https://quotes.example",
}


class Measured:
    """An ingest and a worker, with the addresses of their metrics."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.ingest, self.api = (self._started(command) for command in ("ingest", "api"))

    def _started(self, command: str) -> str:
        self.service.launch(command)
        line = self.service._links[-1].recv(1000).decode()
        found = re.search(r"; metrics on (http://127\.0\.0\.1:\d+/metrics)\n", line)
        assert found, line
        return found[1]

    def counted(self, name: str, **labels: str) -> float:
        return scrape(self.api).value(name, **labels)
