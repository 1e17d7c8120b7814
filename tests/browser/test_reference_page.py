"""The reference of routes, /api/docs, and the guides beside it."""

import re

import pytest
from playwright.sync_api import Page, expect

from support.servers.service import Service

pytestmark = pytest.mark.browser


def test_an_operation_shows_its_code_samples(page: Page, service: Service) -> None:
    """Each sample unfolds, and names the address of this service."""
    page.goto(f"{service.url}/api/docs#/Market/getQuotes")
    for name in ("curl", "Python", "TypeScript"):
        page.get_by_text(name, exact=True).first.click()
    operation = page.locator("#operations-Market-getQuotes")
    expect(operation.get_by_text(f"curl '{service.url}/api/market/quotes?symbols=AAPL,MSFT'")).to_be_visible()
    expect(operation.get_by_text("from quotecast_client import Client")).to_be_visible()
    expect(operation.get_by_text('import { Client } from "quotecast-client";')).to_be_visible()


def test_a_trial_sends_required_parameters_alone(page: Page, service: Service) -> None:
    """Required parameters have their example; optional ones are empty."""
    page.goto(f"{service.url}/api/docs#/Market/getBarsBatch")
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    sent = page.locator("#operations-Market-getBarsBatch .request-url")
    expect(sent).to_contain_text("/api/market/bars?symbols=AAPL%2CMSFT")
    expect(sent).not_to_contain_text(re.compile("(start|end|page|source)="))


def test_the_reference_leads_to_the_guides(page: Page, service: Service) -> None:
    """A guide is rendered, and its links lead to rendered guides."""
    page.goto(f"{service.url}/api/docs")
    page.get_by_role("link", name="errors", exact=True).click()
    expect(page.get_by_role("cell", name="symbol_not_found")).to_be_visible()
    page.get_by_role("link", name="All guides").click()
    page.get_by_role("link", name="HTTP", exact=True).click()
    expect(page).to_have_url(f"{service.url}/api/docs/guides/http")
    expect(page.get_by_role("heading", name=re.compile("^HTTP"))).to_be_visible()
