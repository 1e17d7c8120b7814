"""The OpenAPI and AsyncAPI documents in linters, a parser, and generators of clients."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from quotecast.api.reference.asyncapi import asyncapi_document
from support.made.factories import client_to, edge_of, full_mirrors, services
from support.servers.fresh_clone import ROOT
from support.servers.simulated_vendor import NPM, run_node

pytestmark = [pytest.mark.vendors, pytest.mark.timeout(300)]
#: Of each generator the command, and a file that it makes.
GENERATORS = {
    "openapi-typescript": ("openapi-typescript {document} --output {made}/types.ts", "types.ts"),
    "hey-api": ("openapi-ts --input {document} --output {made}", "sdk.gen.ts"),
    "orval": ("orval --input {document} --output {made}/client.ts", "client.ts"),
}


@pytest.fixture
async def document(tmp_path: Path) -> Path:
    path = tmp_path / "openapi.json"
    async with client_to(edge_of(services(full_mirrors()))) as client:
        path.write_bytes((await client.get("/api/openapi.json")).content)
    return path


def run(command: str, folder: Path) -> str:
    """Returns what a program of npm prints; fails if the program does."""
    npm = [str(ROOT / "src/quotecast/web/npm"), "--prefix", str(NPM), "exec", "--call"]
    programs = shlex.quote(str(NPM / "node_modules/.bin"))
    call = f"cd {shlex.quote(str(folder))} && {programs}/{command}"
    done = subprocess.run([*npm, call], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_linters_find_no_error(document: Path, tmp_path: Path) -> None:
    """Their warnings are advice: a contact, or an error of every route."""
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"extends": ["spectral:oas"]}))
    run(f"redocly lint {shlex.quote(str(document))}", tmp_path)
    run(f"spectral lint {shlex.quote(str(document))} --ruleset {shlex.quote(str(rules))}", tmp_path)


@pytest.mark.parametrize("name", GENERATORS)
def test_generators_make_clients(document: Path, tmp_path: Path, name: str) -> None:
    command, made = GENERATORS[name]
    folder = tmp_path / "made"
    folder.mkdir()
    run(command.format(document=shlex.quote(str(document)), made=shlex.quote(str(folder))), tmp_path)
    source = (folder / made).read_text("utf-8")
    assert "HoldingShown" in source or "getQuotes" in source


def test_the_parser_of_asyncapi_finds_no_error(tmp_path: Path) -> None:
    path = tmp_path / "asyncapi.json"
    path.write_text(json.dumps(asyncapi_document()))
    assert run_node("asyncapi.js", str(path)) == []
