"""Takes the screenshots of docs/ from a running service: `python take_screenshots.py URL FOLDER`.

Takes the three of README. In `every/`, which git ignores, is the page of each size, language and theme.
"""

import base64
import sys
from itertools import product
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Page, expect

from support.servers.browsers import running_browsers
from support.servers.opened_page import open_page, wait_for_live, wait_for_price

DESK: Final = {"width": 1600, "height": 1000}
PHONE: Final[dict[str, Any]] = {"device_scale_factor": 2, "has_touch": True}
PICTURES: Final[dict[str, dict[str, Any]]] = {
    "dark": {"viewport": DESK, "color_scheme": "dark"},
    "light": {"viewport": DESK, "color_scheme": "light"},
    "phone": {"viewport": {"width": 360, "height": 780}, "color_scheme": "dark", **PHONE},
}
#: A phone, tablets upright and across, and common desks.
SIZES: Final = (
    (390, 844),
    (768, 1024),
    (1024, 768),
    (1280, 720),
    (1366, 768),
    (1440, 900),
    (1920, 1080),
    (2560, 1440),
)
LOCALES: Final = ("en-US", "tr-TR")
THEMES: Final = ("dark", "light")
#: WebP's quality, of 100: text stays sharp in a fifth of a PNG's bytes.
QUALITY: Final = 70
#: Time until the panes have their data and the chart is drawn.
SETTLED_MS: Final = 4000


def take_all(browser: Browser, url: str, folder: Path) -> None:
    """Takes the page at every size, in every language and theme, as WebP."""
    folder.mkdir(parents=True, exist_ok=True)
    for (width, height), locale, theme in product(SIZES, LOCALES, THEMES):
        viewport = {"width": width, "height": height}
        settings: dict[str, Any] = {"viewport": viewport, "locale": locale, "color_scheme": theme}
        with open_page(browser, url, **settings) as page:
            settle(page)
            session = page.context.new_cdp_session(page)
            taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
            name = f"{width}-{locale[:2]}-{theme}.webp"
            (folder / name).write_bytes(base64.b64decode(taken["data"]))


def take(browser: Browser, url: str, path: Path, settings: dict[str, Any]) -> None:
    """Takes one screenshot of the filled page, as PNG."""
    with open_page(browser, url, **settings) as page:
        settle(page)
        page.screenshot(path=path)


def settle(page: Page) -> None:
    """Waits until the page shows live data."""
    wait_for_price(page)
    wait_for_live(page)
    # A phone shows the first pane only.
    if not page.locator(".pane-bar").count():
        expect(page.locator("[data-kind=chart] canvas").first).to_be_attached()
    page.wait_for_timeout(SETTLED_MS)


def main(url: str, folder: Path) -> None:
    """Takes all screenshots."""
    folder.mkdir(parents=True, exist_ok=True)
    with running_browsers() as browsers:
        browser = browsers.named("chromium")
        for name, settings in PICTURES.items():
            take(browser, url, folder / f"{name}.png", settings)
        take_all(browser, url, folder / "every")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
