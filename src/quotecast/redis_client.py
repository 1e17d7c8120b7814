"""Clients of one Redis, or of a Redis Cluster where the URL says so: `redis+cluster://any-node:6379`."""

from typing import Final

from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

_CLUSTER: Final = "+cluster://"

Client = Redis | RedisCluster


def connect(url: str) -> Client:
    """A client that gives up after one try: the callers know when to repeat, and have deadlines of their own.

    With a time-out of its own the client sends through `asyncio.wait_for`, which before Python 3.12 forgets a
    cancellation that meets the end of what it waits for. In a cluster one more try may follow a redirection.
    """
    if is_cluster(url):
        return RedisCluster.from_url(
            url.replace(_CLUSTER, "://", 1),
            retry=Retry(NoBackoff(), 1),
            socket_timeout=None,
            socket_connect_timeout=None,
        )
    return Redis.from_url(url, retry=Retry(NoBackoff(), 0), socket_timeout=None, socket_connect_timeout=None)


def is_cluster(url: str) -> bool:
    """Whether keys of different hash tags may lie on different nodes."""
    return _CLUSTER in url
