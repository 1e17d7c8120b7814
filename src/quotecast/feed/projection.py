"""Projections of quotes: the fields that a client selects, written as objects or as rows."""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Final

from msgspec.structs import FieldInfo, fields

from quotecast.market import codec
from quotecast.market.codec import Notation
from quotecast.market.feeds import Feed
from quotecast.market.moves import move_of
from quotecast.market.quotes import Quote

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
    return tuple(field.encode_name for field in fields(feed.spec.move)[1:])


@cache
def projection_of(
    feed: Feed, notation: Notation, *, rows: bool = False, selected: tuple[str, ...] | None = None
) -> Projection:
    """Returns the projection to the selected moving fields, in the order of `moving_fields`."""
    if rows:
        return _rows(feed, notation, selected)
    return WHOLE[notation] if selected is None else _objects(feed, notation, selected)


def _whole(notation: Notation) -> Projection:
    """Returns the projection to all fields, as objects: it is the same for every feed."""
    encode = codec.encoder_of(notation)
    return Projection(encode, lambda quote: encode(move_of(quote)), None, ())


def _objects(feed: Feed, notation: Notation, selected: tuple[str, ...]) -> Projection:
    encode = codec.encoder_of(notation)
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
    encode = codec.encoder_of(notation)
    key, chosen, still = _parts(feed, selected)
    moving_values, still_values = _values((key, *chosen)), _values(still)
    tag = _tag(feed)

    def full(quote: Quote) -> bytes:
        return encode((*moving_values(quote), tag, *still_values(quote)))

    def moving(quote: Quote) -> bytes:
        return encode(moving_values(quote))

    columns = (*_names((key, *chosen)), "type", *_names(still))
    return Projection(full, moving, selected, columns)


def _parts(
    feed: Feed, selected: tuple[str, ...] | None
) -> tuple[FieldInfo, list[FieldInfo], list[FieldInfo]]:
    """Returns the key, the selected moving fields, and the fields that do not move."""
    key, *moving = fields(feed.spec.move)
    names = {field.name for field in (key, *moving)}
    chosen = [field for field in moving if selected is None or field.encode_name in selected]
    return key, chosen, [field for field in fields(feed.spec.quote) if field.name not in names]


def _names(chosen: "tuple[FieldInfo, ...] | list[FieldInfo]") -> tuple[str, ...]:
    return tuple(field.encode_name for field in chosen)


def _values(chosen: "tuple[FieldInfo, ...] | list[FieldInfo]") -> Callable[[Quote], tuple[object, ...]]:
    """Returns a function from a quote to the values of those fields, of which there are several."""
    getter: Callable[[Quote], tuple[object, ...]] = attrgetter(*(field.name for field in chosen))
    return getter


def _tag(feed: Feed) -> str:
    return str(feed.spec.quote.__struct_config__.tag)


WHOLE: Final[dict[Notation, Projection]] = {"json": _whole("json"), "msgpack": _whole("msgpack")}
