"""Account routes and their user, for tests that need no service of their own."""

from collections.abc import AsyncIterator

import pytest

from support.stages.account_service import AccountService, User, account_service
from support.stages.caching import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def service(accounts_url: str, clock: Clock) -> AsyncIterator[AccountService]:
    async with account_service(accounts_url, clock=clock) as service:
        yield service


@pytest.fixture
async def user(service: AccountService) -> User:
    return await service.register()
