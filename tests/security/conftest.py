"""The service under attack."""

from collections.abc import Iterator

import pytest

from support.servers.whole_service import Whole, whole_service


@pytest.fixture(scope="package")
def whole() -> Iterator[Whole]:
    """Runs the service as processes; tests of this folder leave it healthy."""
    with whole_service() as running:
        yield running
