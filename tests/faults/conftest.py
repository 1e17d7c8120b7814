"""The whole service, for tests of faults."""

from collections.abc import Iterator

import pytest

from support.whole_service import Whole, whole_service


@pytest.fixture(scope="module")
def whole() -> Iterator[Whole]:
    """Yields one service for all tests of a module: each leaves it healthy."""
    with whole_service() as running:
        yield running
