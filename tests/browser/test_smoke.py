"""Every pane of the terminal page shows its data, in both browsers."""

import secrets
from typing import Any, Final

import pytest
from playwright.sync_api import Browser

from support.browsers import both_browsers
from support.opened_page import log_in, open_page
from support.service import Service

pytestmark = pytest.mark.browser

#: What a pane shows once it has its data.
FILLED: Final = {
    "watchlist": "td.price:not(:empty)",
    "chart": ".plot canvas",
    "heatmap": ".tile i:not(:empty)",
    "movers": "td.price:not(:empty)",
    "news": "li time",
    "crypto": "td.price:not(:empty)",
    "doviz": ".banks td",
    "company": "dl dd",
    "portfolio": "tbody tr",
    "earnings": "tbody tr",
    "alerts": "tbody tr",
}
PANES: Final = [
    {"id": kind, "kind": kind, "x": 4 * (place % 3), "y": 10 * (place // 3), "w": 4, "h": 10}
    for place, kind in enumerate(FILLED)
]
HOLDING: Final = {"ticker": "AAPL", "shares": 1, "avg_cost": 1, "currency": "USD"}
ALERT: Final = {"ticker": "AAPL", "condition": "above", "value": 1_000_000}


def new_user(service: Service) -> str:
    """Registers a user with a holding and an alert; returns the email."""
    email = f"{secrets.token_hex(6)}@smoke.example.com"
    body = {"name": "Ada", "email": email, "password": "correct horse battery"}
    session: dict[str, Any] = service.post("/api/auth/register", json=body).json()
    headers = {"Authorization": f"Bearer {session['token']}"}
    for path, entry in (("/api/portfolio/holdings", HOLDING), ("/api/alerts", ALERT)):
        assert service.post(path, json=entry, headers=headers).status_code == 201
    return email


@both_browsers
def test_every_pane_shows_its_data(browser: Browser, service: Service) -> None:
    """All kinds of panes on one page, of a user with a holding and an alert."""
    email = new_user(service)
    with open_page(browser, service.url, panes=PANES) as page:
        log_in(page, email)
        for kind, filled in FILLED.items():
            pane = page.locator(f"[data-kind={kind}]")
            pane.scroll_into_view_if_needed()
            pane.locator(filled).first.wait_for()
