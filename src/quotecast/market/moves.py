"""Moving fields: the part of a quote that changes from tick to tick."""

from collections.abc import Callable
from hashlib import blake2b
from operator import attrgetter
from typing import Any, Final

from msgspec.structs import FieldInfo, fields

from quotecast.market.feeds import Feed
from quotecast.market.quotes import Move, Quote

#: Fields that change from tick to tick too, for clients that select them: quotes have them at times only.
SELECTABLE: Final = ("extended",)


def move_of(quote: Quote) -> Move:
    """Returns all moving fields of a quote, as absolute values."""
    kind = type(quote)
    move: Move = _MOVES[kind](*_MOVING[kind](quote))
    return move


def only_moves_differ(before: Quote, after: Quote) -> bool:
    """Returns whether two quotes differ only in moving fields, so that a client needs no full quote."""
    still = _STILL[type(after)]
    return type(before) is type(after) and bool(still(before) == still(after))


def shape_digest(feed: Feed) -> str:
    """Returns a digest, four hexadecimal digits, of the names of the fields that all quotes have."""
    names = ",".join(field.encode_name for field in common_fields(feed.spec.quote))
    return blake2b(names.encode(), digest_size=2).hexdigest()


def common_fields(kind: type[Any]) -> list[FieldInfo]:
    """Returns the fields that all quotes of a kind have, in their order."""
    return [field for field in fields(kind) if field.name not in SELECTABLE]


def _names(struct: type[Any]) -> list[str]:
    return [field.name for field in fields(struct)]


def _still_names(quote: type[Any], move: type[Any]) -> list[str]:
    moving = {*_names(move), *SELECTABLE}
    return [name for name in _names(quote) if name not in moving]


Getter = Callable[[Any], tuple[Any, ...]]

_MOVES: Final[dict[type[Any], type[Any]]] = {feed.spec.quote: feed.spec.move for feed in Feed}
_MOVING: Final[dict[type[Any], Getter]] = {quote: attrgetter(*_names(move)) for quote, move in _MOVES.items()}
_STILL: Final[dict[type[Any], Getter]] = {
    quote: attrgetter(*_still_names(quote, move)) for quote, move in _MOVES.items()
}
