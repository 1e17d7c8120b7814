"""What names, emails and passwords may be, wherever they come from."""

import unicodedata
from typing import Final

from quotecast.accounts.passwords import compose
from quotecast.errors import InvalidValue

MAX_NAME: Final = 100
MAX_EMAIL: Final = 254
MIN_PASSWORD: Final = 8
MAX_PASSWORD: Final = 128


def name(text: str) -> str:
    """A name without the blanks around it. Raises InvalidValue."""
    trimmed = text.strip()
    _check_length("name", trimmed, 1, MAX_NAME)
    _check_characters("name", trimmed)
    return trimmed


def email(text: str) -> str:
    """An email address in the one form in which it is kept. Raises InvalidValue."""
    address = lower_email(text)
    local, _, domain = address.rpartition("@")
    if not local or not domain or any(character.isspace() for character in address):
        raise InvalidValue("email", "Not an email address")
    return address


def lower_email(text: str) -> str:
    """What may be somebody's email, in that form: lower case, and composed (NFC). Raises InvalidValue."""
    # Composing takes the square of the length; what is cut off here was too long in any case.
    address = compose(compose(text.strip()[: 4 * MAX_EMAIL + 1]).lower())
    _check_length("email", address, 1, MAX_EMAIL)
    _check_characters("email", address)
    return address


def password(text: str, least: int = MIN_PASSWORD) -> str:
    """A password in the one form in which it is hashed. Raises InvalidValue."""
    # A character is composed of four at most: what is cut off here was too long in any case.
    chosen = compose(text[: 4 * MAX_PASSWORD + 1])
    _check_length("password", chosen, least, MAX_PASSWORD)
    _check_unicode("password", chosen)
    return chosen


def _check_length(field: str, text: str, least: int, most: int) -> None:
    if len(text) < least:
        raise InvalidValue(field, "Must not be empty" if least == 1 else f"At least {least} characters")
    if len(text) > most:
        raise InvalidValue(field, f"At most {most} characters")


def _check_characters(field: str, text: str) -> None:
    if any(unicodedata.category(character) == "Cc" for character in text):
        raise InvalidValue(field, "No control characters")
    _check_unicode(field, text)


def _check_unicode(field: str, text: str) -> None:
    # What of a command line or an input is no text in UTF-8, Python hands on as lone surrogates.
    if any(unicodedata.category(character) == "Cs" for character in text):
        raise InvalidValue(field, "Not UTF-8")
