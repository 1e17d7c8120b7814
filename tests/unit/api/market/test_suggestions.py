"""What the service says about a symbol that a feed does not have."""

import pytest

from quotecast.api.market.suggestions import suggest
from quotecast.market.feeds import Feed
from support.made.factories import client_of, full_mirrors, mirror_of, services
from support.made.market import doviz, pair, stock


@pytest.mark.parametrize(
    ("feed", "text", "said"),
    [
        (Feed.STOCKS, "APPL", "Did you mean AAPL?"),
        (Feed.STOCKS, "aapll", "Did you mean AAPL?"),
        (Feed.STOCKS, "BRKB", "Did you mean BRK.B?"),
        (Feed.STOCKS, "FBX", None),
        (Feed.STOCKS, "BTC/USDT", "BTC/USDT is a pair, in the feed crypto (/api/crypto)."),
        (Feed.STOCKS, "gram-altin", "gram-altin is a metal or currency, in the feed doviz (/api/doviz)."),
        (Feed.CRYPTO, "BTCUSDT", "Did you mean BTC/USDT?"),
        (Feed.CRYPTO, "btc", "Did you mean BTC/USDT?"),
        (Feed.CRYPTO, "xbt", "Did you mean BTC/USDT?"),
        (Feed.CRYPTO, "XBTTRY", "Did you mean BTC/TRY?"),
        (Feed.CRYPTO, "XBT/EUR", None),
        (Feed.CRYPTO, "FB", "META is a stock, in the feed stocks (/api/market)."),
        (Feed.STOCKS, "BTCUSDT", "Did you mean the pair BTC/USDT, in the feed crypto (/api/crypto)?"),
        (Feed.STOCKS, "xbt", "Did you mean the pair BTC/USDT, in the feed crypto (/api/crypto)?"),
        (
            Feed.STOCKS,
            "altin",
            "Did you mean the metal or currency gram-altin, in the feed doviz (/api/doviz)?",
        ),
        (Feed.STOCKS, "HRS", None),
        (Feed.CRYPTO, "BTC/USTD", "Did you mean BTC/USDT?"),
        (Feed.CRYPTO, "AAPL", "AAPL is a stock, in the feed stocks (/api/market)."),
        (Feed.DOVIZ, "altin", "Did you mean gram-altin?"),
        (Feed.DOVIZ, "gramaltin", "Did you mean gram-altin?"),
        (Feed.DOVIZ, "USDD", "Did you mean USD?"),
        (Feed.STOCKS, "QQQQQQQ", None),
        (Feed.STOCKS, "X" * 40, None),
        (Feed.STOCKS, "€", "Symbols of stocks have the letters A to Z, digits, dots and hyphens only."),
        (Feed.CRYPTO, "币安人生/USDT", "Symbols of pairs have the letters A to Z and digits only."),
        (Feed.CRYPTO, "BTC_USDT", "Did you mean BTC/USDT?"),
        (Feed.DOVIZ, "gram-altın", "Did you mean gram-altin?"),
        (Feed.DOVIZ, "gram altın", "Did you mean gram-altin?"),
        (Feed.DOVIZ, "gümüş", "Did you mean gram-gumus?"),
        (Feed.DOVIZ, "Altın", "Did you mean gram-altin?"),
        (Feed.STOCKS, " ", None),
    ],
)
def test_an_unknown_symbol_may_mean_another(feed: Feed, text: str, said: str | None) -> None:
    made = services(
        {
            Feed.STOCKS: mirror_of(
                Feed.STOCKS, [stock(each) for each in ("AAPL", "BRK.B", "META", "MSFT", "XYZ")]
            ),
            Feed.CRYPTO: mirror_of(Feed.CRYPTO, [pair("BTC/USDT"), pair("BTC/TRY"), pair("ETH/USDT")]),
            Feed.DOVIZ: mirror_of(Feed.DOVIZ, [doviz("gram-altin"), doviz("gram-gumus"), doviz("USD")]),
        }
    )
    assert suggest(made, feed, text) == said


def test_of_several_the_most_traded_is_meant() -> None:
    quotes = [stock("AAPL", 200.0), stock("APP", 1.0), stock("PPL", 1.0)]
    made = services({**full_mirrors(), Feed.STOCKS: mirror_of(Feed.STOCKS, quotes)})
    assert suggest(made, Feed.STOCKS, "APPL") == "Did you mean AAPL?"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/api/market/quotes/APPL", "Did you mean AAPL?"),
        ("/api/market/bars/APPL", "Did you mean AAPL?"),
        ("/api/crypto/quotes/BTCUSDT", "Did you mean BTC/USDT?"),
        ("/api/crypto/bars/btcusdt", "Did you mean BTC/USDT?"),
        ("/api/doviz/quotes/altin", "Did you mean gram-altin?"),
        ("/api/openbb/market/bars?symbol=APPL", "Did you mean AAPL?"),
    ],
)
async def test_a_404_says_what_was_meant(path: str, said: str) -> None:
    """Where the detail stays the specified one."""
    async with client_of(services(full_mirrors())) as client:
        answer = await client.get(path)
    assert (answer.status_code, answer.json()["detail"]) == (404, "Symbol not found")
    assert answer.json()["errors"] == [{"field": "symbol", "message": said}]
