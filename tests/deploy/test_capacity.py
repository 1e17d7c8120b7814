"""What docs/capacity.md says of capacity follows from the figures that it names."""

import re

from deploy.capacity import ROOT, Measured, rows

GUIDE = (ROOT / "docs" / "capacity.md").read_text("utf-8")


def test_the_table_follows_from_its_figures() -> None:
    """`python -m deploy.capacity`, with tests/ on the path, prints it from those of the last benchmarks."""
    named = re.search(r"one core: ([\d,]+) requests, ([\d,]+) frames\.", GUIDE)
    assert named
    figures = Measured(*(float(each.replace(",", "")) for each in named.groups()))
    assert "\n".join(rows(figures)) in GUIDE


def test_twice_the_frames_per_core_take_half_the_workers() -> None:
    """Where HTTP costs next to nothing."""
    slow, fast = (list(rows(Measured(requests=1e12, frames=frames))) for frames in (30_000, 60_000))
    assert [line.split("|")[5].strip() for line in (slow[4], fast[4])] == ["23", "12"]
