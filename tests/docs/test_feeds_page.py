"""docs/feeds.md agrees with the feeds: frames, commands, numbers, and the client that it shows."""

import json
import re
import runpy
from collections import deque
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import fields

from docs.pages import blocks, page
from market_made import INFO, stock
<<<<<<< HEAD:tests/unit/test_readme.py
from quotecast.__main__ import _COMMANDS
from quotecast.api import sources
from quotecast.api.app import build_app
from quotecast.api.asyncapi import frame_structs
from quotecast.api.examples import QUOTES
from quotecast.api.parts import Parts
from quotecast.api.private import private_prefixes
=======
from quotecast.api.asyncapi import frame_structs
from quotecast.api.examples import QUOTES
>>>>>>> 9fccb80 (README has the first steps, and docs/ has a page for each topic):tests/docs/test_feeds_page.py
from quotecast.errors import CloseCode
from quotecast.feed.commands import DEFAULT_INTERVAL, INTERVALS, MAX_MESSAGE_BYTES, Command, Query
from quotecast.feed.encoding import ENCODINGS, Frame
from quotecast.feed.frames import Limits
from quotecast.feed.mirror import Mirror
from quotecast.feed.session import COMMANDS_PER_SECOND, Session
from quotecast.ingest.ledger import Ledger
from quotecast.market.calendars import EXCHANGE
from quotecast.market.feeds import Feed
<<<<<<< HEAD:tests/unit/test_readme.py
from quotecast.market.moves import moving_part
from quotecast.provider_settings import Variable
from quotecast.providers.base import Admission, Update, unlimited
from quotecast.settings import Settings, described

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
GUIDE = (ROOT / "docs" / "feeds.md").read_text("utf-8")


def settings_table() -> str:
    """The README's table of settings, as the settings themselves tell it."""
    head = ["| variable | default | meaning |", "|---|---|---|"]
    return "\n".join([*head, *map(_setting, described())])


def commands_table() -> str:
    head = ["| command | what it does |", "|---|---|"]
    return "\n".join([*head, *(f"| `quotecast {name}` | {what} |" for name, (_, what) in _COMMANDS.items())])


def _setting(variable: Variable) -> str:
    field = variable.field
    kind, *metas = get_args(field.type)
    meaning = next(meta.description for meta in metas if isinstance(meta, Meta) and meta.description)
    if get_origin(kind) is Literal:
        meaning = f"{meaning} ({', '.join(f'`{choice}`' for choice in get_args(kind))})"
    return f"| `{variable.name}` | {_default(field)} | {meaning} |"


def _default(field: FieldInfo) -> str:
    match field.default:
        case x if x is NODEFAULT:
            return "one per core"
        case tuple() as many:
            text = ",".join(many)
        case float() as number:
            text = f"{number:g}"
        case value:
            text = str(value)
    return f"`{text}`" if text else ""


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
=======
from quotecast.market.quotes import moving_part
from quotecast.providers.base import Update

GUIDE = page("feeds")
>>>>>>> 9fccb80 (README has the first steps, and docs/ has a page for each topic):tests/docs/test_feeds_page.py


def examples() -> list[dict[str, Any]]:
    """Returns every line of the guide's JSON blocks."""
    return [json.loads(line) for block in blocks(GUIDE, "json") for line in block.splitlines()]


def is_exact(value: dict[str, Any], kind: type[Struct]) -> bool:
    """Whether the value has the fields of the struct, no more and no less."""
    return bool(msgspec.to_builtins(msgspec.convert(value, kind)) == value)


<<<<<<< HEAD:tests/unit/test_readme.py
def test_the_settings_are_those_of_the_code() -> None:
    """Names, defaults, meanings and choices; the table is made of the settings' own words."""
    assert settings_table() in README, f"README.md should hold:\n{settings_table()}"


def test_the_commands_are_those_of_the_command_line() -> None:
    """In its own words."""
    assert commands_table() in README, f"README.md should hold:\n{commands_table()}"


def test_the_recipes_are_there() -> None:
    """Every `just ...` that a reader is told to type."""
    recipes = set(re.findall(r"^([a-z]+)[^:\n]*:(?!=)", (ROOT / "justfile").read_text("utf-8"), re.MULTILINE))
    told = set(re.findall(r"(?<!rust-)\bjust ([a-z]+)", README))
    assert {"up", "test"} <= told <= recipes


@pytest.mark.parametrize("text", [README, GUIDE], ids=["README", "feeds"])
def test_links_lead_somewhere(text: str) -> None:
    """Those into the repository; both files are read from where they lie."""
    targets = re.findall(r"\]\(([^)#]+)\)", text)
    assert [target for target in targets if not (ROOT / target).exists()] == []


async def test_the_routes_answer() -> None:
    """Every path that the README names."""
    paths = {path.rstrip(".") for path in re.findall(r"(?<!\.io)/api/[\w/%?=,.-]+", README)}
    feeds = {path.partition("?")[0] for path in paths if path.startswith("/api/ws/")}
    assert feeds == {f"/api/ws/{feed.spec.name}" for feed in Feed}
    private = private_prefixes(build_app(everything()))
    routes = sorted(path for path in paths if not path.startswith(("/api/ws/", *private)))
    async with client_of(everything()) as client:
        answers = {path: (await client.get(path)).status_code for path in routes}
    assert len(answers) > 8
    assert answers == dict.fromkeys(routes, 200)


def no_budget(_upstream: str, _limit: int) -> Admission:
    return unlimited


def everything() -> Parts:
    """An application that has something to answer on every route."""
    offered = sources.histories(Settings(), no_budget, lambda: EXCHANGE)
    documents = Documents()
    documents.news.take(news_of(article()))
    documents.assets.take(assets_of(asset()))
    return parts(
        full_mirrors(),
        documents=documents,
        # The provider of the mirrors' quotes.
        history={feed: dict.fromkeys(["test"], each["simulator"]) for feed, each in offered.items() if each},
        financials=sources.financials(Settings(), no_budget),
    )


=======
>>>>>>> 9fccb80 (README has the first steps, and docs/ has a page for each topic):tests/docs/test_feeds_page.py
def test_frames_are_as_the_feeds_send_them() -> None:
    """Each has the fields of its type; each item those of a quote or of what moves of it."""
    shown = [frame for frame in examples() if "type" in frame]
    structs, quote = frame_structs(), QUOTES[Feed.STOCKS]
    for frame in shown:
        if frame["type"] in structs:
            assert is_exact(frame, structs[frame["type"]]), frame
        for item in frame.get("data", []):
            assert is_exact(item, type(quote if "type" in item else moving_part(quote))), item
    assert {frame["type"] for frame in shown} == {*structs, "snapshot", "update"}


def test_commands_are_as_the_feeds_understand_them() -> None:
    """Every action, no field that would be ignored."""
    shown = [each for each in examples() if "action" in each]
    actions = {msgspec.convert(command, Command).action for command in shown}
    assert actions == {"subscribe", "unsubscribe", "list", "ping"}
    assert set().union(*shown) <= {field.name for field in fields(Command)}


def test_numbers_are_those_of_the_code() -> None:
    """Close codes, subprotocols, intervals and bounds."""
    assert {int(code) for code in re.findall(r"^\| (\d{4}) \|", GUIDE, re.MULTILINE)} == set(CloseCode)
    assert all(f"`{encoding.subprotocol}`" in GUIDE for encoding in ENCODINGS)
    [listed] = re.findall(r"between two updates: (.*?) \|", GUIDE)
    assert [int(number) for number in re.findall(r"\d+", listed)] == [*INTERVALS]
    assert f"{DEFAULT_INTERVAL} (default)" in listed
    assert f"{MAX_MESSAGE_BYTES:,} bytes" in GUIDE
    assert f"{COMMANDS_PER_SECOND} commands a second" in GUIDE
    assert f"{Limits().symbols} names" in GUIDE


class World:
    """An ingest, a worker, and the client that the guide shows."""

    def __init__(self, copy: Any, wanted: str) -> None:
        self.copy = copy
        self._wanted = wanted
        self._epochs = 0
        self._ledger = Ledger(Feed.STOCKS)
        self._ledger.take(Update([stock(symbol) for symbol in "ABC"]))
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
        """A connection that breaks before the snapshot, and the next one."""
        self._receive(self._greeting()[:1])
        self.reconnect("")

    def tick(self, _: str = "") -> None:
        frame = self._session.owed()
        self._receive([] if frame is None else [frame])

    def truth(self) -> dict[str, Any]:
        session = self._session
        live = {entry.key: json.loads(entry.full_json()) for entry in self._mirror.live()}
        return {key: quote for key, quote in live.items() if session.wanted is None or key in session.keys}

    def _greeting(self) -> list[Frame]:
        self._session = Session(self._mirror, Limits())
        return self._session.open(Query(symbols=self._wanted, since=self.copy.since), 15_000)

    def _publish(self, update: Update) -> None:
        self._ledger.take(update)
        if self._ledger.waiting:
            batch, _ = self._ledger.next_batch(0.0)
            assert self._mirror.apply(batch)

    def _receive(self, sent: list[Frame]) -> None:
        """Merges frames, and asks for everything where the guide's client does."""
        waiting = deque(sent)
        while waiting:
            frame = json.loads(waiting.popleft())
            self.copy.take(frame)
            if frame["type"] == "subscribed" and frame["rejected"]:
                waiting.extend(self._session.receive('{"action":"subscribe","since":"none"}', 0.0))


@pytest.fixture(scope="module")
def guide_client(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the guide's program defines."""
    [program] = blocks(GUIDE, "python")
    path = tmp_path_factory.mktemp("guide") / "client.py"
    path.write_text(program, "utf-8")
    return runpy.run_path(str(path))


ACTIONS = ["move", "rename", "leave_group", "remove", "takeover", "reconnect", "cut_off", "tick"]


@given(
    wanted=st.sampled_from(["all", "A,B", "sector:Energy,C"]),
    steps=st.lists(st.tuples(st.sampled_from(ACTIONS), st.sampled_from("ABCD")), max_size=25),
)
def test_the_client_of_the_guide_keeps_a_true_copy(
    guide_client: dict[str, Any], wanted: str, steps: list[tuple[str, str]]
) -> None:
    """Whatever happens in between, it ends with what it wants of the feed, and nothing else."""
    world = World(guide_client["Copy"](), wanted)
    for action, symbol in steps:
        getattr(world, action)(symbol)
    world.tick()
    assert world.copy.quotes == world.truth()
