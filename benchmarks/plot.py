"""Draws the results: `plot.py RESULTS.json PLOT.png`, with the interpreter that has matplotlib."""

import json
import sys
from pathlib import Path
from statistics import median

import matplotlib as mpl
import matplotlib.pyplot as plt

#: Compared figures and their titles.
PANELS = {
    "P1": "Three quotes, requests per CPU second",
    "P2": "500 quotes, requests per CPU second",
    "P3": "Small frames per CPU second",
    "P4": "Market: quotes per CPU second (log)",
    "P5": "Own lists: quotes per CPU second (log)",
}
#: Keys of values that are no contender's.
NOT_BARS = ("listeners of ", "bytes per quote of ", "everything behind ")


def main(source: Path, target: Path) -> None:
    """Draws a bar for each contender, from its slowest to its fastest round about the median."""
    mpl.use("Agg")
    values = json.loads(source.read_text())
    panels = [(title, values[name]) for name, title in PANELS.items() if name in values]
    figure, rows = plt.subplots(len(panels), 1, figsize=(9, 1.9 * len(panels)), squeeze=False)
    for axis, (title, contenders) in zip(rows[:, 0], panels, strict=True):
        names = [name for name in contenders if not name.startswith(NOT_BARS)][::-1]
        middles = [median(contenders[name]) for name in names]
        spreads = [
            [m - min(contenders[name]) for m, name in zip(middles, names, strict=True)],
            [max(contenders[name]) - m for m, name in zip(middles, names, strict=True)],
        ]
        colors = ["#d9480f" if name == "quotecast" else "#868e96" for name in names]
        axis.barh(names, middles, xerr=spreads, color=colors, height=0.6, ecolor="#343a40")
        axis.set_title(title, loc="left", fontsize=10)
        if "(log)" in title:
            axis.set_xscale("log")
    figure.tight_layout()
    figure.savefig(target, dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
