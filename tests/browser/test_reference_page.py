"""The reference of routes, /api/docs, and the guides beside it."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from support.servers.browsers import Browsers
from support.servers.opened_page import open_page
from support.servers.service import Service

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def reference(browsers: Browsers, service: Service) -> Iterator[Page]:
    """Yields the reference at an operation; its many routes take seconds to render."""
    with open_page(browsers.named("chromium"), f"{service.url}/api/docs#/Market/getQuotes") as page:
        yield page


def test_an_operation_shows_its_code_samples(reference: Page, service: Service) -> None:
    """Each sample unfolds, and names the address of this service."""
    operation = reference.locator("#operations-Market-getQuotes")
    for name in ("curl", "Python", "TypeScript"):
        operation.get_by_text(name, exact=True).first.click()
    expect(operation.get_by_text(f"curl '{service.url}/api/market/quotes?symbols=AAPL,MSFT'")).to_be_visible()
    expect(operation.get_by_text("from quotecast_client import Client")).to_be_visible()
    expect(operation.get_by_text('import { Client } from "quotecast-client";')).to_be_visible()


def test_a_trial_sends_required_parameters_alone(reference: Page) -> None:
    """Required parameters have their example; optional ones are empty."""
    operation = reference.locator("#operations-Market-getBarsBatch")
    operation.locator(".opblock-summary-control").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    sent = operation.locator(".request-url")
    expect(sent).to_contain_text("/api/market/bars?symbols=AAPL%2CMSFT")
    expect(sent).not_to_contain_text(re.compile("(start|end|page|source)="))


def test_the_reference_leads_to_the_guides(reference: Page, service: Service) -> None:
    """A guide is rendered, and its links lead to rendered guides."""
    reference.get_by_role("link", name="errors", exact=True).click()
    expect(reference.get_by_role("cell", name="symbol_not_found")).to_be_visible()
    reference.get_by_role("link", name="All guides").click()
    reference.get_by_role("link", name="HTTP", exact=True).click()
    expect(reference).to_have_url(f"{service.url}/api/docs/guides/http")
    expect(reference.get_by_role("heading", name=re.compile("^HTTP"))).to_be_visible()
