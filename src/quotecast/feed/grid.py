"""The live grid of OpenBB Workspace: each message is a row, or the cells of a row that changed.

The client sends `{"params": {"symbol": "AAPL,MSFT"}}`, or a list in place of the text; each such message
replaces the rows. The format is that of docs.openbb.co/workspace/developers/widget-types/live-grid.
"""

from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from quotecast.close_codes import CloseCode
from quotecast.feed.client import ClientSession
from quotecast.feed.commands import MAX_MESSAGE_BYTES, Command, CommandError, names_of
from quotecast.feed.encoding import Encoding
from quotecast.framing import Frame, joined, ping

#: Lies between rows: no encoded JSON has a line break.
_BETWEEN: Final = b"\n"


class _Params(Struct):
    symbol: str | list[str] | None = None


class _Message(Struct):
    params: _Params | None = None


_decode: Final = msgspec.json.Decoder(_Message).decode


def _write(frame: Struct) -> Frame:
    """Returns the rows of a snapshot or an update; a heartbeat is a ping. A grid has no other messages."""
    if frame.__struct_config__.tag == "heartbeat":
        return ping()
    rows: Any = getattr(frame, "data", b"")
    return joined(Frame(row) for row in bytes(rows).split(_BETWEEN) if row)


#: No client names it: the address of a grid selects it.
GRID: Final = Encoding(
    "",
    "json",
    rows=False,
    write=_write,
    write_beat=_write,
    join=lambda items: Raw(_BETWEEN.join(items)),
)


class GridSession(ClientSession):
    """The session of a grid over one feed. A malformed message counts as a fault, another one is ignored."""

    __slots__ = ()

    def receive(self, message: str | bytes, now: float) -> list[Frame]:
        """Returns the rows that a message asks for."""
        del now
        (session,) = self.feeds.values()
        try:
            symbols = _symbols_of(message)
            if symbols is None:
                return []
            if not session.mirror.loaded:
                # The client reconnects, perhaps to a worker that has data.
                self.close_code = CloseCode.NO_DATA
                return []
            wanted = session.subscription.wanted
            cleared = session.obey(Command("unsubscribe", "all"))
        except CommandError as refusal:
            return [self._refuse(refusal, None)]
        try:
            return [*cleared, *session.obey(Command("subscribe", symbols))]
        except CommandError as refusal:
            session.subscription.want(wanted)
            return [*cleared, self._refuse(refusal, None)]


def _symbols_of(message: str | bytes) -> list[str] | str | None:
    """Returns the symbols of a message, or `all`; None if it names none. Raises CommandError."""
    if isinstance(message, bytes) or len(message) > MAX_MESSAGE_BYTES:
        raise CommandError("Messages must be JSON in text")
    try:
        params = _decode(message).params
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise CommandError("Malformed JSON") from None
    if params is None or params.symbol is None:
        return None
    return names_of(params.symbol if isinstance(params.symbol, str) else ",".join(params.symbol))
