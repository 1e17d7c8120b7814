"""The line below the table: is the data live, is it real, and from where."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.text import Text

from quotecast_client import Feed, State

_COLOURS: Final[dict[str, str]] = {"live": "green", "stale": "yellow", "connecting": "yellow"}
#: Names of feeds in the service's state.
_STATUS_NAMES: Final[dict[Feed, str]] = {"market": "stocks", "crypto": "crypto", "doviz": "doviz"}


def state_line(
    states: Mapping[Feed, State], status: Mapping[str, Any] | None, address: str, silent: float
) -> Text:
    """Returns the state of the feeds, of the exchange, and of the connection.

    `status` is the service's answer, None before the first one; `silent` are the seconds without a frame.
    """
    parts = [_connection(states, address, silent)]
    for feed, state in states.items():
        label = f"{feed} {state}"
        if feed == "market" and status is not None:
            label += ", open" if status["marketOpen"] else ", closed"
        parts.append(Text(label, _COLOURS.get(state, "red")))
    if status is not None:
        parts.append(Text(_origin([*states], status), "dim"))
    return Text("  ").join(parts)


def _connection(states: Mapping[Feed, State], address: str, silent: float) -> Text:
    if all(state == "connecting" for state in states.values()):
        return Text(f"connecting to {address}, last prices {silent:.0f} s ago", "bold yellow")
    return Text(address, "dim")


def _origin(feeds: Sequence[Feed], status: Mapping[str, Any]) -> str:
    """Returns whether the prices are real; names the feeds if only some are simulated."""
    known = status["feeds"]
    simulated = [feed for feed in feeds if known.get(_STATUS_NAMES[feed], {}).get("simulated")]
    if not simulated:
        return "real data"
    return "simulated data" if len(simulated) == len(feeds) else f"simulated: {', '.join(simulated)}"
