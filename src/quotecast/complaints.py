"""Translates msgspec's validation errors, which name Python's types, into plain words."""

import re
from collections.abc import Sequence
from typing import Any, Final, Literal, get_args, get_origin

from msgspec import Struct

_PLACE: Final = re.compile(r"(?P<message>.*?)(?: - at `(?:key in )?\$\.?(?P<field>[^`]*)`)?", re.DOTALL)
_MISSING: Final = re.compile(r"Object missing required field `(?P<field>[^`]+)`")
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(?P<field>[^`]*)`")
_KIND: Final = re.compile(r"Expected `(?P<wanted>[^`]+)`, got `(?P<given>[^`]+)`")
_BOUND: Final = re.compile(r"Expected `(?:int|float)` (?P<order>[<>]=?) (?P<bound>\S+)")
_LENGTH: Final = re.compile(r"Expected `(?P<kind>\w+)` of length (?P<order>[<>]=) (?P<bound>\d+)")
_CHOICE: Final = re.compile(r"Invalid enum value .*", re.DOTALL)
_RANGE: Final = re.compile(r"(?:Integer value|Number) out of range")

_KINDS: Final = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_GIVEN: Final = _KINDS | {"float": "a decimal number"}
_ORDERS: Final = {">=": "at least", "<=": "at most", ">": "above", "<": "below"}
_UNITS: Final = {"array": "items", "object": "fields"}


class Complaint(Struct, frozen=True):
    """A problem with one field; an empty `field` means the whole value."""

    field: str
    message: str


def complaint(text: str, choices: Sequence[object] = (), *, as_text: bool = False) -> Complaint:
    """Returns the complaint for the text of a `msgspec.ValidationError`.

    `choices` are the values that the field may have. With `as_text` the message does not name the given type:
    in a query every value is text.
    """
    place = _PLACE.fullmatch(text)
    message, field = (place["message"], place["field"] or "") if place else (text, "")
    if missing := _MISSING.fullmatch(message):
        return Complaint(".".join(filter(None, (field, missing["field"]))), "Must be given")
    if unknown := _UNKNOWN.fullmatch(message):
        return Complaint(".".join(filter(None, (field, unknown["field"]))), "There is no such field")
    return Complaint(field, _sentence(message, choices, as_text=as_text))


def choices_of(annotation: Any) -> list[object]:
    """Returns the values of the literals in an annotation, in their order."""
    if get_origin(annotation) is Literal:
        return [*get_args(annotation)]
    return [choice for part in get_args(annotation) for choice in choices_of(part)]


def _sentence(message: str, choices: Sequence[object], *, as_text: bool) -> str:
    if kind := _KIND.fullmatch(message):
        given = "" if as_text else f", not {_GIVEN.get(kind['given'], kind['given'])}"
        return f"Must be {_kinds(kind['wanted'], choices)}{given}"
    if bound := _BOUND.fullmatch(message):
        return f"Must be {_ORDERS[bound['order']]} {bound['bound']}"
    if length := _LENGTH.fullmatch(message):
        unit = _UNITS.get(length["kind"], "characters")
        units = unit.removesuffix("s") if length["bound"] == "1" else unit
        return f"Must have {_ORDERS[length['order']]} {length['bound']} {units}"
    if _CHOICE.fullmatch(message) and choices:
        return f"Must be {_list_choices(choices)}"
    return "Is too large" if _RANGE.fullmatch(message) else "Must match the documented format"


def _kinds(names: str, choices: Sequence[object] = ()) -> str:
    """Returns the kinds of a union in words, without null unless it is the only one."""
    kinds = [name for name in names.split(" | ") if name != "null"] or ["null"]
    if kinds == ["str"] and choices:
        return _list_choices(choices)
    return " or ".join(_KINDS.get(kind, kind) for kind in kinds)


def _list_choices(choices: Sequence[object]) -> str:
    return f"{'one of ' if len(choices) > 1 else ''}{', '.join(map(str, choices))}"
