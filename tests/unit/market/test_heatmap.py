"""The heatmap: stocks by sector."""

from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from quotecast.market.heatmap import HeatmapSector, HeatmapStock, heatmap_of
from quotecast.market.quotes import StockQuote
from support.made.market import stock

SHARES = {"AAPL": 300, "MSFT": 100, "XOM": 600}

changes = st.none() | st.floats(-1e3, 1e3)


@st.composite
def markets(draw: st.DrawFn) -> list[StockQuote]:
    tickers = draw(st.lists(st.sampled_from([f"T{number}" for number in range(40)]), unique=True))
    return [
        structs.replace(
            stock(ticker, price=draw(st.floats(0.01, 1e6))),
            change=draw(changes),
            change_percent=draw(changes),
            sector=draw(st.sampled_from(["Energy", "Materials", ""])),
        )
        for ticker in tickers
    ]


shares = st.dictionaries(st.sampled_from([f"T{number}" for number in range(40)]), st.integers(0, 10**11))


def tiles_of(sectors: list[HeatmapSector]) -> list[HeatmapStock]:
    return [tile for sector in sectors for tile in sector.stocks]


@given(markets(), shares)
def test_weights_are_shares_of_one(quotes: list[StockQuote], known: dict[str, int]) -> None:
    """The weights of all stocks add up to 1, those of a sector to the sector's; none is negative."""
    sectors = [*heatmap_of(quotes, known).sectors]
    weights = [tile.weight for tile in tiles_of(sectors)]
    assert fsum(weights) == pytest.approx(1 if quotes else 0, abs=1e-9)
    assert all(weight >= 0 for weight in weights)
    for sector in sectors:
        assert sector.weight == pytest.approx(fsum(tile.weight for tile in sector.stocks), abs=1e-12)


@given(markets(), shares)
def test_numbers_have_the_decimals_that_are_documented(
    quotes: list[StockQuote], known: dict[str, int]
) -> None:
    """Weights have six decimals, percentages four."""
    sectors = [*heatmap_of(quotes, known).sectors]
    weights = [sector.weight for sector in sectors] + [tile.weight for tile in tiles_of(sectors)]
    assert weights == [round(weight, 6) for weight in weights]
    changes = [sector.change_percent for sector in sectors if sector.change_percent is not None]
    assert changes == [round(change, 4) for change in changes]


@given(markets(), shares)
def test_every_stock_is_in_its_sector_once(quotes: list[StockQuote], known: dict[str, int]) -> None:
    """A stock without a sector is in `Other`; no sector is empty."""
    sectors = heatmap_of(quotes, known).sectors
    found = {(sector.sector, tile.ticker) for sector in sectors for tile in sector.stocks}
    assert found == {(quote.sector or "Other", quote.ticker) for quote in quotes}
    assert len(tiles_of([*sectors])) == len(quotes)
    assert len({sector.sector for sector in sectors}) == len(sectors)


@given(markets(), shares)
def test_the_heaviest_comes_first(quotes: list[StockQuote], known: dict[str, int]) -> None:
    """Sectors, and the stocks within each, descend by weight; names settle ties."""
    sectors = heatmap_of(quotes, known).sectors
    order = [(-sector.weight, sector.sector) for sector in sectors]
    assert order == sorted(order)
    for sector in sectors:
        order = [(-tile.weight, tile.ticker) for tile in sector.stocks]
        assert order == sorted(order)


@given(markets(), shares)
def test_every_stock_rises_falls_or_stays(quotes: list[StockQuote], known: dict[str, int]) -> None:
    """Each stock counts by the sign of its change; an unknown change counts as unchanged."""
    for sector in heatmap_of(quotes, known).sectors:
        given_changes = [tile.change for tile in sector.stocks]
        assert sector.advancers == sum(change is not None and change > 0 for change in given_changes)
        assert sector.decliners == sum(change is not None and change < 0 for change in given_changes)
        assert sector.advancers + sector.decliners + sector.unchanged == len(given_changes)


@given(markets(), shares)
def test_a_sector_moves_within_the_bounds_of_its_stocks(
    quotes: list[StockQuote], known: dict[str, int]
) -> None:
    """A sector's change is a mean of its stocks' changes, unknown only if all of those are."""
    for sector in heatmap_of(quotes, known).sectors:
        moves = [tile.change_percent for tile in sector.stocks if tile.change_percent is not None]
        if sector.change_percent is None:
            assert not moves
        else:
            assert min(moves) - 1e-4 <= sector.change_percent <= max(moves) + 1e-4


def test_a_stock_weighs_what_its_company_is_worth() -> None:
    """A weight is shares times price, divided by the sum."""
    quotes = [stock("AAPL", 2.0, sector="Tech"), stock("MSFT", 4.0, sector="Tech"), stock("XOM", 1.0)]
    heatmap = heatmap_of(quotes, SHARES)
    assert [(sector.sector, sector.weight) for sector in heatmap.sectors] == [
        ("Tech", 0.625),
        ("Energy", 0.375),
    ]
    assert [(tile.ticker, tile.weight) for tile in tiles_of([*heatmap.sectors])] == [
        ("AAPL", 0.375),
        ("MSFT", 0.25),
        ("XOM", 0.375),
    ]


def test_a_sectors_change_is_weighted() -> None:
    """A stock of triple weight counts three times; a stock with an unknown change does not count."""
    quotes = [
        structs.replace(stock("AAPL", 1.0), change_percent=1.0),
        structs.replace(stock("MSFT", 1.0), change_percent=-3.0),
        structs.replace(stock("XOM", 1.0), change_percent=None),
    ]
    (sector,) = heatmap_of(quotes, SHARES).sectors
    assert sector.change_percent == pytest.approx(0.0)
    (sector,) = heatmap_of(quotes[1:], SHARES).sectors
    assert sector.change_percent == pytest.approx(-3.0)


def test_a_stock_whose_shares_nobody_knows_weighs_as_the_lightest() -> None:
    """Its price does not matter."""
    quotes = [stock("AAPL", 1.0), stock("MSFT", 1.0), stock("NEW", 5000.0)]
    weights = {tile.ticker: tile.weight for tile in tiles_of([*heatmap_of(quotes, SHARES).sectors])}
    assert weights == {"AAPL": 0.6, "MSFT": 0.2, "NEW": 0.2}


def test_without_any_shares_all_stocks_weigh_the_same() -> None:
    quotes = [stock("AAPL", 1.0), stock("MSFT", 9.0)]
    assert {tile.weight for tile in tiles_of([*heatmap_of(quotes, {}).sectors])} == {0.5}


def test_the_last_update_is_that_of_the_newest_quote() -> None:
    """None if no quote has a timestamp."""
    early, late = "2026-11-20T15:00:00.000Z", "2026-11-20T15:00:01.000Z"
    quotes = [
        structs.replace(stock(name), timestamp=at) for name, at in (("A", late), ("B", early), ("C", None))
    ]
    assert heatmap_of(quotes, {}).last_update == late
    assert heatmap_of(quotes[2:], {}).last_update is None
