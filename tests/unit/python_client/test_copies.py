"""The Python client's copy passes the conformance suite."""

from pathlib import Path
from typing import cast

import pytest

from quotecast_client import Copy, live_bars
from support.oracles.conformance import CASES, Runner, read_case
from support.oracles.reference_copy import ReferenceCopy
from unit.python_client.client_copy import ClientCopy

FILES = sorted(CASES.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_copy_is_what_the_case_expects(path: Path) -> None:
    Runner(read_case(path), cast("type[ReferenceCopy]", ClientCopy)).run()


def test_the_newest_bar_of_rest_is_not_final_while_none_is_in_progress() -> None:
    """Nobody knows whether it has ended, so the client must not ask only for those after it."""
    copy = Copy("crypto")
    copy.take({"type": "subscribed", "symbols": ["BTC/USDT"], "rejected": [], "bars": "1m"})
    bars = {"BTC/USDT": [{"time": "2026-11-20T15:29:00Z"}, {"time": "2026-11-20T15:30:00Z"}]}
    assert [change.bar["final"] for change in copy.fill_bars(bars).bars] == [True, False]
    assert copy.bars.since is None


def test_a_copy_holds_so_many_bars_of_a_symbol(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_bars, "MAX_BARS", 2)
    copy = Copy("crypto")
    copy.take({"type": "subscribed", "symbols": ["BTC/USDT"], "rejected": [], "bars": "1m"})
    copy.fill_bars({"BTC/USDT": [{"time": f"2026-11-20T15:{minute}:00Z"} for minute in (31, 30, 29)]})
    assert list(copy.bars.by_symbol["BTC/USDT"]) == ["2026-11-20T15:30:00Z", "2026-11-20T15:31:00Z"]
