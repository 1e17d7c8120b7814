"""A frontend that loads whole pages and pauses between them."""

import random
import time
from urllib.parse import quote

from answers import ask
from locust import HttpUser, between, task

PAGE = (
    "/api/market/status",
    "/api/market/heatmap",
    "/api/market/movers",
    "/api/market/news?limit=20",
)
RANGES = ("1D", "5D", "1M", "1Y", "5Y")
ASSETS = "/api/market/assets?limit=500"
DOVIZ_SYMBOLS = "/api/doviz/symbols"
SOUGHT = ("altin", "gold", "btcusdt", "is bankasi dolar", "apple", "etherium")
SYMBOLS_PER_PAGE = 12
PAGES_OF_BARS = 3
PAGES_OF_QUOTES = 4


class Frontend(HttpUser):
    """A page with a dozen stocks and a chart; sends entity tags, as a browser does."""

    weight = 6
    wait_time = between(2, 8)

    def __init__(self, *arguments: object, **more: object) -> None:
        super().__init__(*arguments, **more)
        self.tickers: list[str] = []
        self.tags: dict[str, str] = {}
        self.doviz: list[str] = []

    @task(4)
    def page(self) -> None:
        """Requests everything that a page shows."""
        if not self.tickers:
            self.choose()
            return
        self.read(f"/api/market/quotes?symbols={','.join(self.tickers)}", "/api/market/quotes?symbols=")
        for path in PAGE:
            self.read(path, path)
        span = random.choice(RANGES)
        ticker = random.choice(self.tickers)
        self.read(f"/api/market/bars/{ticker}?range={span}", f"/api/market/bars/…?range={span}")
        self.read(
            f"/api/market/sparklines?symbols={','.join(self.tickers)}", "/api/market/sparklines?symbols="
        )

    @task
    def moment(self) -> None:
        """Reads the quotes of a moment of the last hour; answered with 422 where it is not recorded."""
        if self.tickers:
            at = time.time() - random.uniform(5, 3600)
            path = f"/api/market/quotes?symbols={','.join(self.tickers)}&at={at:.3f}"
            ask(self.client, "GET", path, name="/api/market/quotes?at=", expected=(200, 422, 503))

    @task
    def past(self) -> None:
        """Goes back in a chart of a stock, page by page."""
        if not self.tickers:
            return
        path = f"/api/market/bars/{random.choice(self.tickers)}?range=1Y&interval=1h&order=desc&limit=300"
        name, page = "/api/market/bars/…?order=desc&page=", ""
        for _ in range(PAGES_OF_BARS):
            response = ask(self.client, "GET", f"{path}{page}", name=name)
            if "x-next-page" not in response.headers:
                return
            page = f"&page={response.headers['x-next-page']}"

    @task
    def scroll(self) -> None:
        """Scrolls through a list of all stocks, page by page."""
        name, after = "/api/market/quotes?limit=&after=", ""
        for _ in range(PAGES_OF_QUOTES):
            path = f"/api/market/quotes?limit=100&after={quote(after)}"
            response = ask(self.client, "GET", path, name=name)
            after = response.headers.get("x-next-after", "")
            if not after:
                return

    @task
    def gold(self) -> None:
        """Shows a chart of a currency or of gold, and sparklines of a dozen others."""
        if not self.doviz:
            response = ask(self.client, "GET", DOVIZ_SYMBOLS, name=DOVIZ_SYMBOLS)
            if response.status_code == 200:
                self.doviz = [each["symbol"] for found in response.json().values() for each in found]
            return
        some = random.sample(self.doviz, min(SYMBOLS_PER_PAGE, len(self.doviz)))
        self.read(f"/api/doviz/bars/{some[0]}?timeframe=5m", "/api/doviz/bars/…?timeframe=5m")
        self.read(f"/api/doviz/sparklines?symbols={','.join(some)}", "/api/doviz/sparklines?symbols=")

    @task
    def prices(self) -> None:
        """Asks for the prices of a portfolio in one currency, of now and of a past day."""
        path = "/api/prices?symbols=AAPL,MSFT,BTC-USDT,gram-altin&currency=EUR"
        self.read(path, "/api/prices")
        self.read(f"{path}&date=2026-03-31", "/api/prices?date=")

    @task
    def search(self) -> None:
        """Types a name letter by letter, and searches after each."""
        text = random.choice(SOUGHT)
        for end in range(1, len(text) + 1):
            self.read(f"/api/search?q={quote(text[:end])}&limit=10", "/api/search?q=")

    def choose(self) -> None:
        """Chooses a dozen stocks; if the service does not answer, it tries again later."""
        response = ask(self.client, "GET", ASSETS, name=ASSETS)
        if response.status_code == 200:
            known = [asset["ticker"] for asset in response.json()]
            self.tickers = sorted(random.sample(known, min(SYMBOLS_PER_PAGE, len(known))))

    def read(self, path: str, name: str) -> None:
        """Sends one request, conditional after the first one."""
        headers = {"If-None-Match": self.tags[path]} if path in self.tags else {}
        response = ask(self.client, "GET", path, name=name, headers=headers)
        if tag := response.headers.get("etag"):
            self.tags[path] = tag
