"""Names of rate-limit keys in Redis."""

import hashlib
import zlib
from typing import Final

#: Hash tags, so that a Redis Cluster can spread the keys; there a batch is split by tag.
SHARDS: Final = 16
#: Bytes; a longer key is hashed.
MAX_KEY_LENGTH: Final = 96


class KeyNames:
    """Redis names of the keys under one prefix, such as `quotecast:{limits:07}:market 192.0.2.1`."""

    def __init__(self, prefix: str) -> None:
        # Access rules of Redis go by the start of a key, so the hash tag follows the prefix.
        self._shards = [f"{prefix}:{{limits:{shard:02}}}".encode() for shard in range(SHARDS)]

    def name_of(self, key: str) -> bytes:
        """Returns the Redis name of a key; a long key or one beyond ASCII appears as its digest."""
        text = key.encode("utf-8", "surrogatepass")
        if len(text) > MAX_KEY_LENGTH or not text.isascii():
            text = hashlib.blake2b(text, digest_size=16).hexdigest().encode()
        return b"%b:%b" % (self._shards[zlib.crc32(text) % SHARDS], text)


def hash_tag(name: bytes) -> bytes:
    """Returns the part of a name that decides on which node of a cluster it lies."""
    return name.partition(b"}")[0]
