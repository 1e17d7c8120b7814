"""The JavaScript program in docs/quickstart.md."""

import pytest
from playwright.sync_api import Page

from docs.pages import blocks
from docs.pages import page as page_of_docs
from support.service import Service

pytestmark = pytest.mark.browser


def test_the_program_follows_a_feed(page: Page, service: Service) -> None:
    """The program prints the snapshot and then updates."""
    [program] = blocks(page_of_docs("quickstart"), "js")
    here = program.replace("127.0.0.1:8000", f"127.0.0.1:{service.port}")
    with (
        page.expect_console_message(lambda message: message.text.startswith("snapshot")),
        page.expect_console_message(lambda message: message.text.startswith("update")),
    ):
        page.evaluate(f"() => {{ {here} }}")
