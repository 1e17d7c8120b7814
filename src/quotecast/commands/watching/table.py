"""The table of `quotecast watch`."""

from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final, NamedTuple

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from quotecast.commands.watching.board import BoardRow

UNKNOWN: Final = "-"
#: Seconds for which a price that moved is highlighted.
FLASH_SECONDS: Final = 0.6
#: Lines beside the rows and the state: the heading, its rule, a blank one, that of hidden rows, the prompt.
_OTHER_LINES: Final = 5
#: Blanks between two columns.
_GAP: Final = 3
#: Columns that give way in a narrow terminal, the first one first.
_DISPENSABLE: Final = ({"Name"}, {"Bid", "Buying", "Ask", "Selling"}, {"Time"}, {"Change"}, {"%"})
_COLOURS: Final = {1: "green", 0: "", -1: "red"}


class View(NamedTuple):
    """The room for the table, and the time."""

    width: int
    height: int
    #: Monotonic time, for the highlights, and the time of day.
    now: float
    date: datetime


class _Column(NamedTuple):
    title: str
    cell: Callable[[BoardRow, View], Text]


#: A column with its cells.
_Filled = tuple[_Column, list[Text]]


def table(rows: Sequence[BoardRow], view: View, state: Text) -> RenderableType:
    """Returns the rows that the screen has room for, and a line on the state of the feeds.

    A price is never cut: a narrow terminal has fewer columns instead.
    """
    state_lines = -(-state.cell_len // view.width)
    shown = rows[: max(1, view.height - _OTHER_LINES - state_lines)]
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    columns = _fitting(
        [(each, [each.cell(row, view) for row in shown]) for each in _columns(rows)], view.width
    )
    excess = max(0, _total(columns) - view.width)
    for column, cells in columns:
        is_text = column.title in {"Symbol", "Name"}
        width = _width(column, cells) - (excess if column.title == "Symbol" else 0)
        made.add_column(
            column.title, justify="left" if is_text else "right", no_wrap=True, width=max(1, width)
        )
    for row_cells in zip(*(cells for _, cells in columns), strict=True):
        made.add_row(*row_cells)
    hidden = len(rows) - len(shown)
    return Group(made, Text(f"and {hidden} more" if hidden else "", "dim"), state)


def number(value: float | None, *, signed: bool = False, grouped: bool = True) -> str:
    """Returns all decimals of a number, at least two."""
    if value is None:
        return UNKNOWN
    exact = Decimal(repr(value))
    decimals = max(2, -int(exact.as_tuple().exponent))
    return f"{exact:{'+' if signed else ''}{',' if grouped else ''}.{decimals}f}"


def percent(value: float | None) -> str:
    """Returns a share in percent, with its sign."""
    return UNKNOWN if value is None else f"{value:+.2f}%"


def clock_time(timestamp: str | None, now: datetime) -> str:
    """Returns the time of a timestamp in the zone of `now`, or its date if that is not today."""
    if timestamp is None:
        return UNKNOWN
    moment = datetime.fromisoformat(timestamp).astimezone(now.tzinfo)
    return f"{moment:%H:%M:%S}" if moment.date() == now.date() else f"{moment:%d %b}"


def _columns(rows: Sequence[BoardRow]) -> list[_Column]:
    columns = [
        _Column("Symbol", lambda row, _: Text(row.symbol, "bold")),
        _Column("Name", lambda row, _: Text(_short(row.quote.get("name") or ""))),
        _Column("Price", _price),
        _Column("Change", lambda row, _: _coloured(row, number(row.quote.get("change"), signed=True))),
        _Column("%", lambda row, _: _coloured(row, percent(row.quote.get("changePercent")))),
    ]
    for title, names in (("Bid", ("bid", "buying")), ("Ask", ("ask", "selling"))):
        present = [name for name in names if any(name in row.quote for row in rows)]
        if present:
            columns.append(_Column(title if names[0] in present else names[1].capitalize(), _side(names)))
    time = _Column("Time", lambda row, view: Text(clock_time(row.quote.get("timestamp"), view.date), "dim"))
    return [*columns, time]


def _fitting(columns: Sequence[_Filled], width: int) -> Sequence[_Filled]:
    """Returns the columns, without those that have no room."""
    for titles in _DISPENSABLE:
        if _total(columns) <= width:
            break
        columns = [each for each in columns if each[0].title not in titles]
    return columns


def _total(columns: Sequence[_Filled]) -> int:
    return sum(_width(*each) + _GAP for each in columns) - _GAP


def _width(column: _Column, cells: Sequence[Text]) -> int:
    return max(len(column.title), *(cell.cell_len for cell in cells), 0)


def _price(row: BoardRow, view: View) -> Text:
    text = number(row.quote.get("price"))
    if view.now - row.moved_at < FLASH_SECONDS:
        return Text(text, f"bold reverse {_COLOURS[row.direction]}")
    return Text(text, "bold")


def _side(names: tuple[str, str]) -> Callable[[BoardRow, View], Text]:
    """Returns the cell of the first of two fields that a quote has."""

    def cell(row: BoardRow, _: View) -> Text:
        return Text(number(next((row.quote[name] for name in names if name in row.quote), None)))

    return cell


def _coloured(row: BoardRow, text: str) -> Text:
    change = row.quote.get("change") or 0
    return Text(text, _COLOURS[(change > 0) - (change < 0)])


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:25]}..."
