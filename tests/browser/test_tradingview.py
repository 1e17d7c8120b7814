"""The page of docs/tradingview.md in a browser: lightweight-charts, drawn through the datafeed."""

import functools
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from docs.pages import blocks, page
from support.made.web_files import CLIENT, WEB
from support.servers.opened_page import eventually, open_page
from support.servers.service import Service

pytestmark = [pytest.mark.browser, pytest.mark.slow]

#: Counts the pixels in the colours of rising and falling candles.
CANDLES = """() => {
  const colours = new Set(["38,166,154", "239,83,80"]);
  let drawn = 0;
  for (const canvas of document.querySelectorAll("#chart canvas")) {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width || 1, canvas.height || 1);
    for (let at = 0; at < data.length; at += 4) drawn += colours.has(data.slice(at, at + 3).join());
  }
  return drawn;
}"""


@pytest.fixture
def address(service: Service, tmp_path: Path) -> Iterator[str]:
    """Builds the page as it is written, with the service's port, and serves it from an origin of its own."""
    (html,) = blocks(page("tradingview"), "html")
    script = next(each for each in blocks(page("tradingview"), "js") if "createChart" in each)
    (tmp_path / "index.html").write_text(html)
    (tmp_path / "chart.js").write_text(script.replace("http://127.0.0.1:8000", service.url))
    subprocess.run(
        [
            *(
                WEB / "node_modules/.bin/esbuild",
                "chart.js",
                "--bundle",
                "--format=esm",
                "--outfile=bundle.js",
            ),
            f"--alias:quotecast-client/tradingview={CLIENT}/src/tradingview/index.ts",
        ],
        cwd=tmp_path,
        env={**os.environ, "NODE_PATH": str(WEB / "node_modules")},
        check=True,
        capture_output=True,
    )
    handler = functools.partial(_Quiet, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Logs nothing."""


def title_after(page: Page, before: str) -> str:
    """Returns the page's title once it differs from the one before and has a price."""
    page.wait_for_function(
        "before => document.title !== before && document.title.startsWith('AAPL ')", arg=before
    )
    return page.title()


def test_a_chart_is_drawn_and_moves(browser: Browser, address: str) -> None:
    """Candles of the history appear, and the last bar follows the price."""
    with open_page(browser, address) as page:
        first = title_after(page, "Chart")
        page.wait_for_function(f"() => ({CANDLES})() > 500")
        title_after(page, first)


def test_a_chart_goes_on_after_its_worker_died(browser: Browser, service: Service, address: str) -> None:
    """The page stays open; the last bar moves again when a worker serves."""
    with open_page(browser, address) as page:
        title_after(page, "Chart")
        worker = service.processes[-1]
        worker.kill()
        worker.wait()
        frames: list[object] = []
        page.on("websocket", lambda opened: opened.on("framereceived", lambda _: frames.append(opened)))
        service.start("api")
        # Frames of the killed worker may move the title too.
        eventually(page, lambda: frames, "the page does not reconnect")
        title_after(page, page.title())
