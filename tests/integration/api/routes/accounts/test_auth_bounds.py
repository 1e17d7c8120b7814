"""Bounds of the bodies of registration, login and the profile, over a real PostgreSQL."""

import json
import unicodedata
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import httpx
import pytest

from support.stages.account_service import PASSWORD, AccountService, User

REGISTER = "/api/auth/register"
LOGIN = "/api/auth/login"
PROFILE = "/api/auth/profile"
AYSE = {"name": "Ayşe", "email": "ayse@example.com", "password": PASSWORD}

OF_OTHER_TYPES: Final[list[Any]] = [None, 1, 1.5, True, [], {}, ["x"]]
BAD_NAMES = ["", " \t\n", "x" * 101, "a\0b", "a\nb", "a\x7fb", "a\x85b", "\x01"]
BAD_EMAILS = ["", "  ", f"{'x' * 251}@b.c", "a\0@b", "a@b\x7f", "a@b\x01c"]
NO_EMAILS = ["ayse", "@", "@b", "a@", "a b@c", "a@b c", "a@\u2003b"]
BAD_PASSWORDS = ["", "x" * 129, "🐎" * 129, "e\u0301" * 129, "x" * 80_000, "\u0301\u0323" * 10_000]
SHORT_PASSWORDS = ["x" * 7, "🐎" * 7, "e\u0301" * 7]

#: Values within bounds.
GOOD = [
    {"password": "x" * 8},
    {"password": "x" * 128},
    {"password": "🐎" * 128},
    {"password": "\0\x01\x7f\n\r\t\u202e\ufeff"},
    {"password": " " * 8},
    {"name": "x"},
    {"name": "🐎" * 100},
    {"name": f"  {'x' * 100}  "},
    {"name": "O'Brien; DROP TABLE users --"},
    {"name": '<script>"&\\%s{}'},
    {"email": "a@b"},
    {"email": f"{'x' * 250}@b.c"},
    {"email": "ışık@örnek.com.tr"},
    {"email": "İ@example.com"},
    {"email": '"@"@example.com'},
]

#: Bodies of malformed JSON.
MALFORMED: Final[Mapping[str, bytes]] = {
    "empty": b"",
    "blank": b"  \n",
    "text": b"name=Ayse&email=ayse@example.com",
    "half": b'{"name": "Ay',
    "more than one": b'{"name":"a","email":"a@b","password":"12345678"}{}',
    "a trailing comma": b'{"name":"a",}',
    "single quotes": b"{'name':'a'}",
    "a byte order mark": b'\xef\xbb\xbf{"name":"Ay\xc5\x9fe"}',
    "UTF-16": '{"name":"Ayşe"}'.encode("utf-16"),
    "not a number": b'{"name":"a","age":NaN}',
    "infinity": b'{"name":"a","age":-Infinity}',
    "a lone surrogate": b'{"name":"\\ud83d"}',
    "a lone second surrogate": b'{"name":"\\ude00 and more"}',
    "a raw line feed": b'{"name":"a\nb"}',
    "a raw NUL": b'{"name":"a\0b"}',
    "brackets that nest deeply": b'{"name":"a","x":' + b"[" * 40_000 + b"]" * 40_000 + b"}",
    "braces that nest deeply": b'{"x":' * 16_000,
}
#: Invalid UTF-8: an unused byte, a surrogate, Latin-1, an overlong NUL.
NO_TEXT = [b"\xff\xfe", b"\xed\xa0\x80", b"Ay\xfee", b"\xc0\x80"]
#: Unknown members of an object.
MORE = [
    '"deep":' + "[" * 100 + "]" * 100,
    '"deep":' + '{"a":' * 100 + "1" + "}" * 100,
    '"big":' + "9" * 5000 + ',"huge":1e999999',
    '"Name":"Mehmet","NAME":7,"":null,"\\u0000":"\\u0000"',
]


@pytest.fixture
async def user(service: AccountService) -> User:
    return await service.register("somebody@example.com")


def refusal(response: httpx.Response) -> tuple[int, str, list[str]]:
    """Returns status, detail and the named fields of a problem."""
    body = response.json()
    return response.status_code, body["detail"], [each["field"] for each in body.get("errors", [])]


def invalid(field: str) -> tuple[int, str, list[str]]:
    return 422, f"Invalid {field}", [field]


async def register(service: AccountService, **given: Any) -> httpx.Response:
    return await service.client.post(REGISTER, json={**AYSE, **given})


async def log_in(service: AccountService, **given: Any) -> httpx.Response:
    return await service.client.post(LOGIN, json={"email": AYSE["email"], "password": PASSWORD, **given})


async def test_what_is_within_bounds_registers_and_logs_in(service: AccountService) -> None:
    """Values within bounds register and log in, and come back trimmed."""
    for number, given in enumerate(GOOD):
        body = {**AYSE, "email": f"{number}@example.com", **given}
        response = await register(service, **body)
        assert response.status_code == 201, given
        shown = response.json()["user"]
        assert (shown["name"], shown["email"]) == (body["name"].strip(), body["email"].lower())
        assert (await log_in(service, email=body["email"], password=body["password"])).status_code == 200


async def test_what_is_out_of_bounds_is_named(service: AccountService) -> None:
    """A value out of bounds is 422 that names it, and registers no user."""
    bad = {
        "name": [*BAD_NAMES, *OF_OTHER_TYPES],
        "email": [*BAD_EMAILS, *NO_EMAILS, *OF_OTHER_TYPES],
        "password": [*BAD_PASSWORDS, *SHORT_PASSWORDS, *OF_OTHER_TYPES],
    }
    for field, values in bad.items():
        for value in values:
            response = await register(service, **{field: value})
            assert (refusal(response), response.json()["code"]) == (invalid(field), "invalid"), value
    assert (await log_in(service)).status_code == 401


async def test_credentials_out_of_bounds_are_named(service: AccountService) -> None:
    """Credentials out of bounds are 422, without a look-up."""
    bad = {"email": [*BAD_EMAILS, *OF_OTHER_TYPES], "password": [*BAD_PASSWORDS, *OF_OTHER_TYPES]}
    for field, values in bad.items():
        for value in values:
            assert refusal(await log_in(service, **{field: value})) == invalid(field), value


async def test_a_bad_name_changes_nothing(user: User) -> None:
    """A bad name in the profile is 422 and changes nothing."""
    for name in [*BAD_NAMES, *OF_OTHER_TYPES]:
        assert refusal(await user.ask("PATCH", PROFILE, json={"name": name})) == invalid("name"), name
    assert refusal(await user.ask("PATCH", PROFILE, json={})) == invalid("name")
    assert (await user.get(PROFILE)).json()["name"] == "Ayşe"


async def test_what_is_missing_is_named(service: AccountService) -> None:
    """A missing field is 422 that names it."""
    for field in AYSE:
        body = {name: value for name, value in AYSE.items() if name != field}
        assert refusal(await service.client.post(REGISTER, json=body)) == invalid(field)


async def test_what_is_no_json_is_malformed(service: AccountService, user: User) -> None:
    """Malformed JSON is 400 on every route with a body."""
    for name, body in MALFORMED.items():
        for response in [
            await service.client.post(REGISTER, content=body),
            await service.client.post(LOGIN, content=body),
            await user.ask("PATCH", PROFILE, content=body),
        ]:
            assert refusal(response) == (400, "Malformed JSON", []), name
            assert response.json()["code"] == "malformed_json"


async def test_bytes_that_are_no_text_are_malformed(service: AccountService) -> None:
    """Invalid UTF-8 is malformed JSON."""
    for field in AYSE:
        for raw in NO_TEXT:
            body = json.dumps({**AYSE, field: "?"}).encode().replace(b"?", raw)
            response = await service.client.post(REGISTER, content=body)
            assert refusal(response) == (400, "Malformed JSON", []), raw


async def test_what_is_no_object_is_invalid(service: AccountService, user: User) -> None:
    """JSON that is not an object is 422."""
    for body in (b"[]", b"null", b"1", b'"text"', b"true", b'[{"name":"a"}]'):
        for response in [
            await service.client.post(REGISTER, content=body),
            await service.client.post(LOGIN, content=body),
            await user.ask("PATCH", PROFILE, content=body),
        ]:
            assert refusal(response) == invalid("body"), body


async def test_what_nobody_asked_for_is_passed_over(service: AccountService) -> None:
    """Unknown members are ignored; of duplicate fields the last counts."""
    for number, more in enumerate(MORE):
        given = f'"name":"Fatma","email":"{number}@example.com","password":"{PASSWORD}","name":"Ayşe"'
        response = await service.client.post(REGISTER, content=f"{{{given},{more}}}".encode())
        assert response.status_code == 201, more
        assert response.json()["user"]["name"] == "Ayşe"


async def test_a_body_has_a_bound(user: User) -> None:
    """A body has at most 80 KB, with or without Content-Length."""
    fits = b'{"name":"Fatma"}'.ljust(80 * 1024)

    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(fits), 8192):
            yield fits[start : start + 8192]
        yield b" "

    assert (await user.ask("PATCH", PROFILE, content=fits)).status_code == 200
    for body in (fits + b" ", chunks()):
        response = await user.ask("PATCH", PROFILE, content=body)
        assert refusal(response) == (413, "Payload Too Large", [])


async def test_an_email_is_the_same_from_every_keyboard(service: AccountService) -> None:
    """Composed and decomposed spellings of an email are one email."""
    composed, decomposed = (unicodedata.normalize(form, "ŞÜKRÜ@örnek.com.tr") for form in ("NFC", "NFD"))
    registered = await register(service, email=decomposed)
    assert (registered.status_code, registered.json()["user"]["email"]) == (201, composed.lower())
    assert (await register(service, email=composed)).status_code == 409
    assert (await log_in(service, email=composed)).status_code == 200


async def test_a_password_is_the_same_from_every_keyboard(service: AccountService) -> None:
    """Composed and decomposed spellings of a password are one password."""
    for length in (8, 100, 128):
        forms = [unicodedata.normalize(form, "é" * length) for form in ("NFC", "NFD")]
        for number, (one, other) in enumerate([forms, forms[::-1]]):
            email = f"{number}.{length}@example.com"
            assert (await register(service, email=email, password=one)).status_code == 201
            assert (await log_in(service, email=email, password=other)).status_code == 200
