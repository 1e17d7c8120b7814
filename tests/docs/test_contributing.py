"""CONTRIBUTING.md shows tests as they are."""

from docs.pages import ROOT, blocks


def test_the_test_that_it_shows_is_one_of_ours() -> None:
    """Word for word."""
    [shown] = blocks((ROOT / "CONTRIBUTING.md").read_text("utf-8"), "python")
    files = (ROOT / "tests").rglob("test_*.py")
    assert any(shown in path.read_text("utf-8") for path in files)
