"""Metrics of API keys."""

from quotecast.access.usage import Usage
from quotecast.api.metrics.metrics import BUSIEST, key_families
from support.clients.scraping import scrape_of


def test_busiest_keys_have_metrics_of_their_own() -> None:
    """Labels are ids; the number of series is bounded."""
    usage = Usage()
    for number in range(BUSIEST + 5):
        for _ in range(number + 1):
            usage.add_request(f"{number:024x}", 200)
    busiest = f"{BUSIEST + 4:024x}"
    usage.open_socket(busiest)
    found = scrape_of(key_families(30, usage))
    assert found.value("quotecast_api_keys_known") == 30
    assert len(found.labels("quotecast_key_requests_total")) == BUSIEST
    assert found.value("quotecast_key_requests_total", key=busiest) == BUSIEST + 5
    assert found.value("quotecast_key_sockets", key=busiest) == 1
    assert found.value("quotecast_key_sockets") == 1


def test_refusals_count_by_status() -> None:
    """Other errors are no refusals."""
    usage = Usage()
    for status in (403, 429, 429, 503):
        usage.add_request("0" * 24, status)
    found = scrape_of(key_families(1, usage))
    assert found.value("quotecast_key_refusals_total", code="429") == 2
    assert found.value("quotecast_key_refusals_total", code="403") == 1
    assert found.value("quotecast_key_refusals_total") == 3
