"""OpenBB Workspace's backend by script, from a running service, over the death of both workers."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
import websockets.sync.client
from websockets.exceptions import WebSocketException
from websockets.typing import Origin

from docs.pages import blocks, page
from support.runs.deadlines import scaled
from support.servers.running_up import Up
from support.stages.door_market import Market, kill_workers

SYMBOLS = {"market": "AAPL", "crypto": "BTC/USDT", "doviz": "gram-altin"}
ORIGIN = Origin("https://pro.openbb.co")

pytestmark = pytest.mark.slow


class Grid:
    """A live grid as Workspace shows it: first the rows of the endpoint, then the messages of the socket."""

    def __init__(self, up: Up, widget: dict[str, Any], symbol: str) -> None:
        self._up = up
        self._row = widget["data"]["wsRowIdColumn"]
        self._address = f"ws://127.0.0.1:{up.port}/{widget['wsEndpoint']}"
        self._asked = json.dumps({"params": {"symbol": symbol}})
        self.rows: dict[str, dict[str, Any]] = {}
        self.shown: set[tuple[str, float]] = set()
        for row in read(up, f"/{widget['endpoint']}?symbol={symbol}"):
            self._show(row)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._ending.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._ending.is_set():
            try:
                self._follow_once()
            except (OSError, WebSocketException):
                self._ending.wait(0.05)

    def _follow_once(self) -> None:
        with websockets.sync.client.connect(self._address, origin=ORIGIN) as connection:
            connection.send(self._asked)
            while not self._ending.is_set():
                try:
                    self._show(json.loads(connection.recv(timeout=0.5)))
                except TimeoutError:
                    continue

    def _show(self, cells: dict[str, Any]) -> None:
        row = self.rows.setdefault(cells[self._row], {})
        row.update(cells)
        self.shown.add((cells[self._row], row["price"]))


def read(up: Up, path: str) -> Any:
    """Reads an endpoint as Workspace's page does."""
    answer = httpx.get(f"http://127.0.0.1:{up.port}{path}", headers={"origin": ORIGIN}, timeout=scaled(30))
    assert answer.headers["access-control-allow-origin"] in {"*", ORIGIN}
    return answer.raise_for_status().json()


@contextmanager
def grids(up: Up) -> Iterator[list[Grid]]:
    widgets = read(up, "/widgets.json")
    made = [Grid(up, widgets[f"api_openbb_{feed}_grid"], symbol) for feed, symbol in SYMBOLS.items()]
    try:
        yield made
    finally:
        for grid in made:
            grid.end()


def test_live_grids_go_on_after_their_workers_died(up: Up, market: Market) -> None:
    """No price is wrong, and the newest ones appear."""
    with grids(up) as shown:
        kill_workers(up)

        def prices() -> dict[str, float]:
            return {key: row["price"] for grid in shown for key, row in [*grid.rows.items()]}

        symbols = [*SYMBOLS.values()]
        market.wait_for_moves(symbols)
        market.wait_until_shown(prices, symbols)
        market.require_known(each for grid in shown for each in [*grid.shown])


def test_every_widget_of_every_tab_has_data(up: Up, market: Market) -> None:
    """Opens the dashboard: each widget with its first values, and each dropdown."""
    del market
    widgets = read(up, "/widgets.json")
    (app,) = read(up, "/apps.json")
    placed = {each["i"] for tab in app["tabs"].values() for each in tab["layout"]}
    for name in sorted(placed):
        widget = widgets[name]
        params = widget.get("params", ())
        query = httpx.QueryParams({each["paramName"]: each["value"] for each in params})
        assert read(up, f"/{widget['endpoint']}?{query}"), name
        for each in params:
            if "optionsEndpoint" in each:
                assert read(up, f"/{each['optionsEndpoint']}"), name


def test_the_program_of_the_page_prints_live_rows(up: Up, market: Market) -> None:
    (program,) = blocks(page("openbb"), "python")
    program = program.replace("127.0.0.1:8000", f"127.0.0.1:{up.port}")
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        rows = [json.loads(running.stdout.readline()) for _ in range(4)]
        running.kill()
    assert [row["ticker"] for row in rows[:2]] == ["AAPL", "MSFT"]
    market.require_known((row["ticker"], row["price"]) for row in rows)
