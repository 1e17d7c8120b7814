"""The command that plays worlds, and prints the shortest way to a broken promise."""

import argparse
import sys
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Final

from world.children import play_all, play_one
from world.faults import Fault
from world.planted import PLANTED
from world.run import Outcome, prepare
from world.timeline import drawn

#: Worlds between two lines about the progress.
_PROGRESS: Final = 100


def main() -> int:
    """Plays the worlds that the arguments name; returns 1 if a promise broke."""
    parser = argparse.ArgumentParser(prog="just world", description=__doc__)
    parser.add_argument("--seed", type=int, nargs="+", help="play these worlds alone, and print their traces")
    parser.add_argument("--seeds", type=int, default=100, help="play so many worlds, 100 by default")
    parser.add_argument("--first", type=int, default=1, help="seed of the first of them")
    parser.add_argument("--minutes", type=float, help="play worlds for so long")
    parser.add_argument("--faults", type=int, default=10, help="faults of each world, 10 by default")
    parser.add_argument("--picture", type=Path, help="write the time line of the first `--seed` to this SVG")
    parser.add_argument(
        "--whole", action="store_true", help="print the first broken world with all its faults"
    )
    parser.add_argument("--planted", choices=PLANTED, metavar="NAME", help="make the service wrong first")
    arguments = parser.parse_args()
    prepare()
    if arguments.seed is not None:
        outcomes = [*play_all(arguments.seed, arguments.faults)]
        for outcome in outcomes:
            sys.stdout.write("\n".join(map(str, outcome.trace)) + "\n")
        if arguments.picture:
            arguments.picture.write_text(drawn(outcomes[0]), "utf-8")
        return _report((each for each in outcomes), arguments)
    count = arguments.seeds if arguments.minutes is None else sys.maxsize
    seeds = range(arguments.first, arguments.first + count)
    return _report(play_all(seeds, arguments.faults), arguments)


def _report(outcomes: Generator[Outcome, None, None], arguments: argparse.Namespace) -> int:
    """Prints the sums of all worlds, and the first that broke a promise: shortened, or `--whole`."""
    began, minutes = time.monotonic(), arguments.minutes
    worlds = frames = 0
    seconds = 0.0
    failed = None
    for outcome in outcomes:
        worlds += 1
        seconds += outcome.seconds
        frames += outcome.frames
        if outcome.broken:
            failed = outcome
            break
        if worlds % _PROGRESS == 0:
            sys.stderr.write(f"{worlds} worlds hold, {seconds / 3600:.1f} hours\n")
        if minutes is not None and time.monotonic() - began > 60 * minutes:
            break
    outcomes.close()
    took = time.monotonic() - began
    sys.stdout.write(
        f"{worlds} worlds, {seconds / 3600:.1f} hours in {took:.0f} s, {frames:,} frames checked\n"
    )
    if failed is None:
        return 0
    sys.stdout.write(_told(failed if arguments.whole else shortened(failed, arguments.faults)))
    return 1


def shortened(outcome: Outcome, count: int) -> Outcome:
    """Returns the outcome without the faults that the same broken promise does not need."""
    promise, best, size = outcome.broken[0].promise, outcome, -1
    while size != len(best.faults):
        size = len(best.faults)
        for fault in best.faults:
            fewer: Sequence[Fault] = [each for each in best.faults if each != fault]
            tried = play_one(outcome.seed, fewer, count)
            if any(each.promise == promise for each in tried.broken):
                best = tried
    return best


def _told(outcome: Outcome) -> str:
    """Returns a broken promise in words: the faults, and what happened from the first one on."""
    broken = outcome.broken[0]
    lines = [f"seed {outcome.seed} breaks a promise: {broken.promise}", f"  {broken.what[:2000]}", "faults:"]
    lines += [f"  {fault}" for fault in outcome.faults] or ["  none"]
    first = min([each.at for each in outcome.faults], default=0.0)
    lines += ["trace:", *(str(line)[:300] for line in outcome.trace if first <= line.at <= broken.at)]
    return "\n".join(lines) + "\n"
