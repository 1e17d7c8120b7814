"""Where what the browser's tests need besides the page is installed."""

from pathlib import Path
from typing import Final

WEB: Final = Path(__file__).parents[2] / "src/quotecast/web"
AXE: Final = WEB / "node_modules/axe-core/axe.min.js"
