"""TLS to Redis and PostgreSQL with the URLs of docs/operating.md; needs openssl for the certificates."""

from pathlib import Path

import pytest

from deploy.tls_front import Certificate, postgres_over_tls, redis_over_tls
from quotecast.bus.redis import RedisBus
from quotecast.database import migrations
from quotecast.database.database import Database
from quotecast.database.tables import User
from quotecast.errors import BusError
from quotecast.limits.window import Window
from quotecast.local import probes
from quotecast.market.feeds import Feed
from support.made.market import state_of, stock
from support.servers.processes import Postgres, Valkey

pytestmark = pytest.mark.deploy


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return Certificate(tmp_path)


async def test_the_bus_and_the_limiter_speak_tls(own_valkey: Valkey, certificate: Certificate) -> None:
    """Bus and limiter accept the certificate of an authority that the URL names."""
    async with redis_over_tls(own_valkey.socket, certificate) as port:
        url = f"rediss://127.0.0.1:{port}/0?ssl_ca_certs={certificate.path}"
        assert (await probes.cache(url)).startswith("Valkey")
        bus = RedisBus(url, "test")
        state = state_of([stock("AAPL")])
        assert await bus.hold(Feed.STOCKS, "me", 10_000)
        async with bus.listen([Feed.STOCKS]) as messages:
            assert await bus.begin("me", state)
            assert await anext(messages) is not None
        assert await bus.load(Feed.STOCKS) == state
        await bus.close()
        async with Window(url, prefix="test", budget=10) as window:
            assert (await window.check("somebody", 1)).admitted
            assert not (await window.check("somebody", 1)).admitted
            assert window.statistics().fallbacks == 0


async def test_a_redis_of_an_unknown_authority_is_rejected(
    own_valkey: Valkey, certificate: Certificate
) -> None:
    """The client rejects a certificate of an unknown authority."""
    async with redis_over_tls(own_valkey.socket, certificate) as port:
        bus = RedisBus(f"rediss://127.0.0.1:{port}/0", "test")
        with pytest.raises(BusError, match="certificate verify failed"):
            await bus.load(Feed.STOCKS)
        await bus.close()


async def test_accounts_speak_tls(own_postgres: Postgres, certificate: Certificate) -> None:
    """Migrations and queries work over TLS; `verify-full` checks authority and name."""
    async with postgres_over_tls(own_postgres.socket, certificate) as port:
        options = f"sslmode=verify-full&sslrootcert={certificate.path}"
        url = f"postgresql://quotecast@127.0.0.1:{port}/postgres?{options}"
        assert (await probes.postgres(url)).startswith("PostgreSQL")
        await migrations.apply(url)
        async with Database(url, pool_size=1) as database:
            assert await database.transaction(lambda run: run(User.select(User.id))) == []


async def test_a_postgresql_of_an_unknown_authority_is_rejected(
    own_postgres: Postgres, certificate: Certificate, tmp_path: Path
) -> None:
    """The client rejects a server whose certificate does not verify, and reports the reason."""
    (tmp_path / "other").mkdir()
    other = Certificate(tmp_path / "other")
    async with postgres_over_tls(own_postgres.socket, certificate) as port:
        options = f"sslmode=verify-full&sslrootcert={other.path}"
        with pytest.raises(probes.NoAnswer, match="certificate verify failed"):
            await probes.postgres(f"postgresql://quotecast@127.0.0.1:{port}/postgres?{options}")
