"""Reassembly of clients' messages from WebSocket frames (RFC 6455, section 5.4)."""

from typing import Final

from websockets.frames import CloseCode, Frame, Opcode

#: Frames of one message; browsers and libraries send a command in one.
MAX_FRAGMENTS: Final = 64

_STARTS: Final = frozenset({Opcode.TEXT, Opcode.BINARY})


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
        return self._join() if frame.fin else None

    def _join(self) -> str | bytes:
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
