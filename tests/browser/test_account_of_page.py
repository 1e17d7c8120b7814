"""Accounts on the terminal page, and the messages that it shows when a request fails."""

import json
import re

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, Route, expect

from support.servers.browsers import both_browsers
from support.servers.opened_page import (
    address,
    change_settings,
    log_in,
    open_page,
    panes_of,
    register,
    wait_for_price,
)
from support.servers.service import Service

pytestmark = pytest.mark.browser

PANES = panes_of("watchlist", "chart", "company", "portfolio", "doviz")

PROFILE = "/api/auth/profile"
PASSWORD = "correct horse battery"
TOKEN = "JSON.parse(localStorage.getItem('quotecast.session')).token"


def profile_status(service: Service, token: str) -> int:
    return service.get(PROFILE, headers={"Authorization": f"Bearer {token}"}).status_code


def log_in_elsewhere(service: Service, email: str) -> str:
    """Returns the token of another device of the user."""
    body = {"email": email, "password": PASSWORD}
    token: str = service.post("/api/auth/login", json=body).json()["token"]
    return token


def test_a_tab_of_the_dialog_sends_nothing(page: Page) -> None:
    """A tab changes the form only; the first request is the registration."""
    asked: list[str] = []

    def note(request: Request) -> None:
        if "/api/auth/" in request.url:
            asked.append(request.url.rpartition("/")[2])

    page.on("request", note)
    page.get_by_role("banner").get_by_role("button", name="Log in").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Email").fill(address(page.context.browser, "tabs"))
    dialog.get_by_label(re.compile("Password")).fill(PASSWORD)
    for tab in ("Register", "Log in", "Register"):
        dialog.get_by_role("radio", name=tab).click()
    dialog.get_by_label("Your name").fill("Ada")
    dialog.locator("button[type=submit]", has_text="Register").click()
    page.get_by_role("button", name="Log out").wait_for()
    assert asked[0] == "register"


@both_browsers
def test_logging_out_ends_the_session_in_every_window(page: Page, service: Service) -> None:
    """Logging out in one window logs the other windows out, and the service rejects the token.

    The session of another device lasts.
    """
    email = address(page.context.browser, "leaving")
    register(page, email)
    elsewhere = log_in_elsewhere(service, email)
    other = page.context.new_page()
    other.goto(service.url)
    other.get_by_role("button", name="Log out").wait_for()
    token = page.evaluate(TOKEN)
    assert profile_status(service, token) == 200
    with page.expect_response(lambda response: response.request.method == "DELETE"):
        page.get_by_role("button", name="Log out").click()
    expect(other.get_by_role("banner").get_by_role("button", name="Log in")).to_be_visible()
    assert profile_status(service, token) == 401
    assert profile_status(service, elsewhere) == 200


def test_logging_out_everywhere_ends_the_sessions_of_other_devices(page: Page, service: Service) -> None:
    """The button is beside the list of sessions."""
    email = address(page.context.browser, "everywhere")
    register(page, email)
    elsewhere = log_in_elsewhere(service, email)
    page.get_by_role("button", name=re.compile("Account of")).click()
    with page.expect_response(lambda response: response.request.method == "PATCH"):
        page.get_by_role("dialog").get_by_role("button", name="Log out everywhere").click()
    expect(page.get_by_role("banner").get_by_role("button", name="Log in")).to_be_visible()
    assert profile_status(service, elsewhere) == 401


def test_the_dialog_holds_no_password_of_the_user_before(page: Page) -> None:
    """A user who logs out leaves the dialog as a new page has it."""
    register(page, address(page.context.browser, "before"))
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("banner").get_by_role("button", name="Log in").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("radio", name="Log in")).to_be_checked()
    expect(dialog.get_by_label("Email")).to_have_value("")
    expect(dialog.get_by_label("Password")).to_have_value("")


def end_session(page: Page, service: Service, route: str) -> Locator:
    """Ends the session while a change is on its way; returns the dialog that asks for the password."""
    headers = {"Authorization": f"Bearer {page.evaluate(TOKEN)}"}

    def end(request: Route) -> None:
        service.patch(PROFILE, json={"end_sessions": True}, headers=headers)
        request.continue_()

    page.route(route, end, times=1)
    return page.get_by_role("dialog", name="Your session has ended.")


def test_a_session_that_ends_wipes_nothing(page: Page, service: Service) -> None:
    """A dialog asks for the password; what was typed stays, and what was on its way is sent again."""
    email = address(page.context.browser, "over")
    register(page, email)
    page.locator("[data-kind=portfolio]").scroll_into_view_if_needed()
    form = page.get_by_role("form", name="Add holding")
    form.get_by_label("Symbol").fill("MSFT")
    form.get_by_label("Shares").fill("1.5")
    form.get_by_label("Avg cost").fill("400")
    dialog = end_session(page, service, "**/api/portfolio/holdings")
    form.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_contain_text(email)
    expect(form).to_be_hidden()
    page.keyboard.press("Escape")
    feed = page.locator(".feed[data-feed=market][data-state=live]")
    cursor = feed.get_attribute("data-cursor")
    expect(feed).not_to_have_attribute("data-cursor", cursor or "")
    dialog.get_by_label("Password").fill("not the password")
    dialog.get_by_role("button", name="Log in").click()
    expect(dialog.get_by_role("alert")).to_contain_text("password")
    expect(page.locator("[data-kind=portfolio] [name=shares]")).to_have_value("1.5")
    dialog.get_by_label("Password").fill(PASSWORD)
    with page.expect_response(
        lambda answer: answer.request.method == "POST" and "/holdings" in answer.url
    ) as added:
        dialog.get_by_role("button", name="Log in").click()
    assert added.value.status == 201
    expect(dialog).not_to_be_attached()
    expect(page.locator("[data-kind=portfolio] tbody")).to_contain_text("MSFT")
    expect(form.get_by_label("Shares")).to_have_value("")


def test_a_reader_whose_session_has_ended_may_go_on_as_a_guest(page: Page, service: Service) -> None:
    """The panes ask again, with a guest's rights."""
    register(page, address(page.context.browser, "void"))
    dialog = end_session(page, service, "**/api/watchlist/*")
    page.locator("[data-kind=chart]").get_by_role("button", name="Add to watchlist").click()
    with page.expect_request("**/api/doviz/symbols"):
        dialog.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("banner").get_by_role("button", name="Log in")).to_be_visible()
    assert page.evaluate("localStorage.getItem('quotecast.session')") is None


def test_a_failed_star_shows_a_message(page: Page) -> None:
    """A failed star leaves the watchlist as it was and shows a message."""
    register(page, address(page.context.browser, "star"))
    star = page.locator("[data-kind=chart]").get_by_role("button", name="Add to watchlist")
    expect(star).to_have_attribute("aria-pressed", "true")
    page.route("**/api/watchlist/*", lambda route: route.fulfill(status=500, json={"detail": "Out of order"}))
    star.click()
    expect(page.get_by_role("alert")).to_contain_text("Out of order")
    expect(star).to_have_attribute("aria-pressed", "true")


def test_an_emptied_watchlist_stays_empty(page: Page) -> None:
    """A new account takes over this browser's list once; removed symbols do not come back."""
    with page.expect_response(lambda answer: answer.request.method == "GET" and "/watchlists" in answer.url):
        register(page, address(page.context.browser, "emptied"))
    watchlist = page.locator("[data-kind=watchlist]")
    remove = watchlist.get_by_role("button", name=re.compile("Remove"))
    for _ in range(16):
        with page.expect_response(lambda response: response.request.method == "DELETE"):
            remove.first.click()
    expect(watchlist).to_contain_text("No symbols yet")
    with page.expect_response(lambda answer: answer.request.method == "GET" and "/watchlist" in answer.url):
        page.reload()
    page.get_by_role("button", name="Log out").wait_for()
    expect(watchlist).to_contain_text("No symbols yet")


def test_a_reload_begins_with_the_accounts_list(page: Page) -> None:
    """Before the service answers, a reload shows the account's last list, not the browser's."""
    with page.expect_response(lambda answer: answer.request.method == "GET" and "/watchlists" in answer.url):
        register(page, address(page.context.browser, "reloaded"))
    watchlist = page.locator("[data-kind=watchlist]")
    with page.expect_response(lambda response: response.request.method == "DELETE"):
        watchlist.get_by_role("button", name="Remove AAPL").click()
    page.route("**/api/watchlist", lambda _route: None)
    page.reload()
    expect(watchlist.get_by_role("button", name="Remove MSFT")).to_have_count(1)
    expect(watchlist.get_by_role("button", name="Remove AAPL")).to_have_count(0)


def test_an_account_has_the_list_of_the_browser_that_made_it(browser: Browser, service: Service) -> None:
    """An account starts with the list of the browser that registered it, and ignores others."""
    with open_page(browser, service.url, panes=PANES) as page:
        page.locator("[data-kind=watchlist]").get_by_role("button", name="Remove AAPL").click()
        with page.expect_response(
            lambda answer: answer.request.method == "GET" and "/watchlist" in answer.url
        ):
            register(page, address(page.context.browser, "carried"))
    with open_page(browser, service.url, panes=PANES) as page:
        wait_for_price(page)
        log_in(page, address(page.context.browser, "carried"))
        watchlist = page.locator("[data-kind=watchlist]")
        expect(watchlist.get_by_role("button", name="Remove AAPL")).to_have_count(0)
        expect(watchlist.get_by_role("button", name="Remove MSFT")).to_have_count(1)


#: No valid value of any name.
BAD = {"feed": "x", "key": 5, "token": 1, "user": None}
NAMES = ("session", "watchlist", "selected", "company", "theme", "language", "layout")


def test_invalid_stored_values_are_ignored(browser: Browser, service: Service) -> None:
    """Invalid stored values, of another version or of anyone, leave the page as in a new browser."""
    with open_page(browser, service.url, panes=PANES) as page:
        page.evaluate(
            "([names, text]) => names.forEach((name) => localStorage.setItem(`quotecast.${name}`, text))",
            [[*NAMES], json.dumps(BAD)],
        )
        page.reload()
        wait_for_price(page)
        expect(page.locator(".pane")).to_have_count(9)


def test_a_pane_that_fails_leaves_the_others(browser: Browser, service: Service) -> None:
    """A pane that fails shows a message, can be retried, and offers to clear the browser's storage."""
    with open_page(browser, "about:blank") as page:
        page.route("**/api/market/movers", lambda route: route.fulfill(json={}))
        page.goto(service.url)
        wait_for_price(page)
        movers = page.locator("[data-kind=movers]")
        expect(movers.get_by_role("alert")).to_contain_text("This part cannot be shown")
        change_settings(page, theme="light")
        page.unroute("**/api/market/movers")
        movers.get_by_role("button", name="Try again").click()
        movers.locator("td.price").first.wait_for()
        page.route("**/api/market/movers", lambda route: route.fulfill(json={}))
        with page.expect_navigation():
            movers.get_by_role("button", name="Reset").click()
        page.get_by_role("button", name="Settings", exact=True).click()
        expect(page.get_by_role("radio", name="Match system")).to_be_checked()


def test_revenue_is_earned_and_estimates_are_marked(page: Page, service: Service) -> None:
    """Revenue is the sum of twelve months; the mean estimate of the next quarter names the quarter."""
    overview = service.get("/api/financials/company/AAPL/overview").json()
    metric, expected = overview["metrics"]["metric"], overview["revenueEstimates"]["data"][-1]
    company = page.locator("[data-kind=company]")
    company.scroll_into_view_if_needed()
    figures = company.locator("dl div")
    earned = figures.filter(has_text="Revenue (TTM)").locator("dd")
    billions = metric["marketCapitalization"] / metric["psTTM"] / 1000
    expect(earned).to_have_text(re.compile(r"^[\d.]+[BT]$"))
    text = earned.text_content() or ""
    assert float(text[:-1]) * (1000 if text[-1] == "T" else 1) == pytest.approx(billions, rel=0.01)
    quarter = f"Q{expected['quarter']} {expected['year']}"
    estimate = figures.filter(has_text=f"Revenue estimate, mean {quarter}").locator("dd")
    assert float((estimate.text_content() or "")[:-1]) * 1e9 == pytest.approx(
        expected["revenueAvg"], rel=0.01
    )


def test_each_amount_of_a_company_abroad_names_its_own_currency(page: Page, service: Service) -> None:
    """Analysts estimate in another currency than the company files in."""
    overview = service.get("/api/financials/company/AAPL/overview").json()
    overview["metrics"]["currency"] = "CNY"
    overview["revenueEstimates"]["currency"] = "USD"
    overview["earnings"][0]["currency"] = "HKD"
    page.route("**/api/financials/company/*/overview", lambda route: route.fulfill(json=overview))
    page.reload()
    company = page.locator("[data-kind=company]")
    company.scroll_into_view_if_needed()
    estimate = company.locator("dl div").filter(has_text="Revenue estimate").locator("dd")
    expect(estimate).to_have_text(re.compile(r"^[\d.]+[BT] USD$"))
    expect(company.locator("figcaption").filter(has_text="Earnings per share")).to_contain_text("HKD")
    expect(company.get_by_text("Figures in CNY", exact=True)).to_be_visible()
