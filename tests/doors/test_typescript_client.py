"""The TypeScript client, over the death of both workers."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.oracles.printed_prices import PrintedPrices
from support.servers.running_up import Up
from support.servers.typescript_package import PACKAGES, installed_client, node_of
from support.stages.door_market import Market, kill_workers

SYMBOLS = ("AAPL", "BTC/USDT", "gram-altin")
SCRIPT = Path(__file__).with_name("typescript_stream.mjs")

pytestmark = pytest.mark.slow


@pytest.fixture
def shown(up: Up, tmp_path: Path) -> Iterator[PrintedPrices]:
    """Runs a program on Node with the packed client."""
    project = installed_client(tmp_path, {"ws": PACKAGES["ws"]})
    script = project / SCRIPT.name
    script.write_text(SCRIPT.read_text())
    command: list[str | Path] = [node_of(project), script, f"http://127.0.0.1:{up.port}", ",".join(SYMBOLS)]
    with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, text=True) as process:
        reading = PrintedPrices(process)
        yield reading
        reading.end()


def test_a_stream_goes_on_after_its_workers_died(up: Up, market: Market, shown: PrintedPrices) -> None:
    """It resumes by its cursors, and shows the newest price of every symbol, and no other."""
    market.wait_until_shown(lambda: shown.newest, SYMBOLS)
    kill_workers(up)
    market.wait_for_moves(SYMBOLS)
    market.wait_until_shown(lambda: shown.newest, SYMBOLS)
    market.require_known(shown.every)
