"""An ingest and a worker export metrics, which tests scrape."""

from support.clients.scraping import scrape
from support.servers.service import Service

SETTINGS = {
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
        self.ingest, self.api = (service.start_measured(command) for command in ("ingest", "api"))

    def counted(self, name: str, **labels: str) -> float:
        return scrape(self.api).value(name, **labels)
