"""Accessibility of an open page, judged by axe."""

from typing import Final

from playwright.sync_api import Page

from support.made.web_files import WEB

_AXE: Final = WEB / "node_modules/axe-core/axe.min.js"
_RUN: Final = """async ([include, exclude]) => {
    const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    const { violations } = await axe.run({ include, exclude }, { runOnly });
    return violations.flatMap((each) => each.nodes.map((node) => `${each.id}: ${node.html.slice(0, 200)}`));
}"""


def violations(page: Page, part: str = "html", *, but: str | None = None) -> list[str]:
    """Returns the violations of WCAG 2.2 A and AA in a part of the page, each with its element's HTML.

    `part` and `but` are selectors; what `but` matches is left out.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE.read_text("utf-8"))
    found: list[str] = page.evaluate(_RUN, [part, [but] if but else []])
    return found
