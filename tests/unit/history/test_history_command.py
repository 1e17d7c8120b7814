"""`quotecast history`: what is recorded, and files of it that others read."""

import csv
import io
import json
import sys
from pathlib import Path

import pytest

from quotecast import __main__
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from support.made.history import BEGIN, RecordedLeader
from support.made.market import pair, stock


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Records a minute of stocks, and gives the folder."""
    monkeypatch.setenv("QUOTECAST_HISTORY_STORE", str(tmp_path / "kept"))
    monkeypatch.chdir(tmp_path)
    leader = RecordedLeader(tmp_path / "kept")
    leader.begin("e0", [stock("AAPL", 1.0), stock("OLD")])
    for number in range(60):
        leader.clock.now += 1
        leader.publish([stock("AAPL", 2.1 + number, name='Apple, "the" İnc.')])
    leader.publish(removed=["OLD"])
    leader.stop()
    return tmp_path


def export(*more: str, start: float = BEGIN, end: float = BEGIN + 61) -> int:
    times = ["--from", iso_utc(start), "--to", iso_utc(end)]
    return __main__.main(["history", "export", "--feed", "stocks", *times, *more])


def test_list_says_what_is_recorded(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each feed."""
    assert __main__.main(["history", "list"]) == 0
    _, stocks, crypto, _ = capsys.readouterr().out.splitlines()
    (path,) = recorded.glob("kept/stocks/*.segment")
    assert stocks.split() == [
        "stocks",
        "2026-11-20T14:30:00.000Z",
        "2026-11-20T14:31:00.000Z",
        *("1", "61", str(path.stat().st_size), "0"),
    ]
    assert crypto.split() == ["crypto", "nothing"]


def test_ndjson_has_a_line_for_each_update(recorded: Path) -> None:
    """In the order of the feed, with its numbers."""
    assert export("--format", "ndjson", "--output", "out", start=BEGIN + 58.5) == 0
    first, second, third = map(json.loads, (recorded / "out").read_text().splitlines())
    assert (first["ticker"], first["price"], first["published"]) == ("AAPL", 60.1, iso_utc(BEGIN + 59))
    assert (second["seq"], second["epoch"], second["removed"]) == (61, "e0", False)
    assert (third["ticker"], third["price"], third["removed"]) == ("OLD", None, True)


@pytest.mark.parametrize("name", ["market", "stock"])
def test_the_stocks_have_other_names(recorded: Path, name: str) -> None:
    """That of paths and frames, and that of lists of instruments."""
    assert export("--output", "out.csv", "--feed", name) == 0
    assert len((recorded / "out.csv").read_text("utf-8").splitlines()) == 62


def test_what_is_recorded_can_be_json(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each feed, also for one without a record."""
    assert __main__.main(["history", "list", "--json"]) == 0
    stocks, crypto, _ = map(json.loads, capsys.readouterr().out.splitlines())
    assert stocks.keys() == {"feed", "start", "end", "segments", "updates", "bytes", "lost"}
    assert (stocks["feed"], stocks["updates"], stocks["lost"]) == ("stocks", 61, 0)
    assert (crypto["feed"], crypto["start"], crypto["updates"]) == ("crypto", None, 0)
    assert recorded.is_dir()


def test_csv_is_read_back_as_it_was(recorded: Path) -> None:
    """Names with commas, quotes and letters of Turkish included."""
    assert export("--output", "out.csv") == 0
    rows = list(csv.DictReader(io.StringIO((recorded / "out.csv").read_text("utf-8"))))
    assert len(rows) == 61
    assert (rows[0]["name"], float(rows[0]["price"])) == ('Apple, "the" İnc.', 2.1)
    assert rows[60]["price"] == ""


def test_parquet_is_read_back_bit_for_bit(recorded: Path) -> None:
    """By the library that the extra brings."""
    parquet = pytest.importorskip("pyarrow.parquet")
    assert export("--format", "parquet", "--output", "out.parquet") == 0
    table = parquet.read_table(recorded / "out.parquet")
    assert table.column("price").to_pylist() == [*(2.1 + number for number in range(60)), None]
    assert table.column("published")[0].as_py().timestamp() == BEGIN + 1


def test_parquet_without_the_extra_names_it(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And leaves no file."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert export("--format", "parquet", "--output", "out") == 1
    assert "pip install 'quotecast[history-export]'" in capsys.readouterr().err
    assert not (recorded / "out").exists()


@pytest.mark.parametrize(
    ("start", "end", "problem"),
    [
        (BEGIN - 10, BEGIN + 10, "--from: Nothing is recorded of this moment"),
        (BEGIN, BEGIN + 1000, "The end is later than the last record"),
        (BEGIN + 5, BEGIN + 5, "--to: Must be later than --from"),
    ],
)
@pytest.mark.usefixtures("recorded")
def test_times_that_are_not_recorded_are_refused_with_what_is(
    start: float, end: float, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is that of wrong arguments."""
    assert export("--output", "out", start=start, end=end) == 2
    said = capsys.readouterr().err
    assert problem in said
    if "--to:" not in problem:
        assert "has from 2026-11-20T14:30:00.000Z to 2026-11-20T14:31:00.000Z" in said


@pytest.mark.parametrize("text", ["yesterday", "2026-11-20T14:31:00", "", "nan", "1e9", "9" * 50])
@pytest.mark.usefixtures("recorded")
def test_a_time_that_is_none_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A time without a zone could be any of several moments."""
    arguments = ["--feed", "stocks", "--from", text, "--to", "1795185010", "--output", "out"]
    assert __main__.main(["history", "export", *arguments]) == 2
    assert "--from: Must be ISO 8601 with a time zone" in capsys.readouterr().err


def test_a_file_that_exists_is_not_replaced(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It may be the only copy of something."""
    (recorded / "out").write_text("mine")
    assert export("--output", "out") == 2
    assert "exists already" in capsys.readouterr().err
    assert (recorded / "out").read_text() == "mine"


def test_any_feed_is_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the fields of its own quotes."""
    monkeypatch.setenv("QUOTECAST_HISTORY_STORE", str(tmp_path))
    leader = RecordedLeader(tmp_path, Feed.CRYPTO)
    leader.begin("e0", [pair("BTC/USDT")])
    leader.clock.now += 1
    leader.publish([pair("BTC/USDT", 2.0)])
    leader.stop()
    times = ["--from", str(BEGIN), "--to", str(BEGIN + 2)]
    output = str(tmp_path / "out")
    more = ["--format", "ndjson", "--output", output]
    assert __main__.main(["history", "export", "--feed", "crypto", *times, *more]) == 0
    assert json.loads(Path(output).read_text())["bid"] == 1.0
