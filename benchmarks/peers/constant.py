"""The bare server: constant bytes for every request, from a file whose name is in `BODY`."""

import os
from pathlib import Path
from typing import Any

BODY = Path(os.environ["BODY"]).read_bytes()
HEADERS = [(b"content-type", b"application/json"), (b"content-length", str(len(BODY)).encode())]


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answers every request with the same bytes."""
    if scope["type"] != "http":
        return
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": BODY})
