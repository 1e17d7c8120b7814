"""Subscribers of the bus that only read: `python -m benchmarks.readers PORT COUNT [relay]`.

COUNT connections subscribe to stocks and discard what they get. With `relay` one connection subscribes, and a
process copies each byte to COUNT Unix sockets: the least that a relay for a host's workers would do.
The first reader looks for probes, which hold the Unix time of their publication; SIGTERM prints the readers'
delays as JSON.
"""

import json
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import Final

CHANNELS: Final = ("quotecast:{stocks}:batches", "probes")
#: Begins a probe, before 17 digits of Unix time.
MARK: Final = b"PROBE:"
_DIGITS: Final = 17
_BUFFER: Final = 1 << 18


def subscribed(port: int) -> socket.socket:
    """Returns a connection that receives batches and probes."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(b"".join(b"SUBSCRIBE %s\r\n" % name.encode() for name in CHANNELS))
    return connection


def read(connections: list[socket.socket], delays: list[float]) -> None:
    """Discards what arrives until every connection has ended; notes the probes of the first."""
    poll, buffer = select.epoll(), bytearray(_BUFFER)
    by_number = {each.fileno(): each for each in connections}
    first = connections[0].fileno()
    for number in by_number:
        poll.register(number, select.EPOLLIN)
    while by_number:
        for number, _ in poll.poll():
            size = by_number[number].recv_into(buffer)
            if not size:
                poll.unregister(number)
                del by_number[number]
            elif number == first:
                _note_probes(buffer, size, delays)


def _note_probes(buffer: bytearray, size: int, delays: list[float]) -> None:
    at, now = buffer.find(MARK, 0, size), time.time()
    while at >= 0:
        text = bytes(buffer[at + len(MARK) : min(at + len(MARK) + _DIGITS, size)])
        # A probe across two reads does not count.
        if len(text) == _DIGITS:
            delays.append(now - float(text))
        at = buffer.find(MARK, at + 1, size)


def relay(source: socket.socket, targets: list[socket.socket]) -> None:
    """Copies everything to each target; waits for the slowest."""
    buffer = memoryview(bytearray(_BUFFER))
    while size := source.recv_into(buffer):
        for target in targets:
            target.sendall(buffer[:size])


def main(port: int, count: int, *, relayed: bool) -> None:
    """Reads until SIGTERM."""
    delays: list[float] = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    if relayed:
        pairs = [socket.socketpair() for _ in range(count)]
        copier = os.fork()
        if not copier:
            for ours, _ in pairs:
                ours.close()
            with suppress(OSError):  # the readers have ended
                relay(subscribed(port), [theirs for _, theirs in pairs])
            os._exit(0)
        connections = [ours for ours, _ in pairs]
        for _, theirs in pairs:
            theirs.close()
    else:
        connections = [subscribed(port) for _ in range(count)]
    with suppress(SystemExit):
        read(connections, delays)
    sys.stdout.write(json.dumps(delays))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), relayed="relay" in sys.argv)
