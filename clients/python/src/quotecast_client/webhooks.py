"""Messages to a webhook, signed as Standard Webhooks describes (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from typing import TYPE_CHECKING, Any

from quotecast_client.errors import InvalidWebhook

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Seconds by which a message may be old, or the clocks differ.
TOLERANCE_SECONDS = 300


def verify_webhook(
    secret: str, headers: Mapping[str, str], body: bytes, *, now: float | None = None
) -> dict[str, Any]:
    """Returns the message of a post to a webhook.

    `secret` is that of `set_webhook`, and `body` the raw body. A message may come twice: `webhook-id` is the
    same. Raises InvalidWebhook if the message is not from the service, or old.
    """
    given = {name.lower(): value for name, value in headers.items()}
    message, sent = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not sent.isascii() or not sent.isdigit():
        raise InvalidWebhook("the message has no timestamp")
    expected = b"v1," + base64.b64encode(_signature(secret, f"{message}.{sent}.".encode() + body))
    signatures = given.get("webhook-signature", "").encode().split()
    if not any(hmac.compare_digest(expected, each) for each in signatures):
        raise InvalidWebhook("the signature is wrong")
    if abs((time.time() if now is None else now) - int(sent)) > TOLERANCE_SECONDS:
        raise InvalidWebhook("the message is too old, or from the future")
    content: dict[str, Any] = json.loads(body)
    return content


def _signature(secret: str, content: bytes) -> bytes:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return hmac.new(key, content, hashlib.sha256).digest()
