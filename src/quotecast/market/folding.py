"""Folded text: comparisons of it ignore letter case, accents, Turkish letters and punctuation."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

_PART: Final = re.compile(r"[^\W_]+")


def fold(text: str) -> str:
    """Returns the text without letter case and accents: `İş Bankası` becomes `is bankasi`."""
    if text.isascii():
        return text.lower()
    # The upper case of a dotless i is I, which folds to a dotted one.
    parts = unicodedata.normalize("NFKD", text).casefold().replace("ı", "i")
    return "".join(part for part in parts if not unicodedata.combining(part))


def parts_of(folded: str) -> list[str]:
    """Returns the runs of letters and digits of a folded text."""
    return _PART.findall(folded)


def words_of(folded: str) -> Iterator[str]:
    """Yields the words of a folded text; one with punctuation also joined: `coca`, `cola`, `cocacola`."""
    for word in folded.split():
        parts = parts_of(word)
        yield from parts
        if len(parts) > 1:
            yield "".join(parts)
