"""The time line of a world as a picture: a lane for each process, its faults, and what broke."""

from collections.abc import Iterator
from html import escape
from typing import Final

from world.faults import Fault
from world.run import Outcome

_LEFT: Final = 90
_SECOND: Final = 14
_LANE: Final = 22
_COLOURS: Final = {
    "kill": "#c0392b",
    "power loss": "#922b21",
    "stop": "#7f8c8d",
    "freeze": "#2980b9",
    "partition": "#8e44ad",
    "one-way partition": "#af7ac5",
    "clock step": "#d68910",
}
_OTHER: Final = "#16a085"
_HEAD: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
    'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">'
)
_EVENTS: Final = {"epoch begins": "#27ae60", "leading": "#2c3e50", "BROKEN": "#e74c3c"}


def drawn(outcome: Outcome) -> str:
    """Returns an SVG of an outcome."""
    lanes = _lanes(outcome)
    width, height = _LEFT + int(outcome.seconds * _SECOND) + 20, (len(lanes) + 2) * _LANE
    parts = [
        _HEAD.format(width=width, height=height),
        f'<rect width="{width}" height="{height}" fill="white"/>',
        *_grid(outcome, len(lanes)),
        *(
            f'<text x="4" y="{_middle(lane) + 4}">{escape(name)}</text>'
            f'<line x1="{_LEFT}" x2="{width - 10}" y1="{_middle(lane)}" y2="{_middle(lane)}" stroke="#ddd"/>'
            for name, lane in lanes.items()
        ),
        *(part for fault in outcome.faults for part in _bar(fault, lanes)),
        *_events(outcome, lanes),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _lanes(outcome: Outcome) -> dict[str, int]:
    """Returns the number of each process's lane, from above."""
    order = ("ingest", "redis", "sentinel", "worker", "edge", "page", "reader")
    named = {line.who for line in outcome.trace} | {fault.target for fault in outcome.faults}
    named |= {fault.other for fault in outcome.faults if fault.other}
    shown = [name for name in named if name.startswith(order)]
    shown.sort(key=lambda name: (order.index(name.partition("-")[0]), name))
    return {name: number + 1 for number, name in enumerate(shown)}


def _grid(outcome: Outcome, lanes: int) -> Iterator[str]:
    for second in range(0, int(outcome.seconds) + 1, 5):
        x = _LEFT + second * _SECOND
        yield f'<line x1="{x}" x2="{x}" y1="{_LANE}" y2="{(lanes + 1) * _LANE}" stroke="#f0f0f0"/>'
        yield f'<text x="{x}" y="14" text-anchor="middle" fill="#777">{second} s</text>'


def _bar(fault: Fault, lanes: dict[str, int]) -> Iterator[str]:
    x, width = _LEFT + fault.at * _SECOND, max(3.0, fault.seconds * _SECOND)
    colour = _COLOURS.get(fault.kind, _OTHER)
    for name in (fault.target, fault.other):
        if name in lanes:
            yield (
                f'<rect x="{x:.1f}" y="{_middle(lanes[name]) - 6}" width="{width:.1f}" height="12" '
                f'fill="{colour}" fill-opacity="0.6"><title>{escape(str(fault))}</title></rect>'
            )
    if fault.target in lanes:
        yield f'<text x="{x:.1f}" y="{_middle(lanes[fault.target]) - 7}" fill="{colour}">{fault.kind}</text>'


def _events(outcome: Outcome, lanes: dict[str, int]) -> Iterator[str]:
    for line in outcome.trace:
        for beginning, colour in _EVENTS.items():
            if line.what.startswith(beginning) and line.who in lanes:
                yield (
                    f'<circle cx="{_LEFT + line.at * _SECOND:.1f}" cy="{_middle(lanes[line.who])}" r="3.5" '
                    f'fill="{colour}"><title>{escape(str(line)[:300])}</title></circle>'
                )


def _middle(lane: int) -> int:
    return lane * _LANE + _LANE // 2 + 4
