"""The client's half of a WebSocket connection, which `websockets` parses.

A parser takes 2.6 KB, and idle clients send nothing: so a connection has one only from the first byte of a
frame to its last. Messages are reassembled from frames as RFC 6455 says in section 5.4.
"""

from typing import Final

from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from quotecast.framing import WINDOW_BITS
from quotecast.stream.handshakes import EXTENSION, Handshaking

#: Frames of one message; browsers and libraries send a command in one.
MAX_FRAGMENTS: Final = 64

_STARTS: Final = frozenset({Opcode.TEXT, Opcode.BINARY})
#: Above the limit of a command, so that the feed itself answers one that is too long.
MAX_MESSAGE_BYTES: Final = 1 << 18
_MASK_BYTES: Final = 4
_LENGTH_BYTES: Final = {126: 2, 127: 8}


class BadMessageError(Exception):
    """The client broke a rule of the protocol; `code` and `reason` go into the close frame."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Assembly:
    """The fragments of one unfinished message; control frames may come between them."""

    __slots__ = ("_fragments", "_is_text")

    def __init__(self) -> None:
        self._fragments: list[bytes] = []
        self._is_text = True

    def add(self, frame: Frame) -> str | bytes | None:
        """Returns the message that the frame completes, or None. Raises BadMessageError."""
        if frame.opcode in _STARTS:
            self._is_text = frame.opcode is Opcode.TEXT
        elif frame.opcode is not Opcode.CONT:
            return None
        self._fragments.append(bytes(frame.data))
        if len(self._fragments) > MAX_FRAGMENTS:
            self._fragments = []
            raise BadMessageError(CloseCode.MESSAGE_TOO_BIG, f"at most {MAX_FRAGMENTS} fragments per message")
        if not frame.fin:
            return None
        message, self._fragments = b"".join(self._fragments), []
        if not self._is_text:
            return message
        try:
            return message.decode()
        except UnicodeDecodeError:
            raise BadMessageError(CloseCode.INVALID_DATA, "text that is not UTF-8") from None


def is_whole(frame: Frame) -> bool:
    """Whether a frame is a message by itself: neither a control frame nor a fragment."""
    return frame.fin and frame.opcode in _STARTS


class Incoming:
    """The parser of a connection, and the fragments of an unfinished message."""

    __slots__ = ("_borders", "assembly", "protocol")

    def __init__(self, protocol: ServerProtocol, borders: "Borders | None" = None) -> None:
        self.protocol = protocol
        self.assembly = Assembly()
        self._borders = borders

    def receive(self, data: bytes) -> list[Request | Response | Frame]:
        """Returns the requests and frames that the bytes complete."""
        if self._borders is not None:
            self._borders.pass_over(data)
        self.protocol.receive_data(data)
        return self.protocol.events_received()

    @property
    def is_at_rest(self) -> bool:
        """Whether a new parser would read what follows as this one does."""
        return (
            self._borders is not None
            and self._borders.between_frames
            and self.protocol.state is OPEN
            and self.protocol.current_size is None
        )


class Borders:
    """Follows the borders of a client's frames (RFC 6455, section 5.2) through its bytes."""

    __slots__ = ("_head", "_left")

    def __init__(self) -> None:
        #: The beginning of an unfinished header, and the bytes that the present frame still lacks.
        self._head = b""
        self._left = 0

    @property
    def between_frames(self) -> bool:
        """Whether the next byte begins a frame."""
        return not self._head and not self._left

    def pass_over(self, data: bytes) -> None:
        """Moves on by some bytes."""
        at = 0
        while at < len(data):
            if self._left:
                step = min(self._left, len(data) - at)
                self._left -= step
                at += step
                continue
            taken = data[at : at + _header_size(self._head) - len(self._head)]
            at += len(taken)
            self._head += taken
            if len(self._head) == _header_size(self._head):
                length = self._head[1] & 0x7F
                extended = _LENGTH_BYTES.get(length)
                self._left = int.from_bytes(self._head[2 : 2 + extended]) if extended else length
                self._head = b""


def new_connection() -> Incoming:
    """Returns the parser of a connection whose request `websockets` reads; it stays."""
    return Incoming(Handshaking(max_size=MAX_MESSAGE_BYTES, extensions=[EXTENSION]))


def open_connection(*, compresses: bool) -> Incoming:
    """Returns the parser of an open connection, at the border between two frames."""
    protocol = ServerProtocol(max_size=MAX_MESSAGE_BYTES, state=OPEN)
    if compresses:
        # Reads any smaller window too, and no message depends on another one.
        protocol.extensions = [
            PerMessageDeflate(
                remote_no_context_takeover=True,
                local_no_context_takeover=True,
                remote_max_window_bits=WINDOW_BITS,
                local_max_window_bits=WINDOW_BITS,
            )
        ]
    return Incoming(protocol, Borders())


def _header_size(head: bytes) -> int:
    """Returns the length of a frame's header, as far as its beginning shows it."""
    if len(head) < 2:
        return 2
    masked = head[1] & 0x80
    return 2 + _LENGTH_BYTES.get(head[1] & 0x7F, 0) + (_MASK_BYTES if masked else 0)
