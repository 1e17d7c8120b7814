"""Errors that refuse a socket say by their close code whether the client may connect again."""

import pytest

from quotecast.access.errors import DoorOutOfPlan, InvalidKey, OutOfScope, SessionEnded, SocketsInUse
from quotecast.close_codes import CloseCode
from quotecast.errors import Busy, DatabaseAway, InvalidToken, QuotecastError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidKey(), CloseCode.KEY_ENDED),
        (InvalidToken(), CloseCode.KEY_ENDED),
        (OutOfScope("This API key is not for doviz"), CloseCode.NOT_ALLOWED),
        (DoorOutOfPlan("free", "has no WebSocket feeds"), CloseCode.NOT_ALLOWED),
        (SessionEnded(), CloseCode.RIGHTS_CHANGED),
        (SocketsInUse("free", "has at most 2 sockets"), CloseCode.PLAN_FULL),
        (DatabaseAway(), CloseCode.NO_DATA),
        (Busy(), CloseCode.NO_DATA),
    ],
)
def test_a_refused_socket_closes_with_the_code_of_its_error(error: QuotecastError, code: CloseCode) -> None:
    assert error.close_code is code
