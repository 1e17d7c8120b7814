"""The wheel and the source archive serve without a checkout."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from support.runs.deadlines import scaled
from support.servers.fresh_clone import ROOT, copy_clone, only_python, output_of, running, wait_until_serving
from support.servers.reserved import port_number, reserve_port

UV = Path(sys.executable).with_name("uv")

pytestmark = [pytest.mark.deploy, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds both in a clean checkout; returns their folder."""
    folder = tmp_path_factory.mktemp("release")
    clone = copy_clone(folder / "quotecast")
    environment = only_python(folder / "tools", Path(sys.executable).resolve())
    for name in ("uv", "just"):
        (folder / "tools" / name).symlink_to(Path(sys.executable).with_name(name))
    code, output = output_of("just package", clone, environment)
    assert code == 0, output
    return clone / "dist"


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """Yields the address of a service that this test starts."""
    with reserve_port() as held:
        monkeypatch.setenv("QUOTECAST_PORT", str(port_number(held)))
        monkeypatch.setenv("QUOTECAST_DATA_DIR", str(tmp_path / "data"))
        yield f"http://127.0.0.1:{port_number(held)}"


@pytest.mark.parametrize("pattern", ["*.whl", "*.tar.gz"])
def test_an_installed_release_serves_quotes_the_page_and_the_docs(
    archives: Path, tmp_path: Path, address: str, pattern: str
) -> None:
    """Installed with the extra `local` outside of the checkout, `quotecast up` needs nothing else."""
    [archive] = archives.glob(pattern)
    environment = only_python(tmp_path / "tools", Path(sys.executable).resolve())
    subprocess.run([UV, "venv", "--quiet", tmp_path / "env"], check=True)
    subprocess.run(
        [
            *(UV, "pip", "install", "--quiet", "--python", tmp_path / "env/bin/python"),
            *("--constraints", ROOT / "src/quotecast/constraints.txt"),
            *("--build-constraints", ROOT / "requirements/lock.txt"),
            f"{archive}[local]",
        ],
        check=True,
    )
    program = tmp_path / "env/bin/quotecast"
    code, said = output_of(f"{program} doctor", tmp_path, environment)
    assert (code, "packages: all as tested" in said) == (0, True), said
    with running(f"{program} up", tmp_path, environment) as process:
        wait_until_serving(process)
        for path, content in (
            ("/api/market/quotes/AAPL", b'"price":'),
            ("/", b"<script"),
            ("/llms.txt", b"quotecast"),
        ):
            assert content in httpx.get(address + path, timeout=scaled(60)).content


def test_one_command_starts_the_wheel(archives: Path, tmp_path: Path, address: str) -> None:
    """`uvx` installs it into a cache and starts it."""
    [wheel] = archives.glob("*.whl")
    environment = only_python(tmp_path / "tools", Path(sys.executable).resolve())
    uvx = shutil.which("uvx", path=str(UV.parent))
    constraints = f"--constraints {ROOT}/src/quotecast/constraints.txt"
    with running(
        f"{uvx} {constraints} --from '{wheel}[local]' quotecast up", tmp_path, environment
    ) as process:
        wait_until_serving(process)
        assert httpx.get(f"{address}/api/crypto/quotes/BTC-USDT", timeout=scaled(60)).json()["price"] > 0
