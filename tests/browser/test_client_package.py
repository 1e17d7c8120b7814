"""The TypeScript client as a package: packed, installed into an empty project, compiled and rendered."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from docs.pages import blocks
from docs.pages import page as page_of_docs
from support.made.web_files import CLIENT
from support.runs.deadlines import scaled
from support.servers.browsers import both_browsers
from support.servers.service import Service
from support.servers.typescript_package import installed_client

TOOLS = CLIENT / "node_modules/.bin"
REACT = {"react": "19.3.1", "@types/react": "19.3.0"}
CASES = CLIENT.parent / "conformance/cases"

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a project with the packed client and React."""
    return installed_client(tmp_path_factory.mktemp("package"), REACT)


def run(*command: str | Path, cwd: Path) -> str:
    """Returns the output of a program; fails if the program does."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=scaled(60), check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_package_has_its_files_and_no_dependency(project: Path) -> None:
    """Every entry has code and types, and nobody needs another package for them."""
    installed = project / "node_modules/quotecast-client"
    manifest = json.loads((installed / "package.json").read_text())
    assert "dependencies" not in manifest
    for entry in (".", "./react", "./tradingview"):
        for path in manifest["exports"][entry].values():
            assert (installed / path).is_file()
    assert sorted(path.name for path in installed.iterdir()) == [
        "LICENSE",
        "README.md",
        "dist",
        "package.json",
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"module": "nodenext", "moduleResolution": "nodenext"},
        {"module": "esnext", "moduleResolution": "bundler"},
    ],
    ids=["nodenext", "bundler"],
)
def test_its_types_compile_strictly(options: dict[str, Any], project: Path) -> None:
    """The programs of the docs compile, with the declarations of the package themselves."""
    for language in ("ts", "tsx"):
        for number, program in enumerate(blocks(page_of_docs("typescript"), language)):
            (project / f"program{number}.{language}").write_text(program)
    configuration = {
        "compilerOptions": {
            **options,
            "target": "es2022",
            "jsx": "react-jsx",
            "lib": ["ES2023", "DOM", "DOM.Iterable"],
            "types": [],
            "strict": True,
            "exactOptionalPropertyTypes": True,
            "skipLibCheck": False,
            "noEmit": True,
        },
        "include": ["program*"],
    }
    (project / "tsconfig.json").write_text(json.dumps(configuration))
    run(TOOLS / "tsc", "--project", project, cwd=project)


def prices_of(*symbols: str) -> re.Pattern[str]:
    return re.compile("^" + " · ".join(rf"{re.escape(symbol)} [\d.]+" for symbol in symbols) + "$")


def bundle(name: str, folder: Path) -> str:
    """Returns a program of the client's tests for browsers."""
    bundled = folder / f"{name}.js"
    define = '--define:process.env.NODE_ENV="production"'
    run(TOOLS / "esbuild", f"tests/{name}.ts", "--bundle", define, f"--outfile={bundled}", cwd=CLIENT)
    return bundled.read_text()


@both_browsers
def test_the_conformance_suite_passes_in_browsers(blank_page: Page, tmp_path: Path) -> None:
    """Every case, on a copy and on a connection."""
    cases = [json.loads(path.read_text()) for path in sorted(CASES.iterdir())]
    assert cases
    blank_page.evaluate(bundle("conformance-page", tmp_path))
    assert blank_page.evaluate("cases => playCases(cases)", cases) == []


def test_a_component_renders_for_its_own_symbols_only(blank_page: Page, tmp_path: Path) -> None:
    """Two changes of one pair render the components with that pair twice, over one socket for all."""
    blank_page.evaluate(bundle("react-page", tmp_path))
    assert blank_page.evaluate("countRenderings()") == {"ether": 2, "both": 2, "sockets": 1}


@both_browsers
def test_a_component_shows_live_prices(page: Page, service: Service, tmp_path: Path) -> None:
    """Prices come, change, and follow another list of symbols."""
    page.evaluate(bundle("react-page", tmp_path))
    page.evaluate("address => showService(address)", service.url)
    chosen = page.locator("#chosen")
    expect(chosen).to_have_text(prices_of("AAPL", "BTC/USDT"))
    before = chosen.text_content()
    assert before
    expect(chosen).not_to_have_text(before)
    page.evaluate("chooseSymbols(['gram-altin'])")
    expect(chosen).to_have_text(prices_of("gram-altin"))
