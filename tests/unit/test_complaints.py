"""Validation errors in plain words."""

from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from quotecast.complaints import Complaint, choices_of, complaint


class Inner(Struct):
    size: Annotated[int, Meta(ge=1)]


class Given(Struct, forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1, max_length=3)] = "a"
    kind: Literal["stock", "crypto"] | None = None
    count: Annotated[int, Meta(ge=0, le=9)] | None = None
    share: Annotated[float, Meta(gt=0, lt=1)] = 0.5
    ready: bool = False
    number: int = 0
    names: Annotated[list[str], Meta(max_length=1)] | Literal["all"] = "all"
    inner: Inner | None = None
    code: Annotated[str, Meta(pattern="^[a-z]$")] = "a"


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ('{"name": null}', "name", "Must be text, not null"),
        ('{"name": 3}', "name", "Must be text, not a whole number"),
        ('{"name": ""}', "name", "Must have at least 1 character"),
        ('{"name": "four"}', "name", "Must have at most 3 characters"),
        ('{"kind": "bond"}', "kind", "Must be one of stock, crypto"),
        ('{"kind": true}', "kind", "Must be one of stock, crypto, not true or false"),
        ('{"count": -1}', "count", "Must be at least 0"),
        ('{"count": "1"}', "count", "Must be a whole number, not text"),
        ('{"count": 10}', "count", "Must be at most 9"),
        ('{"count": 1.5}', "count", "Must be a whole number, not a decimal number"),
        pytest.param(f'{{"number": {"9" * 5000}}}', "number", "Is too large", id="5000 digits"),
        ('{"share": 0}', "share", "Must be above 0.0"),
        ('{"share": 1}', "share", "Must be below 1.0"),
        ('{"share": {}}', "share", "Must be a number, not an object"),
        ('{"ready": 1}', "ready", "Must be true or false, not a whole number"),
        ('{"names": [1]}', "names[0]", "Must be text, not a whole number"),
        ('{"names": ["a", "b"]}', "names", "Must have at most 1 item"),
        ('{"names": 1}', "names", "Must be text or a list, not a whole number"),
        ('{"inner": {"size": 0}}', "inner.size", "Must be at least 1"),
        ('{"inner": {}}', "inner.size", "Must be given"),
        ('{"code": "1"}', "code", "Must match the documented format"),
        ('{"other": 1}', "other", "There is no such field"),
        ("[]", "", "Must be an object, not a list"),
    ],
)
def test_a_complaint_names_the_field_and_says_what_it_must_be(body: str, field: str, message: str) -> None:
    """Any text of msgspec gives a message."""
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.json.decode(body, type=Given)
    choices = ["stock", "crypto"] if field == "kind" else []
    assert complaint(str(refused.value), choices) == Complaint(field, message)


def test_in_a_query_everything_is_text() -> None:
    """The message does not name the type in a query."""
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.convert("ten", int | None, strict=False)
    assert complaint(str(refused.value), as_text=True).message == "Must be a whole number"


@pytest.mark.parametrize(
    ("annotation", "choices"),
    [
        (Literal["quote"] | None, ["quote"]),
        (Annotated[Literal["a", "b"], Meta()] | None, ["a", "b"]),
        (str | None, []),
    ],
)
def test_choices_are_those_of_the_annotation(annotation: Any, choices: list[object]) -> None:
    assert choices_of(annotation) == choices
