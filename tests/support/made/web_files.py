"""Folders of the terminal page and of the TypeScript client."""

from pathlib import Path
from typing import Final

WEB: Final = Path(__file__).parents[3] / "src/quotecast/web"
CLIENT: Final = Path(__file__).parents[3] / "clients/typescript"
