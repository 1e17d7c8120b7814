"""Posts to webhooks, signed as Standard Webhooks (https://www.standardwebhooks.com) describes."""

import base64
import hashlib
import hmac
import secrets
from typing import Final

from quotecast.alerts.outbound import Outbound, Result

_PREFIX: Final = "whsec_"
_SECRET_BYTES: Final = 32


def new_secret() -> str:
    """Returns a new secret of a webhook: a prefix, then random bytes in base64."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Returns the signature of a message: HMAC-SHA256 of its id, its time in Unix seconds and its body."""
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    content = b"%b.%d.%b" % (message_id.encode(), timestamp, body)
    return "v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()


def event_message_id(event_id: int) -> str:
    """Returns the id of the message about an event: the same at each try."""
    return f"msg_{event_id}"


async def post(
    outbound: Outbound, url: str, *, secret: str, message_id: str, now: float, body: bytes
) -> Result:
    """Posts a message once; `now` is Unix time."""
    timestamp = int(now)
    headers = {
        "content-type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(secret, message_id, timestamp, body),
    }
    return await outbound.post(url, headers, body)
