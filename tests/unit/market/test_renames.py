"""Former symbols and the present ones."""

from quotecast.market.renames import formers_of, present_symbol


def test_a_pair_has_the_present_symbol_of_its_first_asset() -> None:
    assert present_symbol("stock", "FB") == "META"
    assert present_symbol("crypto", "MATIC/USDT") == "POL/USDT"
    assert present_symbol("crypto", "BTC/MATIC") is None
    assert present_symbol("stock", "META") is present_symbol("doviz", "FB") is None
    assert formers_of("crypto", "POL") == ["MATIC"]


def test_no_present_symbol_is_a_former_one() -> None:
    """So the search for a quote ends."""
    for kind, symbols in (("stock", ("META", "XYZ", "COR", "WBD", "DOC")), ("crypto", ("POL", "BTC"))):
        for symbol in symbols:
            assert formers_of(kind, symbol)  # type: ignore[arg-type]  # a kind
            assert present_symbol(kind, symbol) is None  # type: ignore[arg-type]  # a kind
