"""docs/configuration.md has every setting, secret and command, as the code defines it."""

from docs.settings_page import PAGE, with_tables


def test_the_tables_are_those_of_the_code() -> None:
    """The tables equal the code's names, defaults, meanings and choices; `just docs-settings` writes them."""
    text = PAGE.read_text("utf-8")
    assert with_tables(text) == text, "run `just docs-settings`"
