"""Recordings played again, on a clock that only their sleeps move."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from quotecast.errors import UpstreamError
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.base import Update
from quotecast.providers.replay.client import ReplayProvider

START = 1_795_118_400.0


class Clock:
    """Time that passes by sleeping alone."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.now += seconds


def line(offset: float, price: str, product: str = "BTC-USD", sequence: int = 0) -> str:
    return (
        f'{START + offset} {{"type":"ticker","sequence":{sequence},"product_id":"{product}",'
        f'"price":"{price}","open_24h":"100","time":"2026-11-19T19:59:59Z"}}'
    )


def recording(folder: Path, *lines: str) -> Path:
    path = folder / "recording.ndjson"
    path.write_text("\n".join(lines))
    return path


async def play(path: Path, count: int, **options: Any) -> list[tuple[float, Update]]:
    """The first `count` updates, each with the time at which it came."""
    clock = Clock()
    updates = ReplayProvider(path, clock=clock, sleep=clock.sleep, **options).updates()
    played: list[tuple[float, Update]] = []
    for _ in range(count):
        update = await anext(updates)
        played.append((round(clock.now, 6), update))
    await updates.aclose()
    return played


def prices(played: Sequence[tuple[float, Update]]) -> list[tuple[float, list[float]]]:
    return [(at, [quote.price for quote in update.quotes]) for at, update in played]


async def test_gaps_are_kept(tmp_path: Path) -> None:
    """Updates come at the distances at which they were received."""
    path = recording(tmp_path, line(0, "100"), line(0.5, "101"), line(0.75, "102"))
    assert prices(await play(path, 3)) == [(0, [100]), (0.5, [101]), (0.75, [102])]


async def test_gaps_shrink_with_speed(tmp_path: Path) -> None:
    """At speed 10 a tenth of the time passes."""
    path = recording(tmp_path, line(0, "100"), line(5, "101"), line(7.5, "102"))
    assert prices(await play(path, 3, speed=10.0)) == [(0, [100]), (0.5, [101]), (0.75, [102])]


async def test_messages_of_one_instant_make_one_update(tmp_path: Path) -> None:
    """Only the newest quote of each pair is in it."""
    path = recording(tmp_path, line(0, "100"), line(0, "5", "ETH-USD"), line(0.001, "101"), line(1, "102"))
    assert prices(await play(path, 2)) == [(0, [101, 5]), (1, [102])]


async def test_long_gap_shows_life(tmp_path: Path) -> None:
    """A silent recording is not a silent upstream."""
    path = recording(tmp_path, line(0, "100"), line(2.5, "101"))
    assert prices(await play(path, 4)) == [(0, [100]), (1, []), (2, []), (2.5, [101])]


async def test_end_is_no_error(tmp_path: Path) -> None:
    """After the end an empty update a second keeps the feed alive."""
    path = recording(tmp_path, line(0, "100"), "")
    assert prices(await play(path, 3)) == [(0, [100]), (1, []), (2, [])]


async def test_loop_starts_over(tmp_path: Path) -> None:
    """A new round accepts sequences that start over."""
    path = recording(tmp_path, line(0, "100", sequence=1), line(0.5, "101", sequence=2))
    assert prices(await play(path, 4, loop=True)) == [(0, [100]), (0.5, [101]), (1.5, [100]), (2, [101])]


async def test_clock_that_lags_is_not_waited_for(tmp_path: Path) -> None:
    """Lines that go back in time are played at once, in their order."""
    path = recording(tmp_path, line(1, "100"), line(0, "101"), line(1.5, "102"))
    assert prices(await play(path, 3)) == [(0, [100]), (0, [101]), (0.5, [102])]


async def test_quotes_are_coinbases_of_that_day(tmp_path: Path) -> None:
    """The quotes name their origin; the provider says that they are not of now."""
    path = recording(tmp_path, line(0, "100.5"))
    [(_, update)] = await play(path, 1)
    [quote] = update.quotes
    assert isinstance(quote, CryptoQuote)
    assert (quote.provider, quote.timestamp, quote.change) == ("coinbase", "2026-11-19T19:59:59Z", 0.5)
    provider = ReplayProvider(path)
    assert (provider.name, provider.simulated, provider.always_open) == ("replay", True, True)


async def test_refused_tickers_are_counted(tmp_path: Path) -> None:
    """A bad price in a recording is refused as a live one is."""
    path = recording(tmp_path, line(0, "100"), line(0, "NaN"), line(0, "0.01"), line(0, "101"))
    provider = ReplayProvider(path)
    updates = provider.updates()
    assert [quote.price for quote in (await anext(updates)).quotes] == [101]
    await updates.aclose()
    told = provider.statistics()
    assert (told["unreadable"], told["absurd"]) == (1, 1)


@pytest.mark.parametrize(
    "bad",
    ["{}", "x {}", f"{START}", f"{START} {{", 'nan {"type":"new"}', '1e99 {"type":"new"}'],
)
async def test_malformed_line_is_named(tmp_path: Path, bad: str) -> None:
    """The error tells which line of which file."""
    path = recording(tmp_path, line(0, "100"), "", bad)
    with pytest.raises(UpstreamError, match=r"recording\.ndjson:3 is not a recorded message"):
        await play(path, 2)


def binance_line(offset: float, symbol: str = "BATUSD") -> str:
    moment = START + offset
    told = f'{{"e":"24hrTicker","E":{moment * 1000:.0f},"s":"{symbol}","c":"100"}}'
    return f'{moment} {{"stream":"{symbol.lower()}@ticker","data":{told}}}'


def listing(*instruments: tuple[str, str, str, str]) -> str:
    rows = ",".join(
        f'{{"symbol":"{symbol}","base":"{base}","quote":"{quote}","name":"{name}"}}'
        for symbol, base, quote, name in instruments
    )
    return f"# listing [{rows}]"


BAT = listing(("BATUSD", "BAT", "USD", "Basic Attention Token"))
SAID = {
    "binance": (binance_line(0), "BAT/USD"),
    "binance.us": (binance_line(0), "BAT/USD"),
    "coinbase": (line(0, "100", "BAT-USD"), "BAT/USD"),
    "kraken": (f'{START} {{"channel":"ticker","data":[{{"symbol":"BAT/USD","last":100.0}}]}}', "BAT/USD"),
}


@pytest.mark.parametrize(("upstream", "said", "pair"), [(name, *told) for name, told in SAID.items()])
async def test_heading_says_whose_messages_follow(
    tmp_path: Path, upstream: str, said: str, pair: str
) -> None:
    """Each upstream's own decoding."""
    [(_, update)] = await play(recording(tmp_path, f"# {upstream}", BAT, said), 1)
    assert [(quote.key, quote.provider) for quote in update.quotes if isinstance(quote, CryptoQuote)] == [
        (pair, upstream)
    ]


@pytest.mark.parametrize(("upstream", "said"), [(name, said) for name, (said, _) in SAID.items()])
async def test_names_are_those_of_the_listing(tmp_path: Path, upstream: str, said: str) -> None:
    """As they were when it was recorded."""
    bat = BAT.replace("BATUSD", {"coinbase": "BAT-USD", "kraken": "BAT/USD"}.get(upstream, "BATUSD"))
    [(_, update)] = await play(recording(tmp_path, f"# {upstream}", bat, said), 1)
    assert [quote.name for quote in update.quotes] == ["Basic Attention Token"]


async def test_later_listing_holds_for_what_follows(tmp_path: Path) -> None:
    """A new connection may find new pairs."""
    later = listing(("BATUSD", "BAT", "USD", "BAT"), ("BTCIDRT", "BTC", "IDRT", "Bitcoin"))
    lines = [binance_line(0), binance_line(0, "BTCIDRT"), later, binance_line(1, "BTCIDRT")]
    updates = await play(recording(tmp_path, "# binance", BAT, *lines), 2)
    assert [[quote.key for quote in update.quotes] for _, update in updates] == [["BAT/USD"], ["BTC/IDRT"]]


async def test_old_recording_of_binance_has_no_listing(tmp_path: Path) -> None:
    """Its symbols do not say where the base ends: an error is better than BA/TUSD."""
    path = recording(tmp_path, "# binance", binance_line(0))
    problem = (
        r"recording\.ndjson:2 follows no listing, without which symbols of binance name no pair; record again"
    )
    with pytest.raises(UpstreamError, match=problem):
        await play(path, 1)


@pytest.mark.parametrize("upstream", ["coinbase", "kraken"])
async def test_old_recordings_of_others_name_their_pairs_themselves(tmp_path: Path, upstream: str) -> None:
    """Their assets have the names of our own table."""
    said = SAID[upstream][0].replace("BAT", "BTC")
    [(_, update)] = await play(recording(tmp_path, f"# {upstream}", said), 1)
    assert [(quote.key, quote.name) for quote in update.quotes] == [("BTC/USD", "Bitcoin")]


@pytest.mark.parametrize(
    "bad", ["# listing", "# listing {", '# listing [{"symbol":"BATUSD"}]', "# listing [7]"]
)
async def test_listing_that_cannot_be_read_is_named(tmp_path: Path, bad: str) -> None:
    with pytest.raises(UpstreamError, match=r"recording\.ndjson:2 is not a listing"):
        await play(recording(tmp_path, "# binance", bad, binance_line(0)), 1)


async def test_recording_that_nobody_here_can_read_is_refused(tmp_path: Path) -> None:
    """The error says whose it is."""
    with pytest.raises(UpstreamError, match="is a recording of 'acme', which cannot be played"):
        await play(recording(tmp_path, "# acme", f"{START} {{}}"), 1)


async def test_recording_without_messages_is_an_error(tmp_path: Path) -> None:
    """There would be nothing to play, for ever."""
    with pytest.raises(UpstreamError, match="holds no message"):
        await play(recording(tmp_path, "", ""), 1)


async def test_missing_recording_is_an_error(tmp_path: Path) -> None:
    """The error names the file, not the folder."""
    with pytest.raises(UpstreamError, match=r"^gone\.ndjson cannot be read: No such file"):
        await play(tmp_path / "gone.ndjson", 1)
