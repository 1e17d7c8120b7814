"""Former symbols and the present ones."""

from datetime import date

import pytest

from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.market.renames import Rename, formers_of, present_symbols, well_known_renames


def renames(text: str) -> list[Rename]:
    """Returns `A>B` and so on as renames, each a year after the one before it."""
    pairs = [each.split(">") for each in text.split()]
    return [
        Rename(former=former, symbol=symbol, day=date(2000 + year, 1, 3))
        for year, (former, symbol) in enumerate(pairs)
    ]


@pytest.mark.parametrize(
    ("history", "present"),
    [
        ("FB>META", {"FB": "META"}),
        # Of a chain each symbol means the last one.
        ("A>B B>C", {"A": "C", "B": "C"}),
        # Back again: the first symbol is the present one.
        ("A>B B>A", {"B": "A"}),
        # The symbol went to another company, whose former one it is not.
        ("META>METV FB>META", {"FB": "META"}),
        ("A>B C>A", {"C": "A"}),
        # The last one to have a former symbol counts.
        ("A>B C>A A>D", {"A": "D", "C": "D"}),
        # The first company lost B without a rename.
        ("A>B C>B", {"C": "B"}),
        ("Z>A A>B C>B", {"C": "B"}),
        # Two sources tell of one rename.
        ("A>B B>C B>C", {"A": "C", "B": "C"}),
        # The name of the company changed alone.
        ("A>B B>B", {"A": "B"}),
        ("", {}),
    ],
)
def test_a_former_symbol_means_the_present_one_of_its_last_owner(
    history: str, present: dict[str, str]
) -> None:
    assert present_symbols(renames(history)) == present
    assert present_symbols(reversed(renames(history))) == present


@pytest.mark.parametrize("order", [1, -1])
def test_a_company_may_take_a_symbol_on_the_day_that_another_gives_it_up(order: int) -> None:
    """In whatever order an upstream lists the two."""
    day = date(2016, 12, 7)
    both = [Rename(former="UA", symbol="UAA", day=day), Rename(former="UA.C", symbol="UA", day=day)]
    assert present_symbols(both[::order]) == {"UA.C": "UA"}
    later = Rename(former="UA", symbol="UB", day=date(2020, 1, 3))
    assert present_symbols([later, *both[::order]]) == {"UA.C": "UB", "UA": "UB"}


def test_a_present_symbol_has_its_former_ones() -> None:
    assert formers_of({"A": "C", "B": "C", "FB": "META"}) == {"C": "A B", "META": "FB"}


def test_renames_of_an_upstream_stand_beside_the_well_known_ones() -> None:
    mirror = Mirror(Feed.STOCKS)
    assert mirror.renames["FB"] == "META"
    later = Rename(former="META", symbol="NEXT", day=date(2027, 1, 4))
    mirror.follow_renames([later])
    assert (mirror.renames["FB"], mirror.renames["META"], mirror.renames["UTX"]) == ("NEXT", "NEXT", "RTX")
    mirror.follow_renames([])
    assert mirror.renames["FB"] == "META"
    assert Mirror(Feed.CRYPTO).renames["MATIC"] == "POL"
    assert Mirror(Feed.DOVIZ).renames == {}


def test_the_well_known_renames_are_of_the_past() -> None:
    listed = well_known_renames("stock")
    assert len({each.former for each in listed}) == len(listed)
    assert all(date(2014, 1, 1) < each.day < date(2026, 1, 1) for each in listed)
