"""The Lua scripts, which lie beside their callers."""

from functools import cache
from importlib import resources


@cache
def lua(folder: str, name: str) -> str:
    """Returns the source of a script, by its folder in `quotecast` and its name."""
    return resources.files(f"quotecast.{folder}").joinpath(f"{name}.lua").read_text("utf-8")
