"""Tool calls: run within their time, and counted by tool and outcome."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, TypeVar

import structlog
from prometheus_client import Metric

from quotecast.mcp.arguments import read_arguments
from quotecast.mcp.asking import CALL_SECONDS, Asking, ToolRefused
from quotecast.mcp.resources import read_resource
from quotecast.mcp.results import Result
from quotecast.mcp.tools import TOOLS
from quotecast.observe.metrics import counter

#: Labels of reads of resources, and of tools that do not exist.
RESOURCE: Final = "resource"
OTHER: Final = "other"

T = TypeVar("T")

log = structlog.get_logger()


class ToolCalls:
    """Runs tools and reads resources; `counts` has their numbers by tool and outcome.

    `invalid` are wrong arguments, `refused` the service's answers from 400 to 499, and `failed` the others.
    """

    def __init__(self, seconds: float = CALL_SECONDS) -> None:
        self._seconds = seconds
        self.counts: defaultdict[tuple[str, str], int] = defaultdict(int)

    async def run(self, name: str, given: Mapping[str, Any], asking: Asking) -> Result:
        """Returns a tool's result. Raises ToolRefused, also for a tool that does not exist."""
        tool = TOOLS.get(name)
        if tool is None:
            # A client's text never becomes a label.
            self.counts[OTHER, "invalid"] += 1
            raise ToolRefused(f"There is no tool {name[:64]!r}; there are: {', '.join(TOOLS)}", 404)
        try:
            wanted = read_arguments(tool.arguments, given)
        except ToolRefused:
            self.counts[name, "invalid"] += 1
            raise
        return await self._count(name, tool.read(asking, wanted))

    async def read(self, uri: str, asking: Asking) -> str:
        """Returns a resource as JSON text. Raises ToolRefused."""
        return await self._count(RESOURCE, read_resource(asking, uri))

    async def _count(self, name: str, work: Awaitable[T]) -> T:
        """Returns the result of some reads, and counts its outcome. Raises ToolRefused for every failure."""
        outcome = "failed"
        try:
            async with asyncio.timeout(self._seconds):
                result = await work
            outcome = "ok"
        except TimeoutError:
            raise ToolRefused(f"The service took longer than {self._seconds:g} s", 504) from None
        except ToolRefused as error:
            if error.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                outcome = "refused"
            raise
        except Exception:
            log.exception("tool failed", tool=name)
            raise ToolRefused("Internal Server Error", 500) from None
        finally:
            self.counts[name, outcome] += 1
        return result

    def families(self) -> Iterator[Metric]:
        """Yields the metrics of the tools."""
        yield counter(
            "mcp_calls",
            "Calls of MCP tools; `invalid`: wrong arguments, `refused`: by the service, `failed`: otherwise.",
            dict(self.counts),
            ["tool", "outcome"],
        )
