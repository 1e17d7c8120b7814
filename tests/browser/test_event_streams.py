"""EventSource reads the streams, compressed ones among them, and resumes after a restart."""

import signal
from typing import Final

import pytest
from playwright.sync_api import Page

from docs.pages import blocks
from docs.pages import page as page_of
from support.runs.deadlines import scaled
from support.servers.browsers import both_browsers
from support.servers.service import Service

pytestmark = pytest.mark.browser

#: Two streams, so that the server compresses what they share.
READ: Final = """([url, count]) => new Promise((resolve) => {
  const companion = new EventSource(url);
  companion.onopen = () => {
    const stream = new EventSource(url), read = [];
    window.stream = stream;
    stream.onmessage = (event) => {
      const frame = JSON.parse(event.data);
      const place = "epoch" in frame ? `${frame.epoch}-${frame.seq}` : "";
      read.push([frame.type, frame.reason ?? "", event.lastEventId, place]);
      if (read.length === count) resolve(read);
    };
  };
})"""
RESUMED: Final = """() => new Promise((resolve) => {
  window.stream.onmessage = (event) => {
    const frame = JSON.parse(event.data);
    if (frame.type === "snapshot") resolve(frame.reason);
  };
})"""


@both_browsers
def test_ids_are_cursors_and_a_restart_is_resumed(blank_page: Page, service: Service) -> None:
    blank_page.goto(service.url + "/api/docs")
    url = f"{service.url}/api/sse/market?symbols=all&interval=100"
    welcome, subscribed, snapshot, *updates = blank_page.evaluate(READ, [url, 8])
    assert (welcome[:3], subscribed[:3]) == (["welcome", "", ""], ["subscribed", "", ""])
    assert snapshot[:2] == ["snapshot", "subscribe"]
    for _, _, last_id, place in (snapshot, *updates):
        assert last_id == place
    resumed = blank_page.evaluate_handle(f"() => ({{ reason: ({RESUMED})() }})")
    service.processes[-1].send_signal(signal.SIGTERM)
    service.processes[-1].wait(scaled(60))
    service.start("api")
    assert resumed.evaluate("(each) => each.reason") == "resume"


@both_browsers
def test_the_page_of_the_guide_shows_prices(blank_page: Page, service: Service) -> None:
    """The program of docs/sse.md keeps a copy."""
    [program] = blocks(page_of("sse"), "js")
    blank_page.goto(service.url + "/api/docs")
    blank_page.evaluate(
        program.replace("http://127.0.0.1:8000", service.url).replace("const quotes", "quotes")
    )
    blank_page.wait_for_function("() => globalThis.quotes?.get('AAPL')?.price > 0")
