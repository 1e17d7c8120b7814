"""Alerts on the terminal page, from the dialog to the notice."""

import re
import secrets
from collections.abc import Iterator
from typing import Final

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, Request, Response, expect

from support.clients.axe import violations
from support.runs.deadlines import scaled
from support.servers.opened_page import (
    address,
    change_settings,
    eventually,
    open_page,
    register,
    wait_for_price,
)
from support.servers.reserved import port_number, reserve_port
from support.servers.service import Service

pytestmark = pytest.mark.browser

PAIR: Final = "BTC/USDT"
#: The parts of the page that belong to alerts; other tests look at the rest.
SHOWN: Final = "[data-kind=alerts], .alert-notices, dialog[open]"
TOKEN: Final = "JSON.parse(localStorage.getItem('quotecast.session')).token"
#: The pane of alerts beside the watchlist.
PANES: Final = [
    {"id": kind, "kind": kind, "x": 4 * place, "y": 0, "w": 4, "h": 14}
    for place, kind in enumerate(("watchlist", "alerts"))
]


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    """Yields a page of a new user."""
    settings = {"service_workers": "allow"}
    with open_page(browser, service.url, panes=PANES, **settings) as page:
        wait_for_price(page)
        register(page, address(browser, f"alerts-{secrets.token_hex(4)}"))
        yield page


def pane(page: Page) -> Locator:
    return page.locator("[data-kind=alerts]")


def client(page: Page, service: Service) -> httpx.Client:
    """Returns a client of the page's user."""
    headers = {"Authorization": f"Bearer {page.evaluate(TOKEN)}"}
    return httpx.Client(base_url=service.url, headers=headers, timeout=scaled(30))


def price_of(page: Page, symbol: str) -> float:
    """Returns the price on the screen."""
    wait_for_price(page, symbol)
    row = page.locator("[data-kind=watchlist] tbody tr", has_text=symbol)
    return float((row.locator("td.price").text_content() or "").replace(",", ""))


def test_without_a_user_the_page_invites_to_log_in(browser: Browser, service: Service) -> None:
    """The dialog and the pane offer to log in; `a` in a field is a letter."""
    with open_page(browser, service.url, panes=PANES) as page:
        wait_for_price(page)
        expect(pane(page).get_by_role("button", name="Log in")).to_be_visible()
        page.keyboard.press("a")
        dialog = page.get_by_role("dialog", name="New alert")
        dialog.get_by_role("button", name="Log in").click()
        page.get_by_label("Email").press_sequentially("a")
        expect(dialog).to_have_count(0)


def test_an_alert_is_created_changed_paused_and_deleted(page: Page) -> None:
    """The dialog begins with the symbol's price; a deleted alert comes back with Undo."""
    page.locator("[data-kind=watchlist] tbody").get_by_role("button", name="MSFT", exact=True).click()
    page.keyboard.press("a")
    dialog = page.get_by_role("dialog", name="New alert")
    expect(dialog.get_by_label("Symbol")).to_have_value("MSFT")
    assert float(dialog.get_by_label("Value").input_value()) == pytest.approx(
        price_of(page, "MSFT"), rel=0.05
    )
    dialog.get_by_label("Symbol").fill("NOSUCH")
    expect(dialog.get_by_label("Value")).to_have_value("")
    dialog.get_by_label("Value").fill("1")
    dialog.get_by_role("button", name="Create alert").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Symbol")
    dialog.get_by_label("Note").fill("to the moon")
    dialog.get_by_label("Symbol").fill("BTC/USDT")
    expect(dialog.get_by_label("Feed")).to_have_value("crypto")
    expect(dialog.get_by_label("Value")).to_have_value("1")
    dialog.get_by_label("Value").fill("1000000")
    dialog.get_by_role("button", name="Create alert").click()
    expect(dialog).to_have_count(0)
    row = pane(page).locator("tbody tr")
    expect(row).to_contain_text("above 1,000,000.00")
    expect(row).to_contain_text("to the moon")
    expect(row.locator(".distance")).to_have_text(re.compile(r"^\+[\d,]+\.\d\d%$"))
    row.get_by_role("button", name="Pause").click()
    expect(row).to_contain_text("Paused")
    row.get_by_role("button", name="Change").click()
    changing = page.get_by_role("dialog")
    changing.get_by_label("Condition").select_option("falls")
    expect(changing.get_by_label("Value")).to_have_value("5")
    changing.get_by_label("Within").select_option("15m")
    changing.get_by_label("Value").fill("6")
    changing.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("down 6% within 15 min")
    row.get_by_role("button", name="Delete").click()
    expect(pane(page)).to_contain_text("No alerts yet")
    pane(page).get_by_role("button", name="Undo").click()
    expect(row).to_contain_text("down 6% within 15 min")
    expect(row).to_contain_text("Paused")
    page.reload()
    expect(row).to_contain_text("Paused")


def add_ladder(page: Page, service: Service) -> None:
    """Adds alerts so close to the present price that a move soon crosses some, wherever it goes meanwhile.

    They are of a pair, which trades at every hour: a stock hardly moves before its exchange opens.
    """
    with client(page, service) as http:
        quote = http.get("/api/crypto/quotes/BTC-USDT").json()
        steps = [2**power / 100_000 for power in range(11)]
        for step in [*steps, *(-step for step in steps)]:
            threshold = round(quote["price"] * (1 + step), 4)
            for condition in ("above", "below"):
                body = {"ticker": PAIR, "condition": condition, "value": threshold, "repeats": True}
                assert http.post("/api/alerts", json=body).status_code == 201


def noticed(page: Page) -> set[str]:
    """Returns the events of the notices in a window."""
    events: list[str] = page.locator(".alert-notices .notice").evaluate_all(
        "notices => notices.map((notice) => notice.dataset.event)"
    )
    return {*events}


def test_a_crossing_is_told_once(page: Page, service: Service) -> None:
    """Every window shows an event, one of them asks for it; after a reload no event comes again."""
    asking: set[Page] = set()

    def note(request: Request) -> None:
        if "wait=" in request.url:
            asking.add(request.frame.page)

    page.on("request", note)
    other = page.context.new_page()
    other.on("request", note)
    other.goto(service.url)
    wait_for_price(other)
    add_ladder(page, service)
    common: set[str] = set()

    def share_an_event() -> bool:
        """Notes the events that both windows show: they show the newest only."""
        common.update(noticed(page) & noticed(other))
        return bool(common)

    eventually(page, share_an_event, "no event is shown in both windows")
    shown = max(common, key=int)
    page.remove_listener("request", note)
    assert len(asking) == 1, "two windows asked for events"
    other.close()
    pane(page).get_by_role("radio", name="History").click()
    expect(pane(page).locator(".alert-events li").first).to_contain_text(re.compile(f"{PAIR} (above|below)"))
    page.reload()
    wait_for_price(page)
    page.wait_for_function(
        "id => JSON.parse(localStorage['quotecast.alertCursor']).last >= id", arg=int(shown)
    )
    expect(page.locator(f".alert-notices [data-event='{shown}']")).to_have_count(0)


def is_saved_layout(answer: Response) -> bool:
    return answer.request.method == "PUT" and answer.url.endswith("/api/terminal/layout")


def test_the_webhooks_secret_is_shown_once(page: Page) -> None:
    """A new address gets a secret, which a reload hides; a test that fails says why."""
    channels = pane(page)
    with page.expect_response(is_saved_layout):
        channels.get_by_role("radio", name="Delivery").click()
    with reserve_port() as reserved:
        _check_webhook(page, channels, f"http://127.0.0.1:{port_number(reserved)}/hook")


def _check_webhook(page: Page, channels: Locator, url: str) -> None:
    channels.get_by_label("Address").fill(url)
    channels.get_by_role("button", name="Save address").click()
    secret = channels.get_by_label("Secret of the signatures")
    expect(secret).to_have_value(re.compile("^whsec_"))
    channels.get_by_role("button", name="Send a test").click()
    expect(channels).to_contain_text("Not delivered")
    page.reload()
    expect(channels.get_by_label("Address")).to_have_value(url)
    expect(secret).to_have_count(0)
    channels.get_by_role("button", name="Remove webhook").click()
    expect(channels.get_by_role("button", name="Remove webhook")).to_have_count(0)


def deliver_push(page: Page, service: Service, data: str) -> None:
    """Delivers a message to the page's service worker as a push service does."""
    session = page.context.new_cdp_session(page)
    found: list[str] = []
    session.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: found.extend(each["registrationId"] for each in event["registrations"]),
    )
    session.send("ServiceWorker.enable")
    eventually(page, lambda: found, "the page has no service worker")
    session.send(
        "ServiceWorker.deliverPushMessage",
        {"origin": service.url, "registrationId": found[0], "data": data},
    )
    session.detach()


#: Grants notifications when the page asks: the headless shell refuses them all.
GRANTED: Final = """() => {
    Object.defineProperty(Notification, "permission", { value: "default", configurable: true });
    Notification.requestPermission = async () => {
        Object.defineProperty(Notification, "permission", { value: "granted" });
        return "granted";
    };
}"""
#: Keeps what the service worker would show.
SHOWN_BY_WORKER: Final = """() => {
    self.shown = [];
    self.registration.showNotification = async (title, options) => self.shown.push([title, options.tag]);
}"""
EVENT: Final = """{"type": "alert.crossed", "timestamp": "2026-11-20T15:30:00.000Z", "data": {
    "id": 17, "alert_id": "0", "ticker": "MSFT", "type": "stock", "condition": "falls", "value": 5,
    "window": "15m", "note": "", "measured": -5.5, "price": 190.5,
    "happened_at": "2026-11-20T15:30:00.000Z"}}"""


def test_a_push_becomes_a_notification(page: Page, service: Service) -> None:
    """The service worker shows an event; the device is asked for the permission by a button only."""
    page.evaluate(GRANTED)
    pane(page).get_by_role("radio", name="Delivery").click()
    expect(pane(page)).to_contain_text("This device gets no notifications")
    pane(page).get_by_role("button", name="Notify this device").click()
    expect(pane(page)).to_contain_text("while this page is open")
    page.wait_for_function("() => navigator.serviceWorker.controller?.state === 'activated'")
    eventually(page, lambda: page.context.service_workers, "the page has no service worker")
    [worker] = page.context.service_workers
    worker.evaluate(SHOWN_BY_WORKER)
    deliver_push(page, service, EVENT)
    eventually(page, lambda: worker.evaluate("self.shown.length"), "the worker shows no event")
    assert worker.evaluate("self.shown") == [["MSFT down 5% within 15 min", "alert-17"]]


def test_alerts_are_accessible(page: Page, service: Service) -> None:
    """The pane's three views, the dialog and a notice keep to WCAG 2.2 AA, in both languages and themes."""
    add_ladder(page, service)
    page.locator(".alert-notices .notice").first.wait_for()
    for language, theme in (("en", "dark"), ("tr", "light")):
        change_settings(page, language=language, theme=theme)
        for view in range(3):
            pane(page).get_by_role("radio").nth(view).click()
            pane(page).locator("table, .alert-events, .channels form").first.wait_for()
            assert violations(page, SHOWN) == [], (language, theme, view)
        page.keyboard.press("a")
        page.get_by_role("dialog").locator("form").wait_for()
        assert violations(page, SHOWN) == [], (language, theme, "dialog")
        page.keyboard.press("Escape")
