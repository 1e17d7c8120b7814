"""Invented news about the simulated stocks; every article says that it is invented."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple, TypeVar

from quotecast.market.codec import iso_utc
from quotecast.market.news import Article, NewsImage
from quotecast.market.reference import Stock, stocks
from quotecast.simulation.market.noise import fractions, key_of, noise
from quotecast.simulation.market.quoters import NAME
from quotecast.simulation.market.scenarios.schedule import Schedule

T = TypeVar("T")

#: Seconds of a slot; each slot has one article.
SLOT_SECONDS: Final = 240
#: Time that `between` covers at most.
_MOST_SECONDS: Final = 31 * 86_400
#: Articles in an answer, the newest ones.
COUNT: Final = 500
SOURCE: Final = "Simulator Newswire"

_KIND: Final = 1
#: Percentage of articles with each feature.
_WITH_PEER, _WITH_IMAGES, _WITH_URL, _REVISED = 30, 20, 80, 25
#: Maximum time between an article and its revision.
_REVISION_SECONDS: Final = 900

_AUTHORS: Final = ("Ada Example", "Basil Placeholder", "Cleo Sample", "Dorian Mock", "Edda Fiction")
_SIZES: Final = ("thumb", "small", "large")
_TOPICS: Final = {
    "Communication Services": ("subscriber numbers", "streaming hours", "network upgrades"),
    "Consumer Discretionary": ("holiday orders", "store openings", "online sales"),
    "Consumer Staples": ("shelf prices", "harvest forecasts", "package sizes"),
    "Energy": ("refining margins", "pipeline capacity", "drilling plans"),
    "Financials": ("loan growth", "trading revenue", "branch plans"),
    "Health Care": ("trial enrolment", "device approvals", "hospital orders"),
    "Industrials": ("order backlogs", "factory automation", "freight volumes"),
    "Information Technology": ("chip demand", "cloud contracts", "software renewals"),
    "Materials": ("ore grades", "recycling rates", "input costs"),
    "Real Estate": ("occupancy rates", "lease renewals", "building plans"),
    "Utilities": ("grid investment", "power demand", "rate reviews"),
}
_OTHER_TOPICS: Final = ("staff numbers", "supply chains", "office plans")


class _Template(NamedTuple):
    headline: str
    summary: str


_ALONE: Final = (
    _Template(
        "{name} talks about {topic} at made-up conference",
        "The conference that {name} spoke at exists in a simulation only; so do its {topic}.",
    ),
    _Template(
        "Imaginary survey ranks {name} first for {topic}",
        "Nobody was asked and nobody answered: the survey of {sector} companies is invented.",
    ),
    _Template(
        "Simulated investors weigh {topic} at {name}",
        "Prices of {ticker} come from a random walk, and this story about its {topic} from a template.",
    ),
    _Template(
        "{name} keeps fictional outlook for {topic}",
        "The outlook is as fictional as the news agency that reports it.",
    ),
    _Template(
        "Three invented questions about {topic} for {name}",
        "How much, how soon, and for whom: the simulator asks {name}, and makes up the answers too.",
    ),
)
_TOGETHER: Final = (
    _Template(
        "{name} and {peer} move together in simulated trading",
        "Both are {sector} stocks, and the simulator lets a sector's prices go the same way.",
    ),
    _Template(
        "Pretend analysts compare {topic} of {name} and {peer}",
        "The comparison of {ticker} with its peer is made up from a template.",
    ),
)


class SimulatorNews:
    """Articles, a pure function of seed and time; `clock` returns Unix time."""

    name = NAME
    every_seconds = 15.0

    def __init__(self, seed: int, clock: Callable[[], float], schedule: Schedule | None = None) -> None:
        self._key = key_of(seed, "news")
        self._clock = clock
        self._schedule = schedule or Schedule()
        #: Final articles by slot, cached because generating all of them takes 50 ms.
        self._final: dict[int, Article] = {}

    async def news(self) -> list[Article]:
        """See NewsProvider."""
        return self.newest()

    def newest(self) -> list[Article]:
        """Returns the newest articles, newest first."""
        now = self._clock()
        self._schedule.admit(int(now * 1000))
        slot = int(now // SLOT_SECONDS)
        # The current slot's article may not exist yet.
        numbers = range(slot, slot - COUNT - 1, -1)
        articles = {number: article for number in numbers if (article := self._article_at(number, now))}
        self._final = {number: each for number, each in articles.items() if _is_final(number, now)}
        return [*articles.values()][:COUNT]

    def between(self, first: int, last: int) -> list[Article]:
        """Returns the articles between two moments (Unix seconds), newest first; of 31 days at most."""
        now = self._clock()
        end = int(min(last, now))
        slots = range(end // SLOT_SECONDS, max(first, end - _MOST_SECONDS) // SLOT_SECONDS - 1, -1)
        found = (self._article_at(number, now) for number in slots)
        earliest, latest = iso_utc(first), iso_utc(end)
        return [each for each in found if each and earliest <= each.created_at <= latest]

    def _article_at(self, number: int, now: float) -> Article | None:
        cached = self._final.get(number) if _is_final(number, now) else None
        return cached or self._article(number, now)

    def _article(self, number: int, now: float) -> Article | None:
        """Returns a slot's article at Unix time `now`; None before its publication."""
        chances = iter(fractions(noise(self._key, number, _KIND, 32)))
        created = number * SLOT_SECONDS + int(next(chances) * SLOT_SECONDS)
        if created > now:
            return None
        stock = _pick(stocks(), chances)
        peers = [each for each in _stocks_by_sector()[stock.sector] if each is not stock]
        peer = _pick(peers, chances) if _draws(_WITH_PEER, chances) and peers else None
        story = _pick(_TOGETHER if peer else _ALONE, chances)
        fields = {
            "name": stock.name,
            "ticker": stock.ticker,
            "sector": stock.sector,
            "topic": _pick(_TOPICS.get(stock.sector, _OTHER_TOPICS), chances),
            "peer": peer.name if peer else "",
        }
        return Article(
            id=str(number),
            headline=story.headline.format_map(fields),
            summary=story.summary.format_map(fields),
            author=_pick(_AUTHORS, chances),
            source=SOURCE,
            url=f"https://example.com/news/{number}" if _draws(_WITH_URL, chances) else None,
            images=[NewsImage(size, f"https://example.com/images/{number}-{size}.png") for size in _SIZES]
            if _draws(_WITH_IMAGES, chances)
            else [],
            symbols=[stock.ticker, *([peer.ticker] if peer else [])],
            created_at=iso_utc(created),
            updated_at=iso_utc(_updated_at(created, now, chances)),
        )


def _is_final(number: int, now: float) -> bool:
    """Returns whether the slot's article can no longer change."""
    return now >= (number + 1) * SLOT_SECONDS + _REVISION_SECONDS


def _updated_at(created: int, now: float, chances: Iterator[float]) -> int:
    revised = created + 60 + int(next(chances) * (_REVISION_SECONDS - 60))
    return revised if _draws(_REVISED, chances) and revised <= now else created


def _draws(percent: int, chances: Iterator[float]) -> bool:
    return next(chances) * 100 < percent


def _pick(choices: Sequence[T], chances: Iterator[float]) -> T:
    return choices[int(next(chances) * len(choices))]


@cache
def _stocks_by_sector() -> dict[str, list[Stock]]:
    sectors: dict[str, list[Stock]] = {}
    for stock in stocks():
        sectors.setdefault(stock.sector, []).append(stock)
    return sectors
