"""The programs in docs/quickstart.md."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Page

from docs.pages import blocks
from docs.pages import page as page_of_docs
from support.made.web_files import CLIENT, WEB
from support.servers.service import Service

pytestmark = pytest.mark.browser


def test_the_program_follows_a_feed(page: Page, service: Service) -> None:
    """The program prints the snapshot and then updates."""
    [program] = blocks(page_of_docs("quickstart"), "js")
    here = program.replace("127.0.0.1:8000", f"127.0.0.1:{service.port}")
    with (
        page.expect_console_message(lambda message: message.text.startswith("snapshot")),
        page.expect_console_message(lambda message: message.text.startswith("update")),
    ):
        page.evaluate(f"() => {{ {here} }}")


def test_the_frontend_follows_two_feeds(service: Service, tmp_path: Path) -> None:
    """The program in TypeScript has correct types; it prints prices, and the state of a feed."""
    [program] = blocks(page_of_docs("quickstart"), "ts")
    here = program.replace("127.0.0.1:8000", f"127.0.0.1:{service.port}")
    (tmp_path / "program.ts").write_text(here, "utf-8")
    configuration = {
        "extends": f"{WEB}/tsconfig.json",
        "include": ["program.ts"],
        "compilerOptions": {"types": [], "paths": {"quotecast-client": [str(CLIENT / "src/index.ts")]}},
    }
    (tmp_path / "tsconfig.json").write_text(json.dumps(configuration), "utf-8")
    tools = WEB / "node_modules/.bin"
    run(tools / "tsc", "--project", tmp_path)
    bundled = tmp_path / "program.mjs"
    alias = f"--alias:quotecast-client={CLIENT}/src/index.ts"
    run(tools / "esbuild", tmp_path / "program.ts", "--bundle", "--format=esm", alias, f"--outfile={bundled}")
    printed: set[str] = set()
    command = [shutil.which("node") or "node", "--experimental-websocket", str(bundled)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as node:
        assert node.stdout
        for line in node.stdout:
            printed.add(line.split()[0])
            if printed == {"AAPL", "MSFT", "crypto"}:
                break
        node.kill()
    assert printed == {"AAPL", "MSFT", "crypto"}


def run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
