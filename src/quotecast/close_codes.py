"""Close codes of WebSockets: two of RFC 6455, and our own."""

from enum import IntEnum


class CloseCode(IntEnum):
    """WebSocket close codes: after those from 4400 to 4449 a client must not reconnect."""

    INTERNAL_ERROR = 1011
    SERVICE_RESTART = 1012
    BAD_COMMANDS = 4400
    KEY_ENDED = 4401
    NOT_ALLOWED = 4403
    NO_PROVIDER = 4404
    REPLAY_ENDED = 4410
    NOT_RECORDED = 4422
    NO_DATA = 4451
    RIGHTS_CHANGED = 4452
    PLAN_FULL = 4453
    SLOW = 4458
