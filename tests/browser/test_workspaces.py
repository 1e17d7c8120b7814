"""Named workspaces on the terminal page."""

import json

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, Response, expect

from support.clients.axe import violations
from support.runs.deadlines import scaled
from support.servers.opened_page import (
    LAYOUT,
    address,
    change_settings,
    log_in,
    open_page,
    register,
    wait_for_layout,
    wait_for_price,
)
from support.servers.service import Service

pytestmark = pytest.mark.browser


SAVES = f"**{LAYOUT}"
TOKEN = "JSON.parse(localStorage.getItem('quotecast.session')).token"
#: Fills the storage of the page to its last character.
FILL_STORAGE = """() => {
    let filler = "";
    for (let size = 2 ** 23; size >= 1; size /= 2) {
        try {
            localStorage.setItem("filler", filler + "x".repeat(size));
            filler += "x".repeat(size);
        } catch {}
    }
}"""


def tabs(page: Page) -> Locator:
    return page.get_by_role("tab")


def choose(page: Page, action: str) -> None:
    """Opens the menu of the active workspace and presses one of its buttons."""
    menu = page.get_by_role("group", name="Change workspace")
    menu.get_by_role("button", name="Change workspace").click()
    menu.get_by_role("button", name=action).click()


def has_saved(response: Response) -> bool:
    return response.ok and response.request.method == "PUT"


def test_workspaces_have_names_order_and_keys(page: Page) -> None:
    """Workspaces are added, renamed, duplicated, ordered, deleted with undo, and stay after a reload."""
    choose(page, "New workspace")
    page.get_by_role("button", name="Close Movers").click()
    expect(tabs(page)).to_have_text(["Main", "Workspace 2"])
    page.get_by_role("tab", name="Workspace 2").dblclick()
    page.get_by_label("Name of the workspace").fill("Gold")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Gold")).to_be_focused()
    page.keyboard.press("Alt+1")
    expect(page.locator("[data-kind=movers]")).to_have_count(1)
    page.keyboard.press("Alt+2")
    expect(page.locator("[data-kind=movers]")).to_have_count(0)
    choose(page, "Duplicate")
    expect(tabs(page)).to_have_text(["Main", "Gold", "Gold (copy)"])
    expect(page.locator("[data-kind=movers]")).to_have_count(0)
    expect(page.get_by_role("tab", name="Gold (copy)")).to_be_focused()
    page.keyboard.press("Shift+ArrowLeft")
    expect(tabs(page)).to_have_text(["Main", "Gold (copy)", "Gold"])
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Delete")
    expect(tabs(page)).to_have_text(["Gold (copy)", "Gold"])
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(tabs(page)).to_have_text(["Main", "Gold (copy)", "Gold"])
    page.keyboard.press("Alt+3")
    page.reload()
    expect(tabs(page)).to_have_text(["Main", "Gold (copy)", "Gold"])
    expect(page.get_by_role("tab", name="Gold", exact=True)).to_have_attribute("aria-selected", "true")


def test_a_workspace_begins_with_a_template(page: Page) -> None:
    """It has the name of the template, and its charts stay with their symbols."""
    choose(page, "Four charts")
    expect(tabs(page)).to_have_text(["Main", "Four charts"])
    headings = page.locator("[data-kind=chart] .headline h3")
    expect(headings).to_have_text(["AAPL", "MSFT", "BTC/USDT", "gram-altin"])


def test_a_layout_of_before_becomes_the_first_workspace(page: Page) -> None:
    """A layout that was stored without workspaces opens as it was."""
    panes = [{"id": "news", "kind": "news", "x": 0, "y": 0, "w": 6, "h": 9}]
    page.evaluate("text => localStorage.setItem('quotecast.layout', text)", json.dumps({"panes": panes}))
    page.reload()
    expect(page.locator(".pane")).to_have_count(1)
    expect(tabs(page)).to_have_text(["Main"])


def test_workspaces_of_two_windows_are_kept(browser: Browser, service: Service) -> None:
    """Two windows of an account each add a workspace: both stay, and a refused save shows a notice."""
    with open_page(browser, service.url) as first, open_page(browser, service.url) as second:
        email = address(browser, "workspaces")
        with first.expect_response(has_saved):
            register(first, email)
        with second.expect_response(lambda answer: answer.request.method == "GET" and LAYOUT in answer.url):
            log_in(second, email)
        expect(second.get_by_role("tab")).to_have_count(1)
        with first.expect_response(has_saved):
            choose(first, "New workspace")
        with second.expect_response(has_saved):
            choose(second, "Duplicate")
        expect(tabs(second)).to_have_text(["Main", "Main (copy)", "Workspace 2"])
        first.reload()
        expect(first.get_by_role("tab")).to_have_text(["Main", "Main (copy)", "Workspace 2"])
        first.route(
            "**/api/terminal/layout", lambda route: route.fulfill(status=413, json={"detail": "Large"})
        )
        first.get_by_role("button", name="Close Movers").click()
        expect(first.get_by_role("alert")).to_contain_text("too large to be saved")


@pytest.mark.parametrize("language", ["en", "tr"])
def test_the_frame_is_accessible(browser: Browser, service: Service, language: str) -> None:
    """Axe finds no violation of WCAG 2.2 AA in open menu and maximised pane, light and dark."""
    with open_page(browser, service.url) as page:
        wait_for_price(page)
        change_settings(page, language=language)
        page.get_by_role("tab").dblclick()
        for theme in ("light", "dark"):
            change_settings(page, theme=theme)
            page.get_by_role("tab").dblclick()
            page.locator("[data-kind=movers] h2").dblclick()
            assert violations(page) == []
            page.keyboard.press("Escape")


def test_a_layout_whose_save_fails_is_stored_here_and_saved_later(
    browser: Browser, page: Page, service: Service
) -> None:
    """The status line says so; a reload keeps the change; the account has it once the service answers."""
    register(page, address(browser, "unsaved"))
    wait_for_layout(page, service, lambda layout: '"news"' in layout)
    page.route(SAVES, lambda route: route.abort() if route.request.method == "PUT" else route.continue_())
    page.get_by_role("button", name="Close News").click()
    expect(page.get_by_text("Layout not saved yet")).to_be_visible()
    page.reload()
    wait_for_price(page)
    expect(page.locator("[data-kind=news]")).to_have_count(0)
    expect(page.get_by_text("Layout not saved yet")).to_be_visible()
    page.unroute(SAVES)
    wait_for_layout(page, service, lambda layout: '"chart"' in layout and '"news"' not in layout)
    expect(page.get_by_text("Layout not saved yet")).to_have_count(0)


def close_movers_elsewhere(page: Page, service: Service) -> None:
    """Saves the account's layout without movers, as another browser does."""
    headers = {"Authorization": f"Bearer {page.evaluate(TOKEN)}"}
    saved = service.get(LAYOUT, headers=headers).json()
    for workspace in saved["layout"]["workspaces"]:
        workspace["panes"] = [pane for pane in workspace["panes"] if pane["kind"] != "movers"]
    body = {"layout": saved["layout"], "version": saved["version"]}
    with httpx.Client(base_url=service.url, headers=headers, timeout=scaled(30)) as http:
        assert http.put(LAYOUT, json=body).status_code == 200


def test_a_newer_layout_of_another_browser_replaces_one_that_was_not_saved(
    browser: Browser, page: Page, service: Service
) -> None:
    """The account's version has moved on since the change that this browser could not save."""
    register(page, address(browser, "overtaken"))
    wait_for_layout(page, service, lambda layout: '"news"' in layout)
    page.route(SAVES, lambda route: route.abort() if route.request.method == "PUT" else route.continue_())
    page.get_by_role("button", name="Close News").click()
    expect(page.get_by_text("Layout not saved yet")).to_be_visible()
    close_movers_elsewhere(page, service)
    page.reload()
    expect(page.locator("[data-kind=movers]")).to_have_count(0)
    expect(page.locator("[data-kind=news]")).to_have_count(1)


def test_a_layout_that_did_not_load_is_not_overwritten(
    browser: Browser, page: Page, service: Service
) -> None:
    """A change of before is made on this browser's layout: the account's own workspaces stay as they are."""
    register(page, address(browser, "unloaded"))
    wait_for_layout(page, service, lambda layout: '"news"' in layout)
    close_movers_elsewhere(page, service)
    page.route(SAVES, lambda route: route.abort())
    page.reload()
    wait_for_price(page)
    expect(page.locator("[data-kind=movers]")).to_have_count(1)
    page.get_by_role("button", name="Close News").click()
    expect(page.get_by_text("Layout not saved yet")).to_be_visible()
    page.unroute(SAVES)
    expect(page.locator("[data-kind=movers]")).to_have_count(0)
    expect(page.locator("[data-kind=news]")).to_have_count(1)
    wait_for_layout(page, service, lambda layout: '"movers"' not in layout and '"news"' in layout)


def test_a_full_storage_is_said(page: Page) -> None:
    """Without an account a change is lost with the window, so the status line says that nothing stores it."""
    page.evaluate(FILL_STORAGE)
    page.get_by_role("button", name="Close News").click()
    expect(page.get_by_text("Changes are not stored")).to_be_visible()
    page.evaluate("localStorage.removeItem('filler')")
    page.get_by_role("button", name="Close Movers").click()
    expect(page.get_by_text("Changes are not stored")).to_have_count(0)
