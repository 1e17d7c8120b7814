"""The terminal page as an app that browsers install."""

import pytest
from playwright.sync_api import Browser

from support.servers.browsers import both_browsers
from support.servers.opened_page import open_page
from support.servers.service import Service

pytestmark = pytest.mark.browser


@both_browsers
def test_a_browser_registers_the_service_worker(browser: Browser, service: Service) -> None:
    """The service worker starts under the page's policy; the manifest names icons that exist."""
    with open_page(browser, service.url, service_workers="allow") as page:
        scope = page.evaluate("() => navigator.serviceWorker.ready.then((each) => each.scope)")
        assert scope == f"{service.url}/"
    manifest = service.get("/manifest.webmanifest").json()
    assert (manifest["display"], manifest["scope"]) == ("standalone", "/")
    for icon in manifest["icons"]:
        assert service.get(icon["src"]).headers["Content-Type"] == icon["type"]
