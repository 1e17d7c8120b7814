"""The whole service to be disturbed."""

from collections.abc import Iterator

import pytest

from support.whole_service import Whole, whole_service


@pytest.fixture(scope="module")
def whole() -> Iterator[Whole]:
    """Shared by the rows of one module: each leaves it as whole as it found it."""
    with whole_service() as running:
        yield running
