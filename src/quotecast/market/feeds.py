"""The three feeds."""

from enum import StrEnum


class Feed(StrEnum):
    """A stream of quotes of one kind, with an epoch and a sequence of its own."""

    STOCKS = "stocks"
    CRYPTO = "crypto"
    DOVIZ = "doviz"
