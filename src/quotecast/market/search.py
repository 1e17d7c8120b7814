"""The ranked search for instruments by symbol, name and alias."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import Final

from msgspec import Struct

from quotecast.market.folding import fold, parts_of, words_of
from quotecast.market.listings import Listing, SearchResult
from quotecast.market.vocabulary import Vocabulary

#: Words of a query that count; the search ignores the others.
MAX_WORDS: Final = 8
#: Listings that the search for a part of a word looks at.
MAX_SCANNED: Final = 1000

weight_of: Final[Callable[[Listing], float]] = attrgetter("weight")


class SearchQuery(Struct, frozen=True):
    """A folded query: its distinct words, the longest first, and all of it without blanks and punctuation."""

    words: tuple[str, ...]
    joined: str

    @classmethod
    def of(cls, text: str) -> "SearchQuery":
        """Returns the query of a text."""
        parts = parts_of(fold(text))
        distinct = list(dict.fromkeys(parts))[:MAX_WORDS]
        return cls(tuple(sorted(distinct, key=len, reverse=True)), "".join(parts))


class Index:
    """The listings of one feed. Add them all, the least weight first, then `finish`."""

    def __init__(self) -> None:
        self._listings: list[Listing] = []
        self._symbols = Vocabulary()
        self._symbol_parts = Vocabulary()
        self._words = Vocabulary()
        self._texts: list[str] = []
        self._whole = ""
        self._starts: list[int] = []

    def add(self, listings: Iterable[Listing]) -> None:
        """Adds some listings."""
        for listing in listings:
            number = len(self._listings)
            self._listings.append(listing)
            symbols = ["".join(parts_of(symbol)) for symbol in fold(listing.symbols).split()]
            for symbol in symbols:
                self._symbols.add(symbol, number)
            for part in (*symbols, *fold(listing.parts).split()):
                self._symbol_parts.add(part, number)
            text = fold(f"{listing.symbols} {listing.text}")
            for word in words_of(text):
                self._words.add(word, number)
            self._texts.append(text)

    def finish(self) -> None:
        """Prepares the search for parts of words."""
        self._whole = "\n".join(self._texts)
        lengths = (len(text) + 1 for text in self._texts)
        self._starts = [*accumulate(lengths, initial=0)]

    def listing(self, number: int) -> Listing:
        """Returns a listing by its number; the numbers are in the order of weights."""
        return self._listings[number]

    def first(self, count: int) -> Sequence[Listing]:
        """Returns the best-known listings."""
        return self._listings[:count]

    def exact_symbol(self, query: SearchQuery) -> Collection[int]:
        """Finds listings with the query for a symbol: `btc usdt` is `BTC/USDT`."""
        return self._symbols.having(query.joined)

    def symbol_beginning(self, query: SearchQuery) -> Collection[int]:
        """Finds listings with a symbol, or a part of one, that begins with the query."""
        return self._symbol_parts.beginning(query.joined)

    def whole_words(self, query: SearchQuery) -> Collection[int]:
        """Finds listings that have each word, or the query as one word."""
        return self._all(query, self._words.having) | self._words.having(query.joined)

    def word_beginnings(self, query: SearchQuery) -> Collection[int]:
        """Finds listings that have a word that begins with each word, or with the query as one word."""
        return self._all(query, self._words.beginning) | self._words.beginning(query.joined)

    def word_parts(self, query: SearchQuery) -> Collection[int]:
        """Finds listings whose texts contain each word."""
        first, *others = query.words
        found: list[int] = []
        at = self._whole.find(first)
        for _ in range(MAX_SCANNED):
            if at < 0:
                break
            number = bisect_right(self._starts, at) - 1
            if all(other in self._texts[number] for other in others):
                found.append(number)
            at = self._whole.find(first, self._starts[number] + len(self._texts[number]))
        return found

    def mistyped(self, query: SearchQuery) -> Collection[int]:
        """Finds listings like `word_beginnings`, with at most one typing mistake in each longer word."""
        return self._all(query, lambda word: self._words.beginning(word) or self._words.near(word))

    def _all(self, query: SearchQuery, matching: Callable[[str], frozenset[int]]) -> frozenset[int]:
        found: frozenset[int] | None = None
        for word in query.words:
            found = matching(word) if found is None else found & matching(word)
            if not found:
                break
        return found or frozenset()


Rank = Callable[[Index, SearchQuery], Collection[int]]
_RANKS: Final[Sequence[Rank]] = (
    Index.exact_symbol,
    Index.symbol_beginning,
    Index.whole_words,
    Index.word_beginnings,
    Index.word_parts,
)


def search(indexes: Sequence[Index], text: str, limit: int) -> list[SearchResult]:
    """Returns the best matches: exact symbols first, then beginnings of symbols, words, parts of words.

    Among equal matches, well-known instruments come first, then those with more turnover, banks last. Typing
    mistakes count only when nothing matches. An empty text matches everything.
    """
    if not text.strip():
        first = (each for index in indexes for each in index.first(limit))
        return [each.result for each in sorted(first, key=weight_of)[:limit]]
    query = SearchQuery.of(text)
    if not query.words:
        return []
    found: list[Listing] = []
    seen: list[set[int]] = [set() for _ in indexes]
    for rank in _RANKS:
        if len(found) < limit:
            found += _ranked(indexes, rank, query, limit, seen)
    found = found or _ranked(indexes, Index.mistyped, query, limit, seen)
    return [each.result for each in found[:limit]]


def _ranked(
    indexes: Sequence[Index], rank: Rank, query: SearchQuery, limit: int, seen: Sequence[set[int]]
) -> list[Listing]:
    """Returns the matches of one rank in order, at most `limit` of each index, and adds them to `seen`."""
    found: list[Listing] = []
    for index, known in zip(indexes, seen, strict=True):
        best = sorted({*rank(index, query)} - known)[:limit]
        known.update(best)
        found += map(index.listing, best)
    return sorted(found, key=weight_of)
