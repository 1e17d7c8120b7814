"""Keys of upstreams in the whole service: it uses them, and no log nor answer has them."""

import contextlib
from pathlib import Path

import pytest

from support.runs.waits import wait_until
from support.servers.processes import Valkey
from support.servers.service import Service
from support.servers.simulated_vendor import simulated_vendor

CANARIES = {
    "QUOTECAST_ALPACA_KEY": "CANARYalpacaKEY01",
    "QUOTECAST_ALPACA_SECRET": "CANARYalpacaSECRET02",
    "QUOTECAST_FINNHUB_KEY": "CANARYfinnhubKEY03",
}
#: Half as often as the limit of the path allows.
POLL_SECONDS = 1.0
PATHS = [
    "/api/market/status",
    "/api/market/quotes?symbols=AAPL",
    "/api/market/quotes/AAPL",
    "/api/market/bars/AAPL?range=5D",
    "/api/market/news",
    "/api/market/assets",
    "/api/financials/company/AAPL/overview",
    "/api/financials/company/AAPL/metrics",
    "/api/financials/company/NOSUCH/earnings",
    "/api/health",
    "/api/ready",
]


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False], ids=["accepted", "refused"])
def test_keys_appear_in_no_log_and_no_answer(own_valkey: Valkey, tmp_path: Path, *, known: bool) -> None:
    """At the most talkative level, whether the upstreams accept them or not."""
    key, secret, other = CANARIES.values() if known else ("a", "b", "c")
    with contextlib.ExitStack() as stack:
        alpaca = stack.enter_context(simulated_vendor("alpaca", "--key", key, "--secret", secret))
        finnhub = stack.enter_context(simulated_vendor("finnhub", "--key", other))
        settings = {
            **CANARIES,
            "QUOTECAST_STOCKS": "alpaca",
            "QUOTECAST_CRYPTO": "none",
            "QUOTECAST_DOVIZ": "none",
            "QUOTECAST_FINANCIALS": "finnhub",
            "QUOTECAST_ALPACA_URL": alpaca.url,
            "QUOTECAST_ALPACA_TRADING_URL": alpaca.url,
            "QUOTECAST_ALPACA_WEBSOCKET_URL": alpaca.websocket_url,
            "QUOTECAST_FINNHUB_URL": f"{finnhub.url}/api/v1",
            "QUOTECAST_LOG_LEVEL": "debug",
        }
        service = stack.enter_context(Service(own_valkey, settings))
        log = tmp_path / "log"
        with log.open("wb") as output:
            for command in ("ingest", "api"):
                service.launch(command, stdout=output, stderr=output)
        service.answers("/api/health")
        if known:
            wait_until(
                lambda: service.get("/api/market/quotes/AAPL").is_success,
                "no price arrived",
                pause=POLL_SECONDS,
            )
        else:
            wait_until(lambda: "refuse" in log.read_text(), "the log has no refusal")
        answers = [service.get(path) for path in PATHS]
        told = "".join(f"{answer.headers}{answer.text}" for answer in answers) + log.read_text()
    assert "AAPL" in told
    assert not [text for text in CANARIES.values() if text in told]
