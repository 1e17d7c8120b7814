"""Publishes invented quotes to a Redis channel or to nchan, as input of the peers.

`publisher.py redis://HOST:PORT CHANNEL ...` or `publisher.py http://HOST:PORT/PATH ...`, then
`SYMBOLS BATCHES_PER_SECOND QUOTES_PER_BATCH DELAY_SECONDS`: each batch is one message.
"""

import json
import socket
import sys
import time
from datetime import UTC, datetime
from urllib.parse import urlsplit


def main() -> None:
    """Publishes `per_second` messages, evenly spread, until killed."""
    url, channel = sys.argv[1:3]
    wrapped = post_request if url.startswith("http") else publish_command
    symbols, size = int(sys.argv[3]), int(sys.argv[5])
    per_second = float(sys.argv[4])
    place = urlsplit(url)
    time.sleep(float(sys.argv[6]))
    with socket.create_connection((place.hostname, place.port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sent, started, turn = 0, time.monotonic(), 0
        while True:
            due = int((time.monotonic() - started) * per_second)
            for _ in range(min(due - sent, 100)):
                body = message([(turn + offset) % symbols for offset in range(size)], sent)
                turn = (turn + size) % symbols
                connection.sendall(wrapped(channel, body))
                sent += 1
            connection.setblocking(False)
            drain(connection)
            connection.setblocking(True)
            time.sleep(max(0.0, started + (sent + 1) / per_second - time.monotonic()))


def message(numbers: list[int], turn: int) -> bytes:
    """Returns a frame of quotecast's shape, so that all contenders send the same bytes."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    data = [quote(number, turn, now) for number in numbers]
    frame = {"type": "update", "epoch": "01a1fd0ad634e1a58021", "seq": turn, "data": data}
    return json.dumps(frame, separators=(",", ":")).encode()


def quote(number: int, turn: int, now: str) -> dict[str, object]:
    """Returns the moving fields of a stock's quote, which compress as a real market's do."""
    opened = 20 + number * 7919 % 48_000 / 100
    price = round(opened * (1 + (number * 31 + turn * 17) % 997 / 20_000 - 0.025), 2)
    change = round(price - opened * 0.99, 2)
    return {
        "ticker": f"S{number:04}",
        "price": price,
        "change": change,
        "changePercent": round(change / opened * 100, 4),
        "open": opened,
        "high": round(max(price, opened) * 1.01, 2),
        "low": round(min(price, opened) * 0.99, 2),
        "volume": str(number * 104_729 % 90_000_000 + turn * (number % 97)),
        "timestamp": now,
    }


def publish_command(channel: str, body: bytes) -> bytes:
    """Returns the PUBLISH command in Redis's protocol."""
    name = channel.encode()
    return b"*3\r\n$7\r\nPUBLISH\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (len(name), name, len(body), body)


def post_request(path: str, body: bytes) -> bytes:
    """Returns a POST request on a persistent connection."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def drain(connection: socket.socket) -> None:
    """Reads and drops the answers."""
    try:
        while connection.recv(1 << 16):
            pass
    except BlockingIOError:
        pass


if __name__ == "__main__":
    main()
