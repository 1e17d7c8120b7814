"""Takes the screenshots of docs/ from a running service: `python take_screenshots.py URL FOLDER`."""

import sys
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, expect

from support.opened_page import chromium, open_page, wait_for_live, wait_for_price

DESK: Final = {"width": 1600, "height": 1000}
PICTURES: Final[dict[str, dict[str, Any]]] = {
    "dark": {"viewport": DESK, "color_scheme": "dark"},
    "light": {"viewport": DESK, "color_scheme": "light"},
    "phone": {
        "viewport": {"width": 360, "height": 780},
        "color_scheme": "dark",
        "device_scale_factor": 2,
        "has_touch": True,
    },
}
#: Seconds until the panes have their data and the chart is drawn.
SETTLED_MS: Final = 4000


def take(browser: Browser, url: str, path: Path, settings: dict[str, Any]) -> None:
    """Takes one screenshot of the filled page."""
    with open_page(browser, url, **settings) as page:
        wait_for_price(page)
        wait_for_live(page)
        expect(page.locator("[data-kind=chart] canvas").first).to_be_attached()
        page.wait_for_timeout(SETTLED_MS)
        page.screenshot(path=path)


def main(url: str, folder: Path) -> None:
    """Takes all screenshots."""
    folder.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for name, settings in PICTURES.items():
            take(browser, url, folder / f"{name}.png", settings)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
