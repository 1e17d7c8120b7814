"""docs/feeds.md agrees with the feeds: frames, commands, numbers and the client program."""

import json
import re
import runpy
from collections import deque
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import fields

from docs.pages import blocks, page
from quotecast.api.reference.feed_schemas import feed_schemas, frame_structs, reference, schema_name
from quotecast.close_codes import CloseCode
from quotecast.feed.client import COMMANDS_PER_SECOND
from quotecast.feed.commands import DEFAULT_INTERVAL, INTERVALS, MAX_MESSAGE_BYTES, Command, Query
from quotecast.feed.encoding import ENCODINGS
from quotecast.feed.frames import Limits
from quotecast.feed.mirror import Mirror
from quotecast.framing import Frame
from quotecast.ingest.ledger import Ledger
from quotecast.market.feeds import Feed
from quotecast.providers.base import Update
from support.made.market import INFO, stock
from support.oracles.schemas import validator_of
from support.stages.feed_session import MarketSession

GUIDE = page("feeds")
SOCKETS = {feed.spec.name for feed in Feed}


def examples() -> list[dict[str, Any]]:
    """Returns every line of the guide's JSON blocks."""
    return [json.loads(line) for block in blocks(GUIDE, "json") for line in block.splitlines()]


def test_frames_are_as_the_feeds_send_them() -> None:
    """Every frame of the guide fits its schema, and the guide has a frame of every type."""
    shown = [frame for frame in examples() if "type" in frame]
    schemas = feed_schemas()
    for frame in shown:
        among_feeds = "feeds" in frame or (frame.get("feed") in SOCKETS and frame["type"] != "welcome")
        name = schema_name(frame["type"], None if among_feeds else Feed.STOCKS)
        validator_of(reference(name), {"schemas": schemas}).validate(frame)
    tags = {kind.__struct_config__.tag for kind in frame_structs()}
    assert {frame["type"] for frame in shown} == {*tags, "snapshot", "update", "bars"}


def test_commands_are_as_the_feeds_understand_them() -> None:
    """The page has every action of a command, and no field that the feeds ignore."""
    shown = [each for each in examples() if "action" in each]
    actions = {msgspec.convert(command, Command).action for command in shown}
    assert actions == {"subscribe", "unsubscribe", "list", "ping"}
    assert set().union(*shown) <= {field.encode_name for field in fields(Command)}


def test_numbers_are_those_of_the_code() -> None:
    """The page's close codes, subprotocols, intervals and bounds equal the code's."""
    assert {int(code) for code in re.findall(r"^\| (\d{4}) \|", GUIDE, re.MULTILINE)} == set(CloseCode)
    assert all(f"`{encoding.subprotocol}`" in GUIDE for encoding in ENCODINGS)
    [listed] = re.findall(r"between two updates: (.*?) \|", GUIDE)
    assert [int(number) for number in re.findall(r"\d+", listed)] == [*INTERVALS]
    assert f"{DEFAULT_INTERVAL} (default)" in listed
    assert f"{MAX_MESSAGE_BYTES:,} bytes" in GUIDE
    assert f"{COMMANDS_PER_SECOND} commands a second" in GUIDE
    assert f"{Limits().symbols} names" in GUIDE


class World:
    """An ingest, a worker, and the page's client."""

    def __init__(self, copy: Any, wanted: str) -> None:
        self.copy = copy
        self._wanted = wanted
        self._epochs = 0
        self._ledger = Ledger(Feed.STOCKS)
        self._ledger.take(Update([stock(symbol) for symbol in "ABC"]), 0.0)
        self._mirror = Mirror(Feed.STOCKS)
        self.takeover("")
        self.reconnect("")

    def move(self, symbol: str) -> None:
        self._publish(Update([stock(symbol, 101.0)]))

    def rename(self, symbol: str) -> None:
        self._publish(Update([stock(symbol, name="Another Inc.")]))

    def leave_group(self, symbol: str) -> None:
        self._publish(Update([stock(symbol, sector="Materials")]))

    def remove(self, symbol: str) -> None:
        self._publish(Update(removed=[symbol]))

    def takeover(self, _: str) -> None:
        self._epochs += 1
        self._mirror.load(self._ledger.begin(f"{self._epochs:020x}", INFO))

    def reconnect(self, _: str) -> None:
        self._receive(self._greeting())

    def cut_off(self, _: str) -> None:
        """Breaks a connection before its snapshot, then connects again."""
        self._receive(self._greeting()[:1])
        self.reconnect("")

    def tick(self, _: str = "") -> None:
        frame = self._session.advance()
        self._receive([] if frame is None else [frame])

    def truth(self) -> dict[str, Any]:
        subscription = self._session.subscription
        live = {entry.key: json.loads(entry.full_json()) for entry in self._mirror.live()}
        return {key: quote for key, quote in live.items() if subscription.wants(key)}

    def _greeting(self) -> list[Frame]:
        self._session = MarketSession(self._mirror)
        return self._session.greet(Query(symbols=self._wanted, since=self.copy.since))

    def _publish(self, update: Update) -> None:
        self._ledger.take(update, 0.0)
        if self._ledger.waiting:
            batch, _, _ = self._ledger.next_batch(0.0)
            assert self._mirror.apply(batch)

    def _receive(self, sent: list[Frame]) -> None:
        """Merges frames, and requests a full snapshot where the page's client does."""
        waiting = deque(sent)
        while waiting:
            frame = json.loads(waiting.popleft().payload)
            self.copy.take(frame)
            if frame["type"] == "subscribed" and frame["rejected"]:
                waiting.extend(self._session.receive('{"action":"subscribe","since":"none"}', 0.0))


@pytest.fixture(scope="module")
def guide_client(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Returns the names that the page's program defines."""
    [program] = blocks(GUIDE, "python")
    path = tmp_path_factory.mktemp("guide") / "client.py"
    path.write_text(program, "utf-8")
    return runpy.run_path(str(path))


ACTIONS = ["move", "rename", "leave_group", "remove", "takeover", "reconnect", "cut_off", "tick"]


@example(
    wanted="A,B", steps=[("remove", "A"), ("reconnect", ""), ("move", "A"), ("tick", ""), ("reconnect", "")]
)
@given(
    wanted=st.sampled_from(["all", "A,B", "sector:Energy,C"]),
    steps=st.lists(st.tuples(st.sampled_from(ACTIONS), st.sampled_from("ABCD")), max_size=25),
)
def test_the_client_of_the_guide_keeps_a_true_copy(
    guide_client: dict[str, Any], wanted: str, steps: list[tuple[str, str]]
) -> None:
    """After any sequence of events the page's client holds its symbols of the feed, and no others."""
    world = World(guide_client["Copy"](), wanted)
    for action, symbol in steps:
        getattr(world, action)(symbol)
    world.tick()
    assert world.copy.quotes == world.truth()
