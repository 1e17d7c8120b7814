"""Validation and normalisation of names, emails and passwords, from any source."""

import unicodedata
from typing import Final

from quotecast.errors import InvalidValue
from quotecast.users.passwords import compose

MAX_NAME: Final = 100
MAX_EMAIL: Final = 254
MIN_PASSWORD: Final = 8
MAX_PASSWORD: Final = 128
MAX_NOTE: Final = 200

#: What begins an internationalised label of a domain in ASCII (RFC 5890).
_ENCODED: Final = "xn--"


def name(text: str, most: int = MAX_NAME) -> str:
    """Returns a valid name without the blanks around it. Raises InvalidValue."""
    return _valid_text("name", text.strip(), 1, most)


def note(text: str) -> str:
    """Returns a valid note, which may be empty, without the blanks around it. Raises InvalidValue."""
    return _valid_text("note", text.strip(), 0, MAX_NOTE)


def email(text: str) -> str:
    """Returns a valid email address in its stored form. Raises InvalidValue."""
    address = lower_email(text)
    local, _, domain = address.rpartition("@")
    if not local or not domain or any(character.isspace() for character in address):
        raise InvalidValue("email", "Must be an email address")
    return address


def lower_email(text: str) -> str:
    """Returns text in the stored form of emails: trimmed, lower case, composed (NFC), with a Unicode domain.

    Raises InvalidValue.
    """
    # Composing takes quadratic time; a text that is cut here is too long in any case.
    address = compose(compose(text.strip()[: 4 * MAX_EMAIL + 1]).lower())
    local, at, domain = address.rpartition("@")
    if _ENCODED in domain:
        address = local + at + compose(".".join(map(_unicode_label, domain.split("."))).lower())
    return _valid_text("email", address, 1, MAX_EMAIL)


def _unicode_label(label: str) -> str:
    """Returns a label of a domain in Unicode: `xn--mnchen-3ya` is `münchen` (RFC 3492).

    A label without such a form, or with one that no screen shows, stays as it is.
    """
    if not label.startswith(_ENCODED):
        return label
    try:
        decoded = label.removeprefix(_ENCODED).encode("ascii").decode("punycode")
    except UnicodeError:
        return label
    return decoded if decoded.isprintable() else label


def password(text: str, least: int = MIN_PASSWORD, field: str = "password") -> str:
    """Returns a valid password in the form in which it is hashed. Raises InvalidValue."""
    # At most four characters compose to one: a text that is cut here is too long in any case.
    composed = compose(text[: 4 * MAX_PASSWORD + 1])
    _check_length(field, composed, least, MAX_PASSWORD)
    _check_unicode(field, composed)
    return composed


def _valid_text(field: str, text: str, least: int, most: int) -> str:
    """Returns a text of a valid length without control characters. Raises InvalidValue."""
    _check_length(field, text, least, most)
    if any(unicodedata.category(character) == "Cc" for character in text):
        raise InvalidValue(field, "Must not have control characters")
    _check_unicode(field, text)
    return text


def _check_length(field: str, text: str, least: int, most: int) -> None:
    if len(text) < least:
        raise InvalidValue(
            field, "Must not be empty" if least == 1 else f"Must have at least {least} characters"
        )
    if len(text) > most:
        raise InvalidValue(field, f"Must have at most {most} characters")


def _check_unicode(field: str, text: str) -> None:
    # Python decodes bytes of a command line or an input that are not UTF-8 to lone surrogates.
    if any(unicodedata.category(character) == "Cs" for character in text):
        raise InvalidValue(field, "Must be UTF-8")
