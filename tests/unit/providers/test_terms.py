"""What the terms of providers allow."""

from datetime import date

import pytest

from quotecast.providers.offers import BUILT_IN, TERMS, terms_of

#: Providers whose data has no terms of its own.
OWN = ("simulator", "replay", "history", "quotecast")


@pytest.mark.parametrize("name", [*BUILT_IN, "genelpara"])
def test_every_provider_has_terms_with_a_source(name: str) -> None:
    """Those of a vendor have an address, and the ISO day on which somebody read them."""
    terms = TERMS[name]
    assert terms.summary
    if name in OWN:
        assert (terms.source, terms.read) == (None, None)
    else:
        assert str(terms.source).startswith("https://")
        assert date.fromisoformat(str(terms.read)).isoformat() == terms.read


def test_whatever_is_restricted_has_a_source() -> None:
    """Without one a reader could not know whether it still holds."""
    for terms in TERMS.values():
        restricted = {terms.show, terms.store, terms.redistribute} & {"no", "agreement"}
        assert not restricted or terms.source


def test_an_unknown_provider_has_no_terms() -> None:
    """A feed of another installation may name a provider whose package is missing here."""
    assert terms_of("acme") is None
    assert terms_of("") is None
