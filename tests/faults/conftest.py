"""The whole service, for tests of faults."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from support.servers.whole_service import Whole, whole_service

FOLDER: Final = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test of this folder as slow."""
    for item in items:
        if item.path.is_relative_to(FOLDER):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="module")
def whole() -> Iterator[Whole]:
    """Yields one service for all tests of a module: each leaves it healthy."""
    with whole_service() as running:
        yield running
