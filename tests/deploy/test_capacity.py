"""The table of docs/capacity.md follows from the measurements in the page."""

from deploy.capacity import ROOT, UTILIZATION, Market, Measurements, read_measurements, rows, workers_for

GUIDE = (ROOT / "docs" / "capacity.md").read_text("utf-8")
BENCHMARKS = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
#: A market in which an update takes a tenth of a millisecond, a frame one, and HTTP almost nothing.
CALM = Market(updates=1_000, update_bytes=300, update_us=99, frame_bytes=1_000, frame_us=1_000)
MADE = Measurements(CALM, CALM, socket_bytes=25_000, requests=1e12)


def test_the_table_follows_from_its_figures() -> None:
    """`python -m deploy.capacity`, with tests/ on the path, prints the table."""
    assert "\n".join(rows(read_measurements(GUIDE, BENCHMARKS))) in GUIDE


def test_each_worker_takes_in_the_whole_market_first() -> None:
    """Each worker takes in every update, which leaves the rest of its core for clients."""
    assert workers_for(5_000, CALM, MADE) == round(5 / (UTILIZATION - 0.1))


def test_frames_that_cost_twice_take_twice_the_workers() -> None:
    """Frames that cost twice as much take twice the workers, with half the clients on each."""
    dear = CALM._replace(frame_us=2_000)
    assert workers_for(5_000, dear, MADE) == 2 * workers_for(5_000, CALM, MADE)


def test_the_bus_grows_with_the_workers() -> None:
    """Redis sends every update to each worker."""
    first = list(rows(MADE))[2].split("|")
    workers, into_each, out_of_redis = (first[number].strip() for number in (3, 7, 9))
    assert (workers, into_each, out_of_redis) == ("20", "0.30 MB/s", "6.0 MB/s")
