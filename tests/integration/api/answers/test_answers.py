"""Conditional, compressed and shared answers."""

import gzip
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
import zstandard

from quotecast.api.answers.answers import SharedBody
from quotecast.api.middleware.middleware import Middleware
from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.codings import best_coding
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from support.made.factories import EPOCH, client_of, client_to, edge_of, full_mirrors, services, snapshot_of
from support.made.market import stock, wire_epoch

LISTS = ["/api/market/quotes?symbols=all", "/api/crypto/quotes", "/api/doviz/quotes"]
SINGLES = ["/api/market/quotes/AAPL", "/api/crypto/quotes/BTC-USDT", "/api/doviz/quotes/gram-altin"]
NAMES = ["/api/crypto/symbols", "/api/doviz/symbols"]
OTHERS = ["/api/market/status", "/api/health", "/api/ready", "/api/openapi.json", "/api/asyncapi.json"]


@pytest.fixture(scope="module")
def full() -> Middleware:
    return edge_of(services(full_mirrors()))


@pytest_asyncio.fixture
async def client(full: Middleware) -> AsyncIterator[httpx.AsyncClient]:
    async with client_to(full) as client:
        yield client


@pytest.mark.parametrize(
    ("path", "feed"), [*zip(LISTS, Feed, strict=True), ("/api/market/quotes?symbols=AAPL", Feed.STOCKS)]
)
async def test_lists_of_quotes_are_tagged_with_the_feeds_epoch_and_seq(
    client: httpx.AsyncClient, path: str, feed: Feed
) -> None:
    answer = await client.get(path)
    assert answer.headers["etag"] == f'W/"{wire_epoch(feed=feed)}-7"'
    assert answer.headers["cache-control"].startswith("public, max-age=1,")


@pytest.mark.parametrize("path", NAMES)
async def test_lists_of_names_may_be_kept_for_an_hour(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert answer.headers["cache-control"].startswith("public, max-age=3600,")


@pytest.mark.parametrize("path", LISTS + SINGLES + NAMES + OTHERS)
@pytest.mark.parametrize("form", ["{0}", '"other", {0}', "*", "{1}"])
async def test_what_the_client_has_is_not_sent_again(client: httpx.AsyncClient, path: str, form: str) -> None:
    """Every public answer has a weak tag; lists of tags, `*` and the strong form match too."""
    tag = (await client.get(path)).headers["etag"]
    assert tag.startswith('W/"')
    condition = form.format(tag, tag.removeprefix("W/"))
    answer = await client.get(path, headers={"if-none-match": condition})
    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["etag"] == tag
    assert "cache-control" in answer.headers


async def test_a_change_is_sent_again() -> None:
    """The next batch changes the tag, even of an equal quote."""
    mirrors = full_mirrors()
    async with client_of(services(mirrors)) as client:
        before = await client.get(LISTS[0])
        mirrors[Feed.STOCKS].load(snapshot_of(Feed.STOCKS, [stock("AAPL", price=1.5)], seq=8))
        after = await client.get(LISTS[0], headers={"if-none-match": before.headers["etag"]})
    assert after.status_code == 200
    assert after.headers["etag"] == f'W/"{wire_epoch()}-8"'
    assert {key: quote["price"] for key, quote in after.json().items()} == {"AAPL": 1.5}


def move(quote: Quote, seq: int) -> Batch:
    return Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=seq, changes=[encode_change(quote)])


async def test_one_quote_is_not_sent_again_until_it_changes() -> None:
    """Its tag is the seq of its own last change; another epoch is another tag, which counts by itself."""
    mirrors = full_mirrors()
    stocks = mirrors[Feed.STOCKS]
    path = "/api/market/quotes/AAPL"
    async with client_of(services(mirrors)) as client:
        tag = (await client.get(path)).headers["etag"]
        assert stocks.apply(move(stock("MSFT", price=2.0), 8))
        unmoved = await client.get(path, headers={"if-none-match": tag})
        assert stocks.apply(move(stock("AAPL", price=2.0), 9))
        moved = await client.get(path, headers={"if-none-match": tag})
        stocks.load(snapshot_of(Feed.STOCKS, [stock("AAPL", price=2.0)], seq=9, epoch="another"))
        restarted = await client.get(path, headers={"if-none-match": moved.headers["etag"]})
    assert (unmoved.status_code, unmoved.headers["etag"]) == (304, tag)
    assert (moved.status_code, moved.headers["etag"]) == (200, f'W/"{wire_epoch()}-9"')
    assert (restarted.status_code, restarted.headers["etag"]) == (200, f'W/"{wire_epoch("another")}-9"')


async def test_a_large_shared_body_is_compressed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shared body is compressed once for each change of the feed."""
    compressed: list[bytes] = []

    def compress(body: bytes, **options: int) -> bytes:
        compressed.append(gzip_compress(body, **options))
        return compressed[-1]

    gzip_compress = gzip.compress
    monkeypatch.setattr(gzip, "compress", compress)
    mirrors = full_mirrors()
    mirrors[Feed.STOCKS].load(snapshot_of(Feed.STOCKS, [stock(f"S{n}") for n in range(50)], seq=8))
    async with client_of(services(mirrors)) as client:
        packed = await client.get(LISTS[0], headers={"accept-encoding": "br, gzip"})
        again = await client.get(LISTS[0], headers={"accept-encoding": "gzip"})
        plain = await client.get(LISTS[0], headers={"accept-encoding": "gzip;q=0, *;q=0"})
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) == len(compressed[0]) < len(plain.content)
    assert "content-encoding" not in plain.headers
    assert {packed.headers["vary"], plain.headers["vary"]} == {"Accept-Encoding"}
    assert packed.content == again.content == plain.content == gzip.decompress(compressed[0])
    assert len(compressed) == 1


@pytest.mark.parametrize("path", LISTS + SINGLES + NAMES + OTHERS + ["/api/docs"])
async def test_head_is_get_without_the_body(client: httpx.AsyncClient, path: str) -> None:
    whole, head = await client.get(path), await client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(whole.content))
    assert head.headers.get("etag") == whole.headers.get("etag")


@pytest.mark.parametrize(
    ("header", "coding"),
    [
        (b"", None),
        (b"gzip", b"gzip"),
        (b"GZIP", b"gzip"),
        (b"gzip, deflate, br, zstd", b"zstd"),
        (b"zstd;q=0.5, gzip", b"gzip"),
        (b"*", b"zstd"),
        (b"gzip;q=0, *;q=0.1", b"zstd"),
        (b"gzip; q=0.0", None),
        (b"gzip;q=high", None),
        (b"br, identity", None),
    ],
)
def test_the_client_chooses_the_coding(header: bytes, coding: bytes | None) -> None:
    """The client's weights choose the coding; on a tie the smaller one."""
    assert best_coding(header, (b"zstd", b"gzip")) == (coding or b"")


def test_every_coding_is_the_same_body() -> None:
    """Every coding decodes to the same body, and is computed once."""
    document = SharedBody(b"[" + b"1," * 5000 + b"1]")
    assert gzip.decompress(document.gzipped) == zstandard.decompress(document.zstandard) == document.body
    assert document.encoded_for(b"zstd") == (b"zstd", document.zstandard)
    assert document.zstandard is document.zstandard
