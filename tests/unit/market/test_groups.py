"""Groups of symbols."""

from quotecast.market.groups import groups, groups_of_currency, groups_of_stock
from support.made.factories import doviz
from support.made.market import stock


def test_stocks_belong_to_their_sector() -> None:
    """Crypto pairs belong to no group."""
    quotes = {each.key: each for each in (stock("A"), stock("B"), stock("C", sector="Materials"))}
    assert groups(quotes, groups_of_stock) == {"sector:Energy": {"A", "B"}, "sector:Materials": {"C"}}


def test_doviz_belongs_to_its_category_and_its_bank() -> None:
    """A symbol with a dash is a bank's only if its second part is an instrument by itself."""
    symbols = {"USD": "currency", "akbank-USD": "currency", "gram-altin": "gold", "ziraat-gram-altin": "gold"}
    symbols |= {"gumus": "silver", "ons": "gold", "ons-gumus": "silver"}
    quotes = {symbol: doviz(symbol, category) for symbol, category in symbols.items()}
    made = groups(quotes, groups_of_currency)
    assert {name for name in made if name.startswith("bank:")} == {"bank:akbank", "bank:ziraat"}
    assert made["bank:ziraat"] == {"ziraat-gram-altin"}
    assert made["category:gold"] == {"gram-altin", "ziraat-gram-altin", "ons"}
