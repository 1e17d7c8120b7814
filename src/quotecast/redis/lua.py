"""The Lua scripts, which lie beside their callers."""

from functools import cache
from importlib import resources


@cache
def lua(room: str, name: str) -> str:
    """Returns the source of a script, by the room of `quotecast` that it lies in and its name."""
    return resources.files(f"quotecast.{room}").joinpath(f"{name}.lua").read_text("utf-8")
