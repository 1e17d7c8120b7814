"""Records cases of clients/conformance from a running service, such as `just up`.

REST is the judge: where its ETag is the cursor of a frame, its quotes are the expected copy. The service
needs `QUOTECAST_LIMITS=off`.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import httpx
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from support.oracles.generated_cases import written
from support.runs.deadlines import scaled

Step = dict[str, Any]
Cursors = dict[str, str]

_CASES: Final = {
    "recorded-market": ("quotecast.v1.json", {"market": ["AAPL", "MSFT"]}),
    "recorded-crypto-rows": ("quotecast.v1.rows", {"crypto": ["BTC/USDT", "ETH/USDT"]}),
    "recorded-all": (
        "quotecast.v1.json",
        {"market": ["AAPL"], "crypto": ["BTC/USDT"], "doviz": ["gram-altin"]},
    ),
}
#: Frames of one connection; a case has two connections.
_FRAMES: Final = 12
_PATIENCE_SECONDS: Final = 20.0


class Recorder:
    """One case, from a service at `url`."""

    def __init__(self, url: str, subprotocol: str, lists: dict[str, list[str]]) -> None:
        self.steps: list[Step] = []
        self.feed = "all" if len(lists) > 1 else next(iter(lists))
        self._url = url
        self._rest = httpx.Client(base_url=url)
        self._subprotocol = Subprotocol(subprotocol)
        self._lists = lists
        self._cursors: Cursors = {}

    def record(self) -> list[Step]:
        """Returns the steps: two connections, the second of which resumes."""
        self._add("connect", {name: {"symbols": names} for name, names in self._lists.items()})
        self._follow()
        asked = {
            name: {"symbols": names, "since": self._cursors[name]} for name, names in self._lists.items()
        }
        self._add("reconnect", asked)
        self._follow()
        if not any("copy" in step for step in self.steps):
            raise SystemExit("no answer of REST was of the moment of a frame: try again")
        return self.steps

    def _follow(self) -> None:
        with connect(self._address(), subprotocols=[self._subprotocol]) as socket:
            for _ in range(_FRAMES):
                frame = json.loads(socket.recv(timeout=scaled(_PATIENCE_SECONDS)))
                self.steps.append({"frame": frame})
                if frame["type"] in {"snapshot", "update", "heartbeat"}:
                    name = frame["feed"] if self.feed == "all" else self.feed
                    self._cursors[name] = f"{frame['epoch']}-{frame['seq']}"
                    self._expect(name)

    def _address(self) -> str:
        names = {name: ",".join(symbols) for name, symbols in self._lists.items()}
        if self.feed != "all":
            query = {"symbols": names[self.feed], "since": self._cursors.get(self.feed)}
            path = f"/api/ws/{self.feed}"
        else:
            query = {**names, "since": ",".join(f"{name}:{each}" for name, each in self._cursors.items())}
            path = "/api/ws"
        given = {name: value for name, value in query.items() if value} | {"interval": "500"}
        return f"{self._url.replace('http', 'ws', 1)}{path}?{urlencode(given)}"

    def _expect(self, name: str) -> None:
        """Adds the copy, if the service's REST is at the cursor of the last frame."""
        answer = self._rest.get(f"/api/{name}/quotes", params={"symbols": "all"}).raise_for_status()
        if answer.headers["etag"] == f'W/"{self._cursors[name]}"':
            quotes = answer.json()
            copy = {symbol: quotes[symbol] for symbol in self._lists[name]}
            self._add("copy", {name: {"cursor": self._cursors[name], "quotes": copy}})

    def _add(self, kind: str, by_feed: Step) -> None:
        self.steps.append({kind: by_feed if self.feed == "all" else by_feed[self.feed]})


def main(url: str, folder: Path) -> None:
    """Replaces the recorded cases of a folder."""
    for name, (subprotocol, lists) in _CASES.items():
        recorder = Recorder(url, subprotocol, lists)
        steps = recorder.record()
        describes = "Frames of a simulated feed over two connections; every copy is an answer of REST."
        head = {"name": name, "describes": describes, "feed": recorder.feed, "subprotocol": subprotocol}
        (folder / f"{name}.json").write_text(written(head, steps))


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), Path(sys.argv[2]))
