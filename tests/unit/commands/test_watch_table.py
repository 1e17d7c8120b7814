"""The table of `quotecast watch`."""

import io
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest
from rich.console import Console
from rich.text import Text

from quotecast.commands.watching.board import BoardRow, PriceBoard
from quotecast.commands.watching.names import Found
from quotecast.commands.watching.session import state_line
from quotecast.commands.watching.table import FLASH_SECONDS, View, clock_time, number, percent, table
from quotecast_client import QuoteChange
from support.made.market import doviz, pair, stock

DATE = datetime(2026, 11, 20, 15, 30, tzinfo=UTC)
ADDRESS = "http://quotes.example.com"


def made(*found: Found) -> PriceBoard:
    return PriceBoard(found)


def found(quote: Any, feed: Any) -> Found:
    return Found(feed, quote.key, msgspec.to_builtins(quote))


def change(quote: Any, feed: Any = "market", *, removed: bool = False) -> QuoteChange:
    return QuoteChange(feed, quote.key, msgspec.to_builtins(quote), removed)


ALL = (found(stock(), "market"), found(pair(), "crypto"), found(doviz(), "doviz"))


def drawn(
    rows: list[BoardRow], *, width: int = 120, height: int = 30, now: float = 0.0, colours: bool = False
) -> str:
    output = io.StringIO()
    console = Console(
        file=output,
        width=width,
        force_terminal=colours,
        color_system="standard" if colours else None,
        _environ={},
    )
    console.print(table(rows, View(width, height, now, DATE), Text("state")))
    return output.getvalue()


def test_a_row_has_what_its_feed_knows() -> None:
    heading, _, *rows = [line.split() for line in drawn(made(*ALL).rows).splitlines()]
    assert heading == ["Symbol", "Name", "Price", "Change", "%", "Bid", "Ask", "Time"]
    assert rows[0] == ["AAPL", "AAPL", "Inc.", "100.00", "+1.00", "+1.00%", "-", "-", "15:00:00"]
    assert rows[1][2:] == ["90,000.00", "-", "-", "89,999.00", "90,001.00", "15:00:00"]
    assert rows[2][2:] == ["4,000.00", "-", "-", "3,999.00", "4,000.00", "15:00:00"]


def test_doviz_alone_has_buying_and_selling() -> None:
    text = drawn(made(ALL[2]).rows)
    assert "Buying" in text
    assert "Selling" in text
    assert "Bid" not in text


def test_stocks_alone_have_neither() -> None:
    assert "Bid" not in drawn(made(ALL[0]).rows)


@pytest.mark.parametrize(
    ("width", "missing"),
    [
        (88, set[str]()),
        (87, {"Name"}),
        (74, {"Name", "Bid", "Ask"}),
        (50, {"Name", "Bid", "Ask", "Time"}),
        (39, {"Name", "Bid", "Ask", "Time", "Change"}),
        (30, {"Name", "Bid", "Ask", "Time", "Change", "%"}),
    ],
)
def test_a_narrow_terminal_has_fewer_columns(width: int, missing: set[str]) -> None:
    """No line is longer than the terminal is wide, and no number is cut."""
    text = drawn(made(*ALL).rows, width=width)
    heading = {*text.split("\n")[0].split()}
    assert {"Name", "Bid", "Ask", "Time", "Change", "%"} - heading == missing
    assert {"Symbol", "Price"} <= heading
    assert max(len(line) for line in text.splitlines()) <= width
    assert "90,000.00" in text
    assert "…" not in text


def test_a_symbol_gives_way_to_its_price() -> None:
    board = made(found(doviz("kuveytturk-ceyrek-altin"), "doviz"))
    assert "4,000.00" in drawn(board.rows, width=20)


def test_rows_beyond_the_screen_are_counted() -> None:
    rows = made(*(found(stock(f"S{number:03}"), "market") for number in range(50))).rows
    text = drawn(rows, height=20)
    assert len(text.splitlines()) < 20
    assert "and 36 more" in text


def test_a_price_flashes_in_the_colour_of_its_move() -> None:
    board = made(ALL[0])
    for price, style in ((101.0, "\x1b[1;7;32m"), (99.0, "\x1b[1;7;31m")):
        assert board.take(change(stock(price=price)), 50.0)
        assert style in drawn(board.rows, now=50.0, colours=True)
        assert style not in drawn(board.rows, now=50.0 + FLASH_SECONDS, colours=True)


def test_a_change_of_another_field_does_not_flash() -> None:
    board = made(ALL[0])
    assert board.take(change(stock(name="Apple")), 50.0)
    assert "\x1b[1;7" not in drawn(board.rows, now=50.0, colours=True)


def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    output = io.StringIO()
    console = Console(file=output, width=120, force_terminal=True, color_system="standard")
    console.print(table(made(*ALL).rows, View(120, 30, 0.0, DATE), Text("state")))
    assert "\x1b[32m" not in output.getvalue()


def test_an_equal_quote_is_no_change() -> None:
    assert not made(ALL[0]).take(change(stock()), 1.0)


def test_a_removed_symbol_leaves_and_a_new_one_joins() -> None:
    board = made(ALL[0])
    assert board.take(change(stock("XOM")), 1.0)
    assert board.take(change(stock(), removed=True), 1.0)
    assert [row.symbol for row in board.rows] == ["XOM"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.00001234, "0.00001234"),
        (1e-8, "0.00000001"),
        (299.2, "299.20"),
        (105_668.5, "105,668.50"),
        (7, "7.00"),
    ],
)
def test_a_number_has_all_its_decimals(value: float | None, text: str) -> None:
    assert number(value) == text


def test_changes_have_a_sign() -> None:
    assert number(1.5, signed=True) == "+1.50"
    assert number(-1234.5, signed=True, grouped=False) == "-1234.50"
    assert percent(-0.5418) == "-0.54%"
    assert percent(None) == "-"


def test_times_are_local_and_old_ones_are_dates() -> None:
    now = DATE.astimezone(timezone(timedelta(hours=3)))
    assert clock_time("2026-11-20T15:00:00.000Z", now) == "18:00:00"
    assert clock_time("2026-11-18T23:00:00.000Z", now) == "19 Nov"
    assert clock_time(None, DATE) == "-"


def status(**simulated: bool) -> dict[str, Any]:
    return {"marketOpen": False, "feeds": {name: {"simulated": each} for name, each in simulated.items()}}


def test_the_state_says_what_is_live_open_and_real() -> None:
    line = state_line({"market": "live", "crypto": "stale"}, status(stocks=False, crypto=False), ADDRESS, 0.0)
    assert line.plain == f"{ADDRESS}  market live, closed  crypto stale  real data"


def test_the_state_names_what_is_simulated() -> None:
    both = {"market": "live", "crypto": "live"}
    line = state_line(both, status(stocks=True, crypto=True), ADDRESS, 0.0)  # type: ignore[arg-type]  # states
    assert line.plain.endswith("simulated data")
    line = state_line(both, status(stocks=True, crypto=False), ADDRESS, 0.0)  # type: ignore[arg-type]  # states
    assert line.plain.endswith("simulated: market")


def test_the_state_says_that_the_connection_is_lost() -> None:
    line = state_line({"doviz": "connecting"}, None, ADDRESS, 12.4)
    assert line.plain == f"connecting to {ADDRESS}, last prices 12 s ago  doviz connecting"
