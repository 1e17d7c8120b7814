"""`quotecast record` against a local Coinbase, and the replay of its recordings."""

import asyncio
import io
import re
import signal
import tempfile
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from fakes.binance import FakeBinance
from fakes.binance_rows import listing_row, statistics
from fakes.coinbase import FakeCoinbase, ScriptMessage, read_recording
from fakes.kraken import FakeKraken, ticker
from quotecast.commands.record import RecordingWriter, record
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.base import QuoteProvider
from quotecast.providers.coinbase.client import CoinbaseProvider
from quotecast.providers.replay.client import ReplayProvider
from support.runs.deadlines import scaled
from support.runs.virtual_time import JumpingLoop
from support.runs.waits import until
from support.servers.command_server import Forked
from support.servers.users_command import command, environment_of

RECORDING = Path(__file__).parents[1] / "recordings" / "coinbase.ndjson"
PRODUCTS = [{"id": product} for product in ("BTC-USD", "ETH-EUR", "NEW-GBP")]


async def last_quotes(provider: QuoteProvider) -> dict[str, tuple[float, float | None, float | None]]:
    """Returns the last quotes at the first empty update after all pairs are known."""
    known: dict[str, tuple[float, float | None, float | None]] = {}
    async with aclosing(provider.updates()) as updates:
        async for update in updates:
            quotes = [quote for quote in update.quotes if isinstance(quote, CryptoQuote)]
            known |= {quote.key: (quote.price, quote.bid, quote.volume) for quote in quotes}
            if not update.quotes and len(known) == len(PRODUCTS):
                return known
    raise AssertionError("updates end by raising only")


async def test_a_recording_plays_what_was_live(tmp_path: Path) -> None:
    """The replay ends with the same quotes; each line has the time of its message."""
    path = tmp_path / "recording.ndjson"
    async with FakeCoinbase(PRODUCTS) as fake:
        fake.script = [ScriptMessage(said.text) for said in read_recording(RECORDING)]
        fake.heartbeat_seconds = 0.02
        live = await last_quotes(CoinbaseProvider(fake.url, fake.websocket_url))
        fake.played.clear()
        said: list[str] = []
        with path.open("wb") as file:
            file.write(b"# coinbase\n")
            adapter = CoinbaseProvider(fake.url, fake.websocket_url)
            recording = asyncio.create_task(
                record(adapter, RecordingWriter(file, lambda: 1795118400.5), 60, say=said.append)
            )
            await asyncio.wait_for(fake.played.wait(), scaled(20))
            # Whatever was sent before the first heartbeats has been written by then.
            while b'"heartbeat"' not in path.read_bytes():
                file.flush()
                await asyncio.sleep(0.01)
            recording.cancel()
            await asyncio.gather(recording, return_exceptions=True)
    lines = path.read_bytes().splitlines()
    _, listing, *messages = lines
    assert listing.startswith(b'# listing [{"symbol":"BTC-USD","base":"BTC","quote":"USD","name":"')
    assert all(line.startswith(b"1795118400.500000 {") for line in messages)
    assert await last_quotes(ReplayProvider(path, speed=1000)) == live


async def record_some(provider: str, path: Path, **settings: str) -> None:
    """Records until the file has messages, then presses Ctrl-C; time decides nothing."""
    with tempfile.TemporaryFile() as said:
        arguments = ["record", provider, str(path), "--seconds", "600"]
        process = Forked(arguments, environment_of(settings), {2: said.fileno()})
        # The file grows by whole buffers, so its size shows that messages arrived.
        await until(lambda: process.poll() is not None or (path.exists() and path.stat().st_size))
        process.send_signal(signal.SIGINT)
        code = await asyncio.to_thread(process.wait)
        said.seek(0)
        assert code == 0, said.read().decode()


async def test_the_command_records_until_it_is_stopped(tmp_path: Path) -> None:
    """Ctrl-C ends the recording in order; the file names its provider, and no other recording replaces it."""
    path = tmp_path / "recording.ndjson"
    async with FakeCoinbase(PRODUCTS) as fake:
        fake.script = [ScriptMessage(said.text) for said in read_recording(RECORDING)]
        fake.heartbeat_seconds = 0.002
        urls: Any = {"coinbase_url": fake.url, "coinbase_websocket_url": fake.websocket_url}
        await record_some("coinbase", path, **urls)
        assert path.read_bytes().startswith(b"# coinbase\n")
        assert len(path.read_bytes().splitlines()) > 5
        code, _, said = await command("coinbase", str(path), of="record", **urls)
        assert (code, "exists already" in said) == (2, True)


def test_a_recording_lasts_the_given_seconds_and_tells_how_much() -> None:
    """The seconds count from the start, and the last line has the sums."""

    async def record_an_hour(loop: JumpingLoop) -> list[str]:
        async with FakeCoinbase(PRODUCTS) as fake:
            fake.script = [ScriptMessage(said.text) for said in read_recording(RECORDING)]
            said: list[str] = []
            adapter = CoinbaseProvider(fake.url, fake.websocket_url)
            writer = RecordingWriter(io.BytesIO(), lambda: 0.0)
            recording = asyncio.create_task(record(adapter, writer, 3600, say=said.append))
            await fake.played.wait()
            await until(lambda: writer.messages)
            loop.jump(3599 - loop.time() + began)
            await asyncio.sleep(0)
            assert not recording.done()
            loop.jump(60)
            await recording
            return said

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, JumpingLoop)
        began = loop.time()
        last = runner.run(record_an_hour(loop))[-1]
    assert re.fullmatch(r"[1-9]\d* messages, [1-9]\d* quotes in all", last)


#: Symbols that no rule divides right: `BATUSD` ends with `TUSD`, and few know of rupiahs and zlotys.
BINANCE_LISTING = [
    listing_row("BAT", "USD"),
    listing_row("BTC", "IDRT"),
    listing_row("ETH", "PLN"),
    listing_row("USDT", "TRY"),
    listing_row("NEWCOIN", "FDUSD"),
]
PAIRS = ["BAT/USD", "BTC/IDRT", "ETH/PLN", "NEWCOIN/FDUSD", "USDT/TRY"]


async def played(path: Path, count: int) -> dict[str, CryptoQuote]:
    """Returns the first quotes of `count` pairs."""
    known: dict[str, CryptoQuote] = {}
    async with asyncio.timeout(scaled(20)), aclosing(ReplayProvider(path, speed=1000).updates()) as updates:
        while len(known) < count:
            quotes = (await anext(updates)).quotes
            known |= {quote.key: quote for quote in quotes if isinstance(quote, CryptoQuote)}
    return known


async def test_a_recording_names_pairs_as_its_upstream_lists_them(tmp_path: Path) -> None:
    """Binance's symbols alone do not show where the base asset ends."""
    path = tmp_path / "recording.ndjson"
    async with FakeBinance(BINANCE_LISTING) as fake:
        fake.statistics = {row["symbol"]: statistics(row["symbol"]) for row in BINANCE_LISTING}
        urls = {
            "binance_url": fake.url,
            "binance_websocket_url": fake.websocket_url,
            "binance_pairs": ",".join(PAIRS),
        }
        await record_some("binance", path, **urls)
    assert path.read_bytes().startswith(b"# binance\n# listing [")
    quotes = await played(path, len(PAIRS))
    assert {pair: (quote.symbol, quote.name) for pair, quote in quotes.items()} == {
        "BAT/USD": ("BAT", "BAT"),
        "BTC/IDRT": ("BTC", "Bitcoin"),
        "ETH/PLN": ("ETH", "Ethereum"),
        "NEWCOIN/FDUSD": ("NEWCOIN", "NEWCOIN"),
        "USDT/TRY": ("USDT", "Tether"),
    }


async def test_a_recording_of_kraken_holds_its_listing(tmp_path: Path) -> None:
    path = tmp_path / "recording.ndjson"
    async with FakeKraken() as fake:
        fake.tickers = {"BTC/USD": ticker("BTC/USD")}
        urls = {
            "kraken_websocket_url": f"{fake.websocket_url}/v2",
            "kraken_pairs": "BTC/USD,NO/SUCH",
        }
        await record_some("kraken", path, **urls)
    listing = path.read_text().splitlines()[1]
    assert listing == '# listing [{"symbol":"BTC/USD","base":"BTC","quote":"USD","name":"Bitcoin"}]'
    assert (await played(path, 1))["BTC/USD"].name == "Bitcoin"


async def test_a_recording_of_nothing_is_a_failure_and_leaves_no_file(tmp_path: Path) -> None:
    """The upstream refuses connections here; the next run may use the same file name."""
    path = tmp_path / "recording.ndjson"
    async with FakeCoinbase(PRODUCTS) as fake:
        urls: Any = {"coinbase_url": fake.url, "coinbase_websocket_url": "ws://127.0.0.1:1"}
        code, _, said = await command("coinbase", str(path), "--seconds", "0.5", of="record", **urls)
    assert code == 1
    assert said.endswith(f"quotecast: coinbase sent no message; removed {path}\n")
    assert not path.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["acme", "new.ndjson"], "Cannot record 'acme'"),
        (["coinbase", "new.ndjson", "--seconds", "nan"], "--seconds: must be above 0"),
        (["coinbase", "new.ndjson", "--seconds", "-1"], "--seconds: must be above 0"),
        (["coinbase", "missing/new.ndjson"], "Cannot write"),
    ],
)
async def test_what_cannot_be_recorded_is_said(tmp_path: Path, arguments: list[str], said: str) -> None:
    provider, name, *options = arguments
    code, _, output = await command(provider, str(tmp_path / name), *options, of="record")
    assert (code, said in output) == (2, True)
