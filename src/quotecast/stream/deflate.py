"""permessage-deflate (RFC 7692) on the feed server, without context takeover in either direction.

A compressed message then depends on no other, so that all clients of a frame share its bytes, and an idle
connection holds no compressor.
"""

from collections.abc import Sequence
from typing import Final

from websockets.exceptions import NegotiationError
from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import PerMessageDeflate, ServerPerMessageDeflateFactory
from websockets.typing import ExtensionParameter

from quotecast.framing import WINDOW_BITS


class _Factory(ServerPerMessageDeflateFactory):
    """Declines an offer that bounds our window: its clients could not read the frames that others share."""

    def process_request_params(
        self, params: Sequence[ExtensionParameter], accepted_extensions: Sequence[Extension]
    ) -> tuple[list[ExtensionParameter], PerMessageDeflate]:
        """Returns the answer's parameters and the extension. Raises NegotiationError."""
        answer, extension = super().process_request_params(params, accepted_extensions)
        if extension.local_max_window_bits != WINDOW_BITS:
            raise NegotiationError("the server's window has 15 bits")
        return answer, extension


EXTENSION: Final = _Factory(server_no_context_takeover=True, client_no_context_takeover=True)
