"""The words of an index, and the numbers of the listings that have each."""

from collections.abc import Iterator
from string import ascii_lowercase, digits
from typing import Final

#: Letters of the shortest word in which a search forgives a mistake, and of the longest.
_FORGIVEN: Final = range(5, 21)
_LETTERS: Final = ascii_lowercase + digits


class Vocabulary:
    """Words and the numbers of listings. Add all words before the first look-up."""

    def __init__(self) -> None:
        # Most words have one number; a list for each would be work for the garbage collector.
        self._numbers: dict[str, int | list[int]] = {}
        # Words by their first two letters.
        self._words: dict[str, list[str]] = {}
        self._short: dict[str, frozenset[int]] = {}

    def add(self, word: str, number: int) -> None:
        """Adds a listing's word."""
        numbers = self._numbers.get(word)
        if numbers is None:
            self._numbers[word] = number
            self._words.setdefault(word[:2], []).append(word)
        elif isinstance(numbers, int):
            if numbers != number:
                self._numbers[word] = [numbers, number]
        elif numbers[-1] != number:
            numbers.append(number)

    def having(self, word: str) -> frozenset[int]:
        """Returns the numbers of the listings with the word."""
        return self._union(iter([word] if word in self._numbers else []))

    def beginning(self, prefix: str) -> frozenset[int]:
        """Returns the numbers of the listings with a word that begins with the prefix."""
        if len(prefix) > 2:
            return self._union(word for word in self._words.get(prefix[:2], ()) if word.startswith(prefix))
        # Many listings have such a word: their union takes a millisecond.
        if prefix not in self._short:
            starts = [prefix] if len(prefix) == 2 else [each for each in self._words if each[0] == prefix]
            if not any(start in self._words for start in starts):
                return frozenset()
            self._short[prefix] = self._union(word for start in starts for word in self._words[start])
        return self._short[prefix]

    def near(self, word: str) -> frozenset[int]:
        """Returns the numbers of the listings with a word that differs by one typing mistake.

        A mistake is a letter that is missing, superfluous, wrong, or swapped with the next one.
        """
        if len(word) not in _FORGIVEN:
            return frozenset()
        return self._union(each for each in edits(word) if each in self._numbers)

    def _union(self, words: Iterator[str]) -> frozenset[int]:
        found: set[int] = set()
        for word in words:
            numbers = self._numbers[word]
            if isinstance(numbers, int):
                found.add(numbers)
            else:
                found.update(numbers)
        return frozenset(found)


def edits(word: str, letters: str = _LETTERS) -> Iterator[str]:
    """Yields the words that differ by one typing mistake."""
    for at in range(len(word) + 1):
        head, tail = word[:at], word[at:]
        yield head + tail[1:]
        yield head + tail[1:2] + tail[:1] + tail[2:]
        for letter in letters:
            yield head + letter + tail
            yield head + letter + tail[1:]
