"""Settings of MCP, and whether a worker serves it."""

import contextlib
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Final, Literal

from msgspec import Meta

from quotecast.settings.providers import PerMinute, ProviderSettings

REMEDY: Final = "pip install 'quotecast[mcp]'"


class McpSettings(ProviderSettings, frozen=True, kw_only=True):
    """Settings of `/mcp`."""

    mcp: Annotated[
        Literal["auto", "on", "off"],
        Meta(
            description="Tools for language models at `/mcp`, with the extra `mcp`; `auto`: on in "
            "development where it is installed"
        ),
    ] = "auto"
    mcp_hosts: Annotated[
        tuple[str, ...],
        Meta(
            description="Host names by which clients reach `/mcp`, such as `quotes.example.com`; in "
            "development also those of this machine"
        ),
    ] = ()
    limit_mcp: Annotated[
        PerMinute, Meta(description="Requests per minute to `/mcp`; tools count for their own paths too")
    ] = 120


def has_sdk() -> bool:
    """Returns whether the MCP SDK is installed, in version 2; imports nothing."""
    with contextlib.suppress(PackageNotFoundError):
        return version("mcp").startswith("2.")
    return False


def serves_mcp(settings: McpSettings, mode: str) -> bool:
    """Returns whether workers serve `/mcp`: in development by default, if the extra is installed."""
    if settings.mcp == "auto":
        return mode == "development" and has_sdk()
    return settings.mcp == "on"
