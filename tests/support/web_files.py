"""Folder of the browser tests' own npm packages."""

from pathlib import Path
from typing import Final

WEB: Final = Path(__file__).parents[2] / "src/quotecast/web"
AXE: Final = WEB / "node_modules/axe-core/axe.min.js"
