"""What scripts make of the client is up to date."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from support.made.factories import client_to, edge_of, full_mirrors, services

SCRIPTS = Path(__file__).parents[3] / "clients" / "python" / "scripts"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_the_types_are_those_of_the_service() -> None:
    """`scripts/make_types.py` writes them again after a change of the service."""
    make_types = script("make_types")
    async with client_to(edge_of(services(full_mirrors()))) as client:
        document = (await client.get("/api/openapi.json")).json()
    assert make_types.TARGET.read_text() == make_types.module_of(document)


def test_the_blocking_face_is_the_asyncio_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """`scripts/make_sync.py` writes it again after a change of the asyncio face."""
    monkeypatch.setattr(sys, "argv", ["make_sync.py"])
    assert script("make_sync").main(["--check"]) == 0
