"""What every test of this folder attacks."""

from collections.abc import Iterator

import pytest

from support.whole_service import Whole, whole_service


@pytest.fixture(scope="package")
def whole() -> Iterator[Whole]:
    """The service as processes; nothing here may disturb it."""
    with whole_service() as running:
        yield running
