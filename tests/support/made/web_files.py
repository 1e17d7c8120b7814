"""Folders of the terminal page and of the TypeScript client."""

from pathlib import Path
from typing import Final

WEB: Final = Path(__file__).parents[3] / "src/quotecast/web"
CLIENT: Final = Path(__file__).parents[3] / "clients/typescript"
AXE: Final = WEB / "node_modules/axe-core/axe.min.js"
#: Returns the violations of WCAG 2.2 AA, once axe is in the page.
RUN_AXE: Final = (
    "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })"
    ".then(({ violations }) => violations)"
)
