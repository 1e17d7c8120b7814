"""Debian's Chromium and Firefox, headless: one process of each for all tests of a worker."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

#: Without windows and their address bars, which take a fifth of the CPU time of the tests.
CHROMIUM: Final = "/usr/bin/chromium-headless-shell"
FIREFOX: Final = "/usr/bin/firefox-esr"
#: Emulates a touch screen.
PREFERENCES: Final[dict[str, str | float | bool]] = {"dom.w3c_touch_events.enabled": 1}
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES: Final = ("chromium", "firefox")

#: Runs a test in both browsers: its outcome can differ by engine. All others run in Chromium alone.
both_browsers: Final = pytest.mark.parametrize("browser", NAMES, indirect=True)


def launch_chromium(playwright: Playwright) -> Browser:
    """Starts a Chromium that connects to the service only."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)


def launch_firefox(playwright: Playwright) -> Browser:
    """Starts Debian's Firefox; the channel's name makes Playwright drive it over WebDriver BiDi.

    It emulates no colour scheme and enforces the content security policy: tests set the page's own theme, and
    run scripts by `page.evaluate`.
    """
    return playwright.firefox.launch(
        executable_path=FIREFOX, channel="moz-firefox", firefox_user_prefs=PREFERENCES
    )


LAUNCHES: Final[dict[str, Callable[[Playwright], Browser]]] = {
    "chromium": launch_chromium,
    "firefox": launch_firefox,
}


class Browsers:
    """The running browsers, each started when a test first asks for it.

    A browser that has died is replaced for the next test.
    """

    def __init__(self, playwright: Playwright) -> None:
        self._playwright = playwright
        self._running: dict[str, Browser] = {}

    def named(self, name: str) -> Browser:
        """Returns the browser of that name."""
        running = self._running.get(name)
        if running is None or not running.is_connected():
            running = self._running[name] = LAUNCHES[name](self._playwright)
        return running

    @contextlib.contextmanager
    def own_chromium(self) -> Iterator[Browser]:
        """Yields a Chromium that nothing else uses, to be measured."""
        browser = launch_chromium(self._playwright)
        yield browser
        browser.close()

    def close(self) -> None:
        """Ends those that run."""
        for browser in self._running.values():
            browser.close()


@contextlib.contextmanager
def running_browsers() -> Iterator[Browsers]:
    """Yields the browsers of this process. Meanwhile its thread has a running event loop."""
    with sync_playwright() as playwright:
        browsers = Browsers(playwright)
        yield browsers
        browsers.close()
