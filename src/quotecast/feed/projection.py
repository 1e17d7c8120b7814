"""Projections of quotes: the fields that a client selects, written as objects or as rows."""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Final

from msgspec import UNSET
from msgspec.structs import FieldInfo, fields, replace

from quotecast.market import codec
from quotecast.market.codec import Notation
from quotecast.market.feeds import Feed
from quotecast.market.moves import SELECTABLE, move_of
from quotecast.market.quotes import Quote, StockQuote

#: Encodes a quote, or its moving fields.
Encode = Callable[[Quote], bytes]


class Projection:
    """One way to write the quotes of a feed; clients that selected the same share it, and its bytes.

    `columns` names the values of a row that has a whole quote; a row of moving fields has the first of them.
    Objects have no columns. `fields` are the selected moving fields; None is all of them.
    """

    __slots__ = ("columns", "fields", "full", "moving")

    def __init__(
        self, full: Encode, moving: Encode, fields: tuple[str, ...] | None, columns: tuple[str, ...]
    ) -> None:
        self.full = full
        self.moving = moving
        self.fields = fields
        self.columns = columns


def moving_fields(feed: Feed) -> tuple[str, ...]:
    """Returns the names of the fields that a client may select, in the order of the quote."""
    return _names(_moving(feed)[1:])


# Unbounded, but small: ten fields have 1,023 selections.
@cache
def projection_of(
    feed: Feed, notation: Notation, *, rows: bool = False, selected: tuple[str, ...] | None = None
) -> Projection:
    """Returns the projection to the selected moving fields, in the order of `moving_fields`."""
    if rows:
        return _rows(feed, notation, selected)
    return WHOLE[notation] if selected is None else _objects(feed, notation, selected)


def _whole(notation: Notation) -> Projection:
    """Returns the projection to the fields that all quotes have, as objects: every feed has the same."""
    encode = codec.encoder_of(notation)

    def full(quote: Quote) -> bytes:
        return encode(replace(quote, extended=UNSET) if is_extended(quote) else quote)

    return Projection(full, lambda quote: encode(move_of(quote)), None, ())


def _objects(feed: Feed, notation: Notation, selected: tuple[str, ...]) -> Projection:
    encode = _encoder_of(notation, selected)
    key, chosen, still = _parts(feed, selected)
    kept = {field.name for field in (key, *chosen, *still)}
    whole = [field for field in fields(feed.spec.quote) if field.name in kept]
    whole_names, moving_names = _names(whole), _names((key, *chosen))
    whole_values, moving_values = _values(whole), _values((key, *chosen))
    tag = _tag(feed)

    def full(quote: Quote) -> bytes:
        return encode({"type": tag, **dict(zip(whole_names, whole_values(quote), strict=True))})

    def moving(quote: Quote) -> bytes:
        return encode(dict(zip(moving_names, moving_values(quote), strict=True)))

    return Projection(full, moving, selected, ())


def _rows(feed: Feed, notation: Notation, selected: tuple[str, ...] | None) -> Projection:
    encode = _encoder_of(notation, selected)
    key, chosen, still = _parts(feed, selected)
    moving_values, still_values = _values((key, *chosen)), _values(still)
    tag = _tag(feed)

    def full(quote: Quote) -> bytes:
        return encode((*moving_values(quote), tag, *still_values(quote)))

    def moving(quote: Quote) -> bytes:
        return encode(moving_values(quote))

    columns = (*_names((key, *chosen)), "type", *_names(still))
    return Projection(full, moving, selected, columns)


def _encoder_of(notation: Notation, selected: tuple[str, ...] | None) -> Callable[[object], bytes]:
    may_lack = selected is not None and not {*SELECTABLE}.isdisjoint(selected)
    return codec.encoder_with_nulls(notation) if may_lack else codec.encoder_of(notation)


def _parts(
    feed: Feed, selected: tuple[str, ...] | None
) -> tuple[FieldInfo, list[FieldInfo], list[FieldInfo]]:
    """Returns the key, the selected moving fields, and the fields that do not move."""
    key, *moving = _moving(feed)
    names = {field.name for field in (key, *moving)}
    default = [field.encode_name for field in moving if field.name not in SELECTABLE]
    wanted = default if selected is None else selected
    chosen = [field for field in moving if field.encode_name in wanted]
    return key, chosen, [field for field in fields(feed.spec.quote) if field.name not in names]


def _moving(feed: Feed) -> list[FieldInfo]:
    """Returns the key and all fields that a client may select."""
    selectable = [field for field in fields(feed.spec.quote) if field.name in SELECTABLE]
    return [*fields(feed.spec.move), *selectable]


def _names(chosen: "tuple[FieldInfo, ...] | list[FieldInfo]") -> tuple[str, ...]:
    return tuple(field.encode_name for field in chosen)


def _values(chosen: "tuple[FieldInfo, ...] | list[FieldInfo]") -> Callable[[Quote], tuple[object, ...]]:
    """Returns a getter of at least two fields; `attrgetter` of one would return no tuple."""
    getter: Callable[[Quote], tuple[object, ...]] = attrgetter(*(field.name for field in chosen))
    return getter


def _tag(feed: Feed) -> str:
    return str(feed.spec.quote.__struct_config__.tag)


def is_extended(quote: Quote | None) -> bool:
    """Returns whether a quote has a trade outside the regular session, which only some clients get."""
    return isinstance(quote, StockQuote) and quote.extended is not UNSET


WHOLE: Final[dict[Notation, Projection]] = {"json": _whole("json"), "msgpack": _whole("msgpack")}
