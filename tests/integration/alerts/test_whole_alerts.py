"""An alert from its creation to a webhook and a waiting client, through a real ingest and worker."""

import asyncio

import httpx
import pytest

from fakes.receiver import Receiver
from quotecast.database import migrations
from support.runs.deadlines import scaled
from support.servers.processes import Postgres, Valkey
from support.servers.service import Service


@pytest.mark.slow
async def test_crossing_reaches_webhook_and_waiting_client(
    own_valkey: Valkey, own_postgres: Postgres
) -> None:
    """Thresholds lie around the price, a few cents apart: the simulated price crosses one with each step."""
    await migrations.apply(own_postgres.url)
    receiver = Receiver()
    async with receiver.serve():
        with Service(own_valkey, {"QUOTECAST_DATABASE_URL": own_postgres.url}) as service:
            await asyncio.to_thread(service.start, "ingest", "api")
            async with httpx.AsyncClient(base_url=service.url, timeout=scaled(40)) as client:
                body = {"name": "A", "email": "a@example.com", "password": "correct horse battery"}
                session = (await client.post("/api/auth/register", json=body)).json()
                client.headers["authorization"] = f"Bearer {session['token']}"
                url = {"url": f"http://127.0.0.1:{receiver.port}/"}
                assert (await client.put("/api/alerts/webhook", json=url)).status_code == 200
                price = (await client.get("/api/market/quotes/AAPL")).json()["price"]
                for step in range(1, 11):
                    for condition, value in ("above", price + step * 0.03), ("below", price - step * 0.03):
                        alert = {"ticker": "AAPL", "condition": condition, "value": value, "webhook": True}
                        assert (await client.post("/api/alerts", json=alert)).status_code == 201
                async with asyncio.timeout(scaled(100)):
                    events: list[int] = []
                    while not events:
                        answer = await client.get("/api/alerts/events?after=0&wait=25")
                        events = [each["id"] for each in answer.json()["events"]]
