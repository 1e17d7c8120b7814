"""Plans in TOML: a file of them, or one."""

from pathlib import Path
from typing import get_args

import pytest

from quotecast.access.plans import (
    FEEDS,
    MAX_PLANS,
    Group,
    Plan,
    PlanFileError,
    parse_plan,
    parse_plans,
    read_plans,
)
from quotecast.commands.plans import toml_lines
from quotecast.market.feeds import Feed
from quotecast.settings.model import LIMIT_GROUPS

FILE = """
[plans.anonymous]
sockets = 1
doors = ["bars"]

[plans.partner]
requests = { market = 600, search = 60 }
symbols = 1000
interval_ms = 250
feeds = ["market", "crypto"]
freshness = "delayed"
history_days = 30
"""
PARTNER = Plan(
    requests={"market": 600, "search": 60},
    symbols=1000,
    interval_ms=250,
    feeds=("market", "crypto"),
    freshness="delayed",
    history_days=30,
)


def test_plans_name_every_feed_and_limit_of_a_feed() -> None:
    """A new feed is in the types of plans too."""
    names = tuple(feed.spec.name for feed in Feed)
    assert names == FEEDS
    assert {*names} < {*get_args(Group)} < {*LIMIT_GROUPS}


def test_file_has_its_plans(tmp_path: Path) -> None:
    """A missing bound leaves that of the specification in force; an empty file has no plan."""
    path = tmp_path / "plans.toml"
    path.write_text(FILE, "utf-8")
    assert read_plans(path) == {"anonymous": Plan(sockets=1, doors=("bars",)), "partner": PARTNER}
    assert parse_plans("") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[plans.partner]\nsockts = 1", "plans.partner.sockts: There is no such field"),
        ("[plans.partner]\nsockets = 0", "plans.partner.sockets: Must be at least 1"),
        ("[plans.partner]\nsockets = '1'", "plans.partner.sockets: Must be a whole number, not text"),
        ("[plans.partner]\ninterval_ms = 7", "interval_ms: Must be one of 100, 250, 500, 1000, 5000"),
        ("[plans.partner]\nfeeds = ['stocks']", "feeds[0]: Must be one of market, crypto, doviz"),
        ("[plans.partner]\nfreshness = 'late'", "freshness: Must be one of live, delayed"),
        ("[plans.partner]\ndoors = ['window']", "doors[0]: Must be one of bars, financials"),
        ("[plans.Partner]\nsockets = 1", "A plan's name has 1 to 40 of a-z, 0-9 and -, a letter first"),
        ("[plan.partner]", "plan: There is no such field"),
        ("plans = 1", "plans: Must be an object, not a whole number"),
        ("[plans.partner", "Expected ']'"),
        ("\n".join(f"[plans.p{number}]" for number in range(MAX_PLANS + 1)), "Must have at most 100 plans"),
    ],
)
def test_bad_file_names_plan_and_field(text: str, message: str) -> None:
    with pytest.raises(PlanFileError) as refused:
        parse_plans(text)
    assert message in str(refused.value)


def test_unreadable_file_is_named(tmp_path: Path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff")
    broken = tmp_path / "broken.toml"
    broken.write_text("[plans.a]\nb = 1", "utf-8")
    for path, message in (
        (tmp_path / "missing.toml", "missing.toml cannot be read: No such file or directory"),
        (tmp_path, "cannot be read: Is a directory"),
        (binary, "binary.toml is not UTF-8"),
        (broken, "broken.toml: plans.a.b: There is no such field"),
    ):
        with pytest.raises(PlanFileError) as refused:
            read_plans(path)
        assert str(refused.value).endswith(message)


def test_one_plan_is_a_table_or_part_of_a_file() -> None:
    """A command may store either."""
    assert parse_plan(FILE, "partner") == PARTNER
    assert parse_plan(FILE.partition("[plans.partner]")[2], "any") == PARTNER
    assert parse_plan("", "any") == Plan()
    with pytest.raises(PlanFileError, match=r"no table \[plans\.other\]"):
        parse_plan(FILE, "other")


@pytest.mark.parametrize("plan", [Plan(), PARTNER, Plan(feeds=(), doors=(), sockets=3)])
def test_shown_plan_can_be_stored_again(plan: Plan) -> None:
    assert parse_plan("\n".join(toml_lines("partner", plan)), "partner") == plan
