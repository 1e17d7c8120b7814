"""API keys as a worker knows them, and what each is for."""

import hmac
import ipaddress
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final

from msgspec import Meta, Struct

from quotecast.access import key_text
from quotecast.access.plans import FeedName
from quotecast.errors import InvalidValue

MAX_NAME: Final = 100
#: Names of symbols, origins or addresses in one scope.
MAX_SYMBOLS: Final = 500
MAX_ORIGINS: Final = 20
MAX_ADDRESSES: Final = 50

SymbolName = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9./:_& -]{1,64}\Z")]
Origin = Annotated[str, Meta(pattern=r"\Ahttps?://[a-z0-9.:\[\]-]{1,253}\Z")]
Network = Annotated[str, Meta(min_length=2, max_length=43)]


class Scope(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a key is for; an empty list leaves a side open.

    `symbols` are names and groups such as `sector:Energy`. `origins` are those of pages whose browsers may
    use the key; `addresses` are addresses and networks of clients.
    """

    feeds: tuple[FeedName, ...] = ()
    symbols: Annotated[tuple[SymbolName, ...], Meta(max_length=MAX_SYMBOLS)] = ()
    origins: Annotated[tuple[Origin, ...], Meta(max_length=MAX_ORIGINS)] = ()
    addresses: Annotated[tuple[Network, ...], Meta(max_length=MAX_ADDRESSES)] = ()


class Key(Struct, frozen=True, kw_only=True):
    """One API key without its secret. An empty `plan` is the plan of users.

    `previous_hash` is the digest of the secret before the last rotation, good until `previous_until`.
    """

    id: str
    user_id: str | None
    name: str
    plan: str
    secret_hash: str
    previous_hash: str | None
    previous_until: datetime | None
    scope: Scope
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None

    def __repr__(self) -> str:
        """Returns the id only: no log may hold a digest."""
        return f"Key(id={self.id!r})"

    def is_good(self, now: datetime) -> bool:
        """Whether the key is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def matches(self, digest: str, now: datetime) -> bool:
        """Whether a digest is that of the key's secret, or of the one before while it is good."""
        is_present = hmac.compare_digest(self.secret_hash, digest)
        is_previous = hmac.compare_digest(self.previous_hash or "", digest)
        return is_present or (is_previous and self.previous_until is not None and now < self.previous_until)


def networks(texts: Sequence[str]) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    """Returns the networks of a scope. Raises InvalidValue."""
    try:
        return tuple(ipaddress.ip_network(text, strict=False) for text in texts)
    except ValueError:
        raise InvalidValue("scope.addresses", "Addresses or networks such as 192.0.2.0/24") from None


def shown_text(key: Key) -> str:
    """Returns the beginning of a key's text, by which its owner recognises it."""
    return f"{key_text.PREFIX}{key.id}"
