"""The figures of docs/capacity.md follow from the costs and the day that the page names."""

import re
from pathlib import Path

import pytest
from benchmarks import day as program
from benchmarks.costs import Day, read
from benchmarks.day import FOLDER, first_wall, minute_of, report, scaled, walk, workers_for
from msgspec import structs

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "capacity.md").read_text("utf-8")
DAY, COSTS = read(FOLDER / "day.toml", FOLDER / "costs.toml", {})


def with_numbers(**numbers: float) -> Day:
    return structs.replace(DAY, installation=structs.replace(DAY.installation, **numbers))


@pytest.mark.slow
@pytest.mark.parametrize(
    "numbers",
    [{}, {"clients": 100_000, "symbols": 500, "regions": 1}],
    ids=["a million in three regions", "a hundred thousand"],
)
def test_the_page_has_what_the_program_prints(numbers: dict[str, float]) -> None:
    """`python -m benchmarks.day` prints the tables of the page."""
    assert "\n".join(report(with_numbers(**numbers), COSTS)) in GUIDE


def test_every_worker_takes_in_the_whole_market() -> None:
    """Without clients a minute costs a worker as much, however many workers there are."""
    empty = with_numbers(clients=0, regions=1)
    one, many = (max(each.worker for each in walk(empty, COSTS, workers)) for workers in (1, 50))
    assert one == many > 0


def test_twice_the_clients_take_at_least_twice_the_workers_of_their_part() -> None:
    """Clients share the workers' cores; only the market is taken in by each."""
    once, twice = (workers_for(scaled(DAY, "clients", factor), COSTS) for factor in (1, 2))
    assert 2 * once - 1 <= twice <= 2 * once


def test_the_fewest_workers_are_enough_and_one_less_is_not() -> None:
    """With the number that the program names no minute passes the usable share, with one less one does."""
    workers = workers_for(DAY, COSTS)
    assert max(each.worker for each in walk(DAY, COSTS, workers)) <= 1
    assert max(each.worker for each in walk(DAY, COSTS, workers - 1)) > 1


def test_a_market_that_fills_a_worker_alone_is_an_error() -> None:
    """More workers do not help where each is full before its first client."""
    with pytest.raises(ValueError, match="the market alone"):
        workers_for(scaled(DAY, "symbols", 100), COSTS)


def test_a_wall_is_full_at_its_factor_and_not_before() -> None:
    """At the factor that the program names a resource is full; a little below none is."""
    fixed = with_numbers(workers=workers_for(DAY, COSTS))
    wall, factor = first_wall(fixed, COSTS, "clients")
    assert wall == "worker"
    below, at = (
        max(each.worker for each in walk(scaled(fixed, "clients", by), COSTS, fixed.installation.workers))
        for by in (factor * 0.99, factor)
    )
    assert below < 1 <= at


def test_everyone_comes_in_the_opening_burst() -> None:
    """The handshakes of the minutes between two moments add up to the clients that come."""
    came = sum(each.handshakes * 60 for each in walk(DAY, COSTS, 1) if each.minute < 9 * 60 + 40)
    first = DAY.moment[0].clients
    assert came == pytest.approx((1 - first) * DAY.installation.clients / DAY.installation.regions)


def test_a_quiet_list_gets_no_frames() -> None:
    """Without updates a client costs its requests only."""
    load = program.Load(0, 1.0, 0.0, 0.0)
    quiet = structs.replace(DAY.installation, requests=0.0)
    assert minute_of(quiet, COSTS, 10, load).worker == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[installation]\nclients = 'many'", "Expected"),
        ("[[moment]]\n", "installation"),
        ("nonsense", "TOML|Expected"),
    ],
)
def test_a_wrong_file_is_a_clear_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    """A file that cannot be read ends with one line that says what is wrong, and the exit code 2."""
    wrong = tmp_path / "day.toml"
    wrong.write_text(text)
    assert program.main(["--day", str(wrong)]) == 2
    printed = capsys.readouterr().err
    assert re.fullmatch(rf"benchmarks\.day: .*({message}).*\n", printed)


def test_moments_are_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Moments out of order are an error, because a day goes forward."""
    text = (FOLDER / "day.toml").read_text().replace('time = "04:00"', 'time = "21:00"')
    (tmp_path / "day.toml").write_text(text)
    assert program.main(["--day", str(tmp_path / "day.toml")]) == 2
    assert "in order of time" in capsys.readouterr().err
