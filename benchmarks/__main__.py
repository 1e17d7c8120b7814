"""`python -m benchmarks [--quick] [--veth] [--only P1,P3] [--rounds N] [--seconds S] [--write]`."""

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import islice
from typing import Final, NoReturn

from benchmarks import bus, cache, fanout, figures, limiter, report, size, veth
from benchmarks.contenders import install_node_packages
from benchmarks.fanout import (
    BATCHED,
    BUN_BATCHED,
    NCHAN,
    NODE,
    UWEBSOCKETS,
    UWEBSOCKETS_BATCHED,
)
from benchmarks.figures import BARE, BUN, BUN_SAME, FASTAPI, OURS, Figure, Goal
from benchmarks.load import OverloadedError

FIGURES: Final = (
    Figure(
        "P1",
        "three quotes, limits on",
        "requests per CPU s",
        figures.quotes_few,
        (Goal(FASTAPI, 4), Goal(BARE, 0.45), Goal(BUN_SAME, 0.7), Goal(f"{OURS}, limits off", 0.6)),
    ),
    Figure("P1c", "the same at about 10,000 a second, CPU", "µs", figures.quotes_unhurried, at_most=60),
    Figure("P2", "500 quotes", "requests per CPU s", figures.quotes_all, (Goal(FASTAPI, 11),)),
    Figure(
        "P1e",
        "P1 as browsers poll, behind deploy/nginx, CPU of both",
        "requests per CPU s",
        cache.quotes_few,
        (Goal(cache.ALONE, 4),),
    ),
    Figure(
        "P2e",
        "P2 as browsers poll, behind deploy/nginx, CPU of both",
        "requests per CPU s",
        cache.quotes_all,
        (Goal(cache.ALONE, 4),),
    ),
    Figure(
        "P3",
        "small frames, 2,500 clients at 10 a second",
        "frames per CPU s",
        fanout.small_frames,
        (Goal(NCHAN, 1.0), Goal(UWEBSOCKETS, 1.0), Goal(BUN, 0.85), Goal(NODE, 1.3), Goal(FASTAPI, 1.8)),
    ),
    Figure(
        "P3s",
        "small frames, as many a second as it can",
        "frames/s",
        fanout.small_frames_saturated,
        (Goal(NCHAN, 0.9), Goal(FASTAPI, 1.4)),
    ),
    Figure(
        "P4",
        "market: 500 symbols x 4/s to 500 clients on `all`",
        "quotes per CPU s",
        fanout.market,
        (
            Goal(NCHAN, 25),
            Goal(BATCHED, 0.9),
            Goal(BATCHED, 1.2, everything=True),
            Goal(UWEBSOCKETS_BATCHED, 1.2),
            Goal(FASTAPI, 80),
        ),
    ),
    Figure(
        "P4m",
        "same, 2,500 clients",
        "quotes per CPU s",
        fanout.market_of_many,
        (Goal(BATCHED, 1.0), Goal(BATCHED, 1.2, everything=True), Goal(UWEBSOCKETS_BATCHED, 1.2)),
    ),
    Figure(
        "P4d",
        "P4, permessage-deflate offered",
        "quotes per CPU s",
        fanout.market_deflated,
        (
            Goal(BATCHED, 0.9),
            Goal(BATCHED, 1.2, everything=True),
            Goal(BUN_BATCHED, 1.5),
            Goal(UWEBSOCKETS_BATCHED, 1.5),
        ),
    ),
    Figure(
        "P4n",
        "same, 2,500 clients",
        "quotes per CPU s",
        fanout.market_of_many_deflated,
        (Goal(BATCHED, 1.0), Goal(BATCHED, 1.2, everything=True)),
    ),
    Figure("P4e", "P4d on the wire per quote", "bytes", fanout.bytes_per_quote, at_most=34),
    Figure("P4f", "P4d, price alone in rows", "bytes", fanout.bytes_per_price, at_most=12),
    Figure("P4a", "P4, age of quotes, p99", "ms", fanout.market_age, at_most=300),
    Figure("P5", "P4, 20 own symbols each", "quotes per CPU s", fanout.own_lists, (Goal(FASTAPI, 20),)),
    Figure("P6", "limiter checks", "per CPU s", limiter.checks, (Goal(limiter.SINGLE, 2),)),
    Figure("P6a", "admitted of one key, limit 100, 4 workers", "requests", limiter.admissions, at_most=100),
    Figure("P7", "ingest to mirror, from a prepared publisher", "updates/s", bus.updates, at_least=150_000),
    Figure("P7a", "lag at 2,000 updates/s in bursts of 200, p99", "ms", bus.quiet_lag, at_most=5),
    Figure("P7b", "lag at 2,000 updates/s one by one, p99", "ms", bus.busy_lag, at_most=25),
    Figure("P8", "memory per idle WebSocket, 10,000 open", "KB", size.memory, at_most=12),
    Figure("P8a", "10,000 clients, own 20 symbols at 1 s: age, p99", "ms", size.many, at_most=700),
    Figure("P9", "CPU per client, 2,000 clients to 200", "x", size.listeners, at_most=1.2),
    Figure("P9a", "CPU per frame, 2 workers to 1", "x", size.workers, at_most=1.1),
    Figure("P10", "5Y daily bars, cached", "requests per CPU s", figures.bars_cached, (Goal(BARE, 0.6),)),
    Figure("P10a", "overview, cached", "requests per CPU s", figures.overview_cached, (Goal(BARE, 0.6),)),
    Figure(
        "P12",
        "500 prices in another currency",
        "requests per CPU s",
        figures.prices_converted,
        (Goal(figures.QUOTES, 0.5),),
    ),
    Figure("P11", "`up` to the first quotes", "s", size.start, at_most=5),
)
#: Figures that `--veth` adds.
VETH_FIGURES: Final = (
    Figure(
        "P3v",
        "small frames, over a veth pair",
        "frames per CPU s",
        fanout.small_frames_over_veth,
        (Goal(NCHAN, 1.0), Goal(UWEBSOCKETS, 0.9), Goal(BUN, 0.85), Goal(NODE, 1.3), Goal(FASTAPI, 1.8)),
    ),
    Figure(
        "P4v",
        "market on `all`, over a veth pair",
        "quotes per CPU s",
        fanout.market_over_veth,
        (Goal(BATCHED, 0.8), Goal(UWEBSOCKETS_BATCHED, 1.2)),
    ),
)
#: Figures of `--quick`, in less than two minutes: those that everyday changes may spoil.
QUICK: Final = {"P1", "P4", "P5", "P6"}
#: Seconds of their measurements; the ratios of shorter ones say too little to be compared.
QUICK_SECONDS: Final = 2.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, prints each round, and ends with the table."""
    options = _parser().parse_args(arguments)
    wanted = set(options.only.split(",")) if options.only else QUICK if options.quick else None
    rounds = options.rounds or (1 if options.quick else 5)
    seconds = options.seconds or (QUICK_SECONDS if options.quick else 4.0)
    install_node_packages()
    if options.veth and not veth.is_inside():
        _run_over_veth(arguments)
    available = (*FIGURES, *VETH_FIGURES) if options.veth else FIGURES
    results, failures = [], []
    for figure in available:
        if not wanted or figure.name in wanted:
            try:
                results.append(_measure(figure, rounds, seconds))
            except (RuntimeError, OverloadedError, subprocess.SubprocessError) as error:
                failures.append(f"{figure.name} failed: {error}\n")
                sys.stdout.write(failures[-1])
    sys.stdout.write(f"\n{report.machine()}\n{report.table(results)}")
    if options.write:
        report.write(results, rounds, seconds)
    elif seconds >= QUICK_SECONDS and (fallen := report.fallen(results)):
        failures += ["Ratios that fell since benchmarks/results.json was written:\n", *fallen]
    if failures:
        sys.exit("".join(failures))


def _run_over_veth(arguments: Sequence[str] | None) -> NoReturn:
    """Runs the benchmarks again where the listeners have a network namespace of their own, and exits."""
    command = [sys.executable, "-m", "benchmarks", *(sys.argv[1:] if arguments is None else arguments)]
    try:
        sys.exit(veth.run(command))
    except veth.VethError as error:
        sys.exit(str(error))


def _measure(figure: Figure, rounds: int, seconds: float) -> report.Measurement:
    values: dict[str, list[float]] = {}
    began = time.monotonic()
    measuring = figure.rounds(seconds)
    for number, found in enumerate(islice(measuring, rounds), 1):
        for name, value in found.items():
            values.setdefault(name, []).append(value)
        summary = ", ".join(f"{name} {value:,.6g}" for name, value in found.items())
        sys.stdout.write(f"{figure.name} {number}/{rounds} [{time.monotonic() - began:.0f} s] {summary}\n")
        sys.stdout.flush()
    measuring.close()  # type: ignore[attr-defined]  # a generator, whose servers end with it
    return report.Measurement(figure, values)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="just bench", description="Measures this service and its peers.")
    parser.add_argument("--quick", action="store_true", help="some figures, one round, under two minutes")
    parser.add_argument("--veth", action="store_true", help="also P3v and P4v, over a veth pair; needs root")
    parser.add_argument("--only", default="", help="figures by name, such as P1,P3")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.0, help="of each measurement")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md and its plot")
    return parser


if __name__ == "__main__":
    main()
