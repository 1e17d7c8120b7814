"""binance-connector: REST and both kinds of streams of a Binance at given addresses."""

import json
import queue
import sys

from binance.error import ClientError
from binance.spot import Spot
from binance.websocket.spot.websocket_stream import SpotWebsocketStreamClient

REST, STREAM, START = sys.argv[1], sys.argv[2], int(sys.argv[3])


def read_rest() -> dict[str, object]:
    """Returns what the client reads by REST, and the error of an unknown symbol."""
    spot = Spot(base_url=REST, show_limit_usage=True)
    end = START + 4 * 60_000
    answer = {
        "time": spot.time(),
        "info": spot.exchange_info(symbols=["BTCUSDT", "ETHUSDT"]),
        "klines": spot.klines("BTCUSDT", "1m", startTime=START, endTime=end),
        "day": spot.ticker_24hr(symbols=["BTCUSDT", "ETHUSDT"], type="MINI"),
        "price": spot.ticker_price("BTCUSDT"),
        "book": spot.book_ticker("BTCUSDT"),
        "depth": spot.depth("BTCUSDT", limit=10),
        "average": spot.avg_price("BTCUSDT"),
    }
    try:
        spot.ticker_price("NONESUCH")
    except ClientError as error:
        answer["error"] = [error.status_code, error.error_code, error.error_message]
    return answer


def read_streams(*, is_combined: bool) -> dict[str, object]:
    """Returns the first message of each stream, and the answers to commands."""
    messages: queue.Queue[str] = queue.Queue()
    client = SpotWebsocketStreamClient(
        stream_url=STREAM, is_combined=is_combined, on_message=lambda _, text: messages.put(text)
    )
    client.ticker(symbol="btcusdt", id=1)
    client.kline(symbol="btcusdt", interval="5m", id=2)
    client.mini_ticker(id=3)
    client.list_subscribe(id=4)
    received: dict[str, object] = {}
    while len(received) < 7:
        message = json.loads(messages.get(timeout=30))
        if "id" in message:
            received[str(message["id"])] = message["result"]
            continue
        data = message["data"] if is_combined else message
        received["array" if isinstance(data, list) else data["e"]] = data
    client.stop()
    return received


answer = {
    "rest": read_rest(),
    "raw": read_streams(is_combined=False),
    "combined": read_streams(is_combined=True),
}
sys.stdout.write(json.dumps(answer))
