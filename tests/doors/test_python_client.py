"""The Python client, installed from its wheel, over the death of both workers."""

import contextlib
import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.receiver import Receiver
from quotecast_client import AsyncClient, Client, Unauthorized, verify_webhook
from support.runs.deadlines import scaled
from support.servers.python_packages import build_package, install_package, without_paths
from support.servers.running_up import Up
from support.stages.door_market import Market, kill_workers

SYMBOLS = ("AAPL", "BTC/USDT", "gram-altin")
PROGRAM = Path(__file__).with_name("python_client_program.py")

pytestmark = pytest.mark.slow


class Follower:
    """A process that prints the changes of a stream."""

    def __init__(self, interpreter: Path, face: str, address: str) -> None:
        self.prices: dict[str, float] = {}
        self.shown: set[tuple[str, float]] = set()
        self.process = subprocess.Popen(
            [interpreter, "-W", "error", PROGRAM, face, address, *SYMBOLS],
            stdout=subprocess.PIPE,
            text=True,
            env=without_paths(),
        )
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def newest(self) -> dict[str, float]:
        return dict(self.prices)

    def end(self) -> None:
        self.process.kill()
        self._thread.join()
        self.process.communicate()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            symbol, price = json.loads(line)
            self.shown.add((symbol, price))
            self.prices[symbol] = price


@contextlib.contextmanager
def following(interpreter: Path, face: str, up: Up) -> Iterator[Follower]:
    follower = Follower(interpreter, face, f"http://127.0.0.1:{up.port}")
    try:
        yield follower
    finally:
        follower.end()


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that has nothing but the wheel of the client and what it needs."""
    folder = tmp_path_factory.mktemp("python-client")
    wheel, _ = build_package(folder / "dist")
    return install_package(wheel, folder / "venv")


def test_both_faces_go_on_after_the_workers_died(interpreter: Path, up: Up, market: Market) -> None:
    """They show the newest prices before and after it, and never a wrong one."""
    with following(interpreter, "blocking", up) as one, following(interpreter, "asyncio", up) as other:
        followers = (one, other)
        for each in followers:
            market.wait_until_shown(each.newest, SYMBOLS)
        kill_workers(up)
        market.wait_for_moves(SYMBOLS)
        for each in followers:
            market.wait_until_shown(each.newest, SYMBOLS)
            assert each.process.poll() is None
            market.require_known(each.shown)


def test_one_program_reads_prices_bars_and_an_account(interpreter: Path, up: Up) -> None:
    """The recipe of the documentation works as it is written."""
    page = Path(__file__).parents[2] / "docs" / "python.md"
    recipe = page.read_text().split("```python\n", 1)[1].split("```", 1)[0]
    program = recipe.replace("http://127.0.0.1:8000", f"http://127.0.0.1:{up.port}")
    ran = subprocess.run(
        [interpreter, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=scaled(60),
        check=False,
        env=without_paths(),
    )
    assert ran.returncode == 0, ran.stderr
    assert "AAPL" in ran.stdout


async def test_an_account_follows_its_alerts_and_checks_its_webhook(up: Up) -> None:
    async with AsyncClient(f"http://127.0.0.1:{up.port}") as client, Receiver().serve() as receiver:
        await client.register("Ayşe", "ayse@example.com", "correct horse")
        for _ in range(2):  # the second one is the first one again
            await client.portfolio.add("AAPL", 10, 187.5, key="once")
        assert [each["ticker"] for each in await client.portfolio.holdings(quotes=True)] == ["AAPL"]
        metals = await client.watchlists.create("Metals", [{"ticker": "gram-altin", "type": "doviz"}])
        assert [each["ticker"] for each in await client.watchlists.entries(metals["id"])] == ["gram-altin"]
        await client.alerts.add("BTC/USDT", "falls", 2, window="15m")
        assert (await client.alerts.events())["events"] == []
        secret = (await client.alerts.set_webhook(f"http://127.0.0.1:{receiver.port}/"))["secret"]
        assert (await client.alerts.test_webhook())["delivered"]
        (message,) = await receiver.wait_for(1)
        assert verify_webhook(secret, message.headers, message.body)["type"] == "test"
        old = client.token
        await client.logout()
        async with AsyncClient(f"http://127.0.0.1:{up.port}", token=old) as other:
            with pytest.raises(Unauthorized):
                await other.profile()


def test_live_bars_begin_with_closed_ones(up: Up) -> None:
    """A bar in progress comes first; the closed ones before it come from REST."""
    with Client(f"http://127.0.0.1:{up.port}") as client, client.stream_bars("BTC/USDT", "1m") as stream:
        first = next(stream)
        assert not first.bar["final"]
        for _ in stream:
            if not stream.copies["crypto"].bars.missing:
                break
        held = list(stream.copies["crypto"].bars.by_symbol["BTC/USDT"].values())
        assert held == sorted(held, key=lambda bar: bar["time"])
