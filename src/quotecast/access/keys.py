"""API keys as a worker knows them, and what each is for.

A user's session opens feeds as a key does: it is a key without a secret, with the plan of users, and its id
begins with `session:`.
"""

import hmac
import ipaddress
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Final

from msgspec import Meta, Struct

from quotecast.access import key_text
from quotecast.access.plans import FeedName
from quotecast.errors import InvalidValue

MAX_NAME: Final = 100
_SESSION: Final = "session:"
#: Names of symbols, origins or addresses in one scope.
MAX_SYMBOLS: Final = 500
MAX_ORIGINS: Final = 20
MAX_ADDRESSES: Final = 50

SymbolName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9./:_& -]{1,64}$")]
Origin = Annotated[str, Meta(pattern=r"^ *[Hh][Tt]{2}[Pp][Ss]?://[A-Za-z0-9.:\[\]-]{1,253}/? *$")]
Network = Annotated[str, Meta(min_length=2, max_length=43)]


class Scope(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The bounds of a key; an empty list sets no bound.

    `symbols` are names and groups such as `sector:Energy`. `origins` are those of pages whose browsers may
    use the key; `addresses` are addresses and networks of clients.
    """

    feeds: Annotated[tuple[FeedName, ...], Meta(description="Feeds that the key may read")] = ()
    symbols: Annotated[
        tuple[SymbolName, ...],
        Meta(max_length=MAX_SYMBOLS, description="Symbols, and groups such as `sector:Energy`"),
    ] = ()
    origins: Annotated[
        tuple[Origin, ...],
        Meta(max_length=MAX_ORIGINS, description="Web origins whose pages may use the key"),
    ] = ()
    addresses: Annotated[
        tuple[Network, ...],
        Meta(max_length=MAX_ADDRESSES, description="Addresses and networks of clients"),
    ] = ()


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

    @property
    def is_session(self) -> bool:
        """Whether it stands for a user's session."""
        return is_session(self.id)

    def is_good(self, now: datetime) -> bool:
        """Whether the key is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def good_until(self, digest: str) -> float | None:
        """Returns the Unix time at which the secret with a digest ends; None without an end."""
        is_present = hmac.compare_digest(self.secret_hash, digest)
        ends = [self.expires_at, None if is_present else self.previous_until]
        return min((end.timestamp() for end in ends if end is not None), default=None)

    def matches(self, digest: str, now: datetime) -> bool:
        """Whether a digest is that of the key's secret, or of the one before while it is good."""
        is_present = hmac.compare_digest(self.secret_hash, digest)
        is_previous = hmac.compare_digest(self.previous_hash or "", digest)
        return is_present or (is_previous and self.previous_until is not None and now < self.previous_until)


def is_session(key_id: str) -> bool:
    """Whether the id of a key is that of a session."""
    return key_id.startswith(_SESSION)


def session_name(session_id: str) -> str:
    """Returns the id of the key that stands for a session."""
    return _SESSION + session_id


def sessions_among(ids: Iterable[str]) -> list[str]:
    """Returns the ids of the sessions among ids of keys."""
    return [each.removeprefix(_SESSION) for each in ids if is_session(each)]


def key_of_session(session_id: str, user_id: str, begun: datetime, until: datetime) -> Key:
    """Returns the key that stands for a session."""
    return Key(
        id=session_name(session_id),
        user_id=user_id,
        name="",
        plan="",
        secret_hash="",
        previous_hash=None,
        previous_until=None,
        scope=Scope(),
        created_at=begun,
        expires_at=until,
        revoked_at=None,
    )


def networks(texts: Sequence[str]) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    """Returns the networks of a scope. Raises InvalidValue."""
    try:
        return tuple(ipaddress.ip_network(text, strict=False) for text in texts)
    except ValueError:
        raise InvalidValue("scope.addresses", "Must be addresses or networks such as 192.0.2.0/24") from None


def normalise(scope: Scope) -> Scope:
    """Returns the scope in its stored form: trimmed, each value once. Raises InvalidValue.

    A blank value is an error: without it, an empty list would open that side of the scope.
    """
    texts = (text.strip() for text in scope.symbols)
    symbols = tuple(dict.fromkeys(texts))
    if "" in symbols:
        raise InvalidValue("scope.symbols", "Must not have a blank symbol")
    found = networks([text.strip() for text in scope.addresses])
    shortest = (str(each).removesuffix(f"/{each.max_prefixlen}") for each in found)
    return Scope(
        feeds=tuple(dict.fromkeys(scope.feeds)),
        symbols=symbols,
        origins=tuple(dict.fromkeys(text.strip().lower().removesuffix("/") for text in scope.origins)),
        addresses=tuple(dict.fromkeys(shortest)),
    )


def shown_text(key: Key) -> str:
    """Returns the beginning of a key's text, by which its owner recognises it."""
    return f"{key_text.PREFIX}{key.id}"
