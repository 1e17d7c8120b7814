"""A reader of recorded feeds: replays a minute of the last hour, ten times as fast."""

import json
import random
import time
from typing import Any

import websocket
from locust import User, between, task

REPLAYED_SECONDS = 3600
SPEED = 10
OPENING_SECONDS = 10


class LiveFrame(Exception):
    """A replay has a frame of the live feed."""


def require_replay(frame: dict[str, Any]) -> None:
    """Raises LiveFrame unless the first frame is of a replay, or says why there is none."""
    if frame["type"] != "error" and not frame.get("replayed"):
        raise LiveFrame


class ReplayReader(User):
    """One replay at a time; 503 is an answer, too: replays are bounded."""

    weight = 1
    wait_time = between(5, 15)

    @task
    def replay(self) -> None:
        """Reads for six seconds, or up to the end of the replay."""
        at = time.time() - random.uniform(60, REPLAYED_SECONDS)
        host = str(self.host).replace("http", "ws", 1)
        began = time.monotonic()
        failure: Exception | None = None
        frames = 0
        try:
            address = f"{host}/api/ws/market?symbols=all&at={at:.3f}&speed={SPEED}"
            connection = websocket.create_connection(address, timeout=OPENING_SECONDS)
            require_replay(json.loads(connection.recv()))
            while time.monotonic() < began + 60 / SPEED and connection.recv():
                frames += 1
            connection.close()
        except websocket.WebSocketBadStatusException as error:
            failure = None if error.status_code == 503 else error
        except (websocket.WebSocketException, OSError, LiveFrame, ValueError) as error:
            failure = error
        self.environment.events.request.fire(
            request_type="REPLAY",
            name="/api/ws/market?at=",
            response_time=(time.monotonic() - began) * 1000,
            response_length=frames,
            exception=failure,
            context={},
        )
