"""Runs the cases of clients/conformance with copies of tests/support/oracles/reference_copy.py."""

import json
from pathlib import Path
from typing import Any, Final

from support.oracles.reference_copy import Frame, ReferenceCopy

CASES: Final = Path(__file__).parents[3] / "clients" / "conformance" / "cases"
_KEYS: Final = {"market": "ticker", "crypto": "ticker", "doviz": "symbol"}

Case = dict[str, Any]


def read_case(path: Path) -> Case:
    case: Case = json.loads(path.read_text())
    return case


class Runner:
    """One case with a copy for each feed. Its methods raise AssertionError at a wrong expectation."""

    def __init__(self, case: Case, copy: type[ReferenceCopy] = ReferenceCopy) -> None:
        self.case = case
        self.feed: str = case["feed"]
        self._copy = copy
        self._copies: dict[str, ReferenceCopy] = {}
        self._heartbeat_ms = 0
        self._retry_after_ms: int | None = None
        self._close_code = 0

    def run(self) -> None:
        """Takes all steps."""
        for number, step in enumerate(self.case["steps"]):
            try:
                self._take(step)
            except AssertionError as error:
                raise AssertionError(f"{self.case['name']}, step {number}: {error}") from None

    def _take(self, step: Frame) -> None:
        kind = next(iter(step))
        given = step[kind]
        match kind:
            case "connect":
                for name, asked in self._by_feed(given).items():
                    self._copies[name] = self._copy(_KEYS[name], asked)
            case "frame":
                self._take_frame(given)
            case "send":
                self._find(given.get("feed")).want(given)
            case "rest":
                self._find(given.get("feed")).read_closed(given["bars"])
            case _:
                self._check(kind, given, step)

    def _check(self, kind: str, given: Any, step: Frame) -> None:
        match kind:
            case "copy":
                for name, expected in self._by_feed(given).items():
                    self._compare(self._find(name), expected)
            case "reconnect":
                self._reconnect([given, *step.get("or", [])])
            case "close":
                self._close_code = given
            case "resumes":
                assert (not 4400 <= self._close_code < 4450) == given
                assert "after_ms" not in step or step["after_ms"] == self._retry_after_ms
            case "watchdog_ms":
                assert given == 2 * self._heartbeat_ms
            case _:
                raise AssertionError(f"an unknown step {kind}")

    def _by_feed(self, given: Frame) -> dict[str, Frame]:
        return given if self.feed == "all" else {self.feed: given}

    def _find(self, name: str | None) -> ReferenceCopy:
        name = name or self.feed
        # A feed without a list: it has heartbeats.
        return self._copies.setdefault(name, self._copy(_KEYS[name], {"symbols": []}))

    def _take_frame(self, frame: Frame) -> None:
        if frame["type"] == "welcome":
            self._heartbeat_ms = frame["heartbeatMs"]
        elif frame["type"] == "shutdown":
            self._retry_after_ms = frame["retryAfterMs"]
        elif self.feed != "all":
            self._find(self.feed).take(frame)
        elif "feed" in frame:
            self._find(frame["feed"]).take(frame)

    def _compare(self, copy: ReferenceCopy, expected: Frame) -> None:
        ignored = self.case.get("ignored", [])
        quotes = {
            symbol: {name: value for name, value in quote.items() if name not in ignored}
            for symbol, quote in copy.quotes.items()
        }
        _require(quotes, expected["quotes"])
        _require(copy.cursor, expected["cursor"])
        if "bars" in expected:
            ((interval, bars),) = expected["bars"].items()
            _require((copy.interval, copy.held_bars()), (interval, bars))
            _require(copy.missing, expected["missing"])

    def _reconnect(self, answers: list[Frame]) -> None:
        if self.feed == "all":
            asked: Frame = {
                name: _comparable(copy.reconnection())
                for name, copy in self._copies.items()
                if copy.is_served
            }
            right = [{name: _comparable(each) for name, each in answer.items()} for answer in answers]
        else:
            asked = _comparable(self._find(self.feed).reconnection())
            right = [_comparable(answer) for answer in answers]
        if asked not in right:
            _require(asked, right[0])
        for copy in self._copies.values():
            copy.connect()


def _require(actual: object, expected: object) -> None:
    if actual != expected:
        raise AssertionError(f"{actual} instead of {expected}")


def _comparable(asked: Frame) -> Frame:
    """Returns what a client asks for with its symbols in order."""
    names = asked["symbols"]
    return asked | {"symbols": names if isinstance(names, str) else sorted(names)}
