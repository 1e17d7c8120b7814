"""finnhub-python: the methods of a Finnhub at the given address that the simulator serves, as JSON.

Arguments: address, the first and last day of news and reports, and Unix seconds of candles.
"""

import json
import sys

import finnhub

URL, FIRST, LAST, BEGIN, END = sys.argv[1:]


class LocalClient(finnhub.Client):
    API_URL = URL


client = LocalClient(api_key="any")
found = {
    "quote": client.quote("AAPL"),
    "pair": client.quote("BINANCE:BTCUSDT"),
    "unknown": client.quote("NONE"),
    "metrics": client.company_basic_financials("AAPL", "all"),
    "earnings": client.company_earnings("AAPL", limit=5),
    "recommendations": client.recommendation_trends("AAPL"),
    "revenue": client.company_revenue_estimates("AAPL", freq="quarterly"),
    "eps": client.company_eps_estimates("AAPL", freq="quarterly"),
    "quality": client.company_earnings_quality_score("AAPL", "quarterly"),
    "profile": client.company_profile2(symbol="AAPL"),
    "symbols": client.stock_symbols("US"),
    "candles": client.stock_candles("AAPL", "60", int(BEGIN), int(END)),
    "pair candles": client.crypto_candles("BINANCE:BTCUSDT", "D", int(BEGIN), int(END)),
    "pairs": client.crypto_symbols("BINANCE"),
    "status": client.market_status(exchange="US"),
    "holidays": client.market_holiday(exchange="US"),
    "calendar": client.earnings_calendar(_from=FIRST, to=LAST, symbol="", international=False),
    "company news": client.company_news("AAPL", _from=FIRST, to=LAST),
    "news": client.general_news("general", min_id=0),
    "search": client.symbol_lookup("apple"),
}
errors = {}
for name, ask in (("missing", lambda: client.quote("")), ("abroad", lambda: client.quote("SAP.DE"))):
    try:
        ask()
    except finnhub.FinnhubAPIException as error:
        errors[name] = [error.status_code, error.message]
sys.stdout.write(json.dumps(found | {"errors": errors}))
