"""Where what the browser's tests need besides the page is installed."""

import shutil
from pathlib import Path
from typing import Final

WEB: Final = Path(__file__).parents[1] / "src/quotecast/web"
AXE: Final = WEB / "node_modules/axe-core/axe.min.js"
#: Node on the path; the recipe that runs these tests puts one there.
NODE: Final = shutil.which("node") or "node"
