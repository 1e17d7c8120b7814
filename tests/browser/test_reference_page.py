"""The reference of routes, /api/docs, and the guides beside it."""

import re

import pytest
from playwright.sync_api import Page, expect

from support.servers.service import Service

pytestmark = pytest.mark.browser


def test_an_operation_shows_its_code_samples(blank_page: Page, service: Service) -> None:
    """Each sample unfolds, and names the address of this service."""
    blank_page.goto(f"{service.url}/api/docs#/Market/getQuotes")
    for name in ("curl", "Python", "TypeScript"):
        blank_page.get_by_text(name, exact=True).first.click()
    operation = blank_page.locator("#operations-Market-getQuotes")
    expect(operation.get_by_text(f"curl '{service.url}/api/market/quotes?symbols=AAPL,MSFT'")).to_be_visible()
    expect(operation.get_by_text("from quotecast_client import Client")).to_be_visible()
    expect(operation.get_by_text('import { Client } from "quotecast-client";')).to_be_visible()


def test_a_trial_sends_required_parameters_alone(blank_page: Page, service: Service) -> None:
    """Required parameters have their example; optional ones are empty."""
    blank_page.goto(f"{service.url}/api/docs#/Market/getBarsBatch")
    blank_page.get_by_role("button", name="Try it out").click()
    blank_page.get_by_role("button", name="Execute").click()
    sent = blank_page.locator("#operations-Market-getBarsBatch .request-url")
    expect(sent).to_contain_text("/api/market/bars?symbols=AAPL%2CMSFT")
    expect(sent).not_to_contain_text(re.compile("(start|end|page|source)="))


def test_the_reference_leads_to_the_guides(blank_page: Page, service: Service) -> None:
    """A guide is rendered, and its links lead to rendered guides."""
    blank_page.goto(f"{service.url}/api/docs")
    blank_page.get_by_role("link", name="errors", exact=True).click()
    expect(blank_page.get_by_role("cell", name="symbol_not_found")).to_be_visible()
    blank_page.get_by_role("link", name="All guides").click()
    blank_page.get_by_role("link", name="HTTP", exact=True).click()
    expect(blank_page).to_have_url(f"{service.url}/api/docs/guides/http")
    expect(blank_page.get_by_role("heading", name=re.compile("^HTTP"))).to_be_visible()
