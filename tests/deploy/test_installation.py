"""The lock leaves nothing to resolve, and an installation that fails says what to do."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.package_index import package_index
from support.servers.fresh_clone import ROOT, copy_clone, only_python, output_of

UV = Path(sys.executable).with_name("uv")
JUSTFILE = (ROOT / "justfile").read_text("utf-8")
#: Packages of which the index has a newer release; Piccolo asks for pydantic by an extra.
NEWER = {"pydantic": "2.999.0", "msgspec": "0.999.0", "litestar": "2.999.0", "httpx": "0.999.0"}

pytestmark = [pytest.mark.deploy, pytest.mark.vital, pytest.mark.timeout(600)]


def pins(path: Path) -> list[str]:
    """Returns the lines of a lock without hashes: name, version and marker."""
    text = path.read_text("utf-8")
    return [line.removesuffix(" \\") for line in text.splitlines() if re.match(r"[\w.-]+==", line)]


def locked_options() -> dict[str, list[str]]:
    """Returns what `just lock` compiles into the lock of all groups and into that of the vendors' clients."""
    words = {
        name: re.search(rf"{name}=\$\(printf -- '--\w+ %s ' (.*)\)", JUSTFILE)
        for name in ("extras", "groups")
    }
    assert words["extras"]
    assert words["groups"]
    extras = [word for name in words["extras"][1].split() for word in ("--extra", name)]
    groups = [word for name in words["groups"][1].split() for word in ("--group", name)]
    return {"lock.txt": ["pyproject.toml", *extras, *groups], "vendors.txt": ["--group", "vendors"]}


@pytest.mark.parametrize("name", ["lock.txt", "vendors.txt"])
def test_the_lock_satisfies_every_requirement(tmp_path: Path, name: str) -> None:
    """The resolver reads the metadata of each locked distribution, for every system and every Python.

    What the lock lacked, or pinned outside of a requirement's bounds, would make the result differ.
    """
    lock = ROOT / "requirements" / name
    again = tmp_path / "again.txt"
    command = [str(UV), "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
    form = ["--no-annotate", "--no-header", "--constraints", str(lock), "--output-file", str(again)]
    subprocess.run([*command, *form, *locked_options()[name]], cwd=ROOT, check=True)
    assert pins(again) == pins(lock)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return copy_clone(tmp_path / "quotecast")


@pytest.fixture
def machine(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Returns a function that returns the environment of a machine with Python and uv, and an empty cache."""

    def make(**variables: str) -> dict[str, str]:
        tools = tmp_path / "tools"
        environment = only_python(tools, Path(sys.executable).resolve())
        (tools / "uv").symlink_to(UV)
        return {**environment, "UV_CACHE_DIR": str(tmp_path / "cache"), **variables}

    return make


def test_a_newer_release_is_not_installed(
    clone: Path, tmp_path: Path, machine: Callable[..., dict[str, str]]
) -> None:
    """An index beside the registry offers them; without the lock uv takes them, with it the locked ones."""
    with package_index(NEWER) as index:
        environment = machine(UV_INDEX=index, UV_INDEX_STRATEGY="unsafe-best-match")
        free = "printf 'pydantic\\nmsgspec\\n' | uv pip compile --quiet --no-header --no-annotate -"
        assert output_of(free, tmp_path, environment) == (0, "msgspec==0.999.0\npydantic==2.999.0\n")
        code, output = output_of("requirements/install serve", clone, environment)
    assert code == 0, output
    code, output = output_of("uv pip list --python .venv --format json", clone, environment)
    installed = {each["name"]: each["version"] for each in json.loads(output)}
    locked = dict(line.partition(" ;")[0].split("==") for line in pins(clone / "requirements/lock.txt"))
    assert {name: installed[name] for name in NEWER} == {name: locked[name] for name in NEWER}
    assert all(locked.get(name) == version for name, version in installed.items() if "quotecast" not in name)


def test_a_package_that_was_replaced_is_refused(clone: Path, machine: Callable[..., dict[str, str]]) -> None:
    """A hash that differs ends the installation, and nothing starts."""
    lock = clone / "requirements/lock.txt"
    text = lock.read_text("utf-8")
    [pinned] = re.findall(r"^msgspec==.*\n(?:    --hash.*\n)+", text, re.MULTILINE)
    lock.write_text(text.replace(pinned, re.sub(r"sha256:\w{8}", "sha256:00000000", pinned)), "utf-8")
    code, output = output_of("requirements/install serve", clone, machine())
    assert code != 0
    assert "A package is not the one that requirements/lock.txt pins" in output


def test_without_a_network_it_says_so(clone: Path, machine: Callable[..., dict[str, str]]) -> None:
    environment = machine(UV_DEFAULT_INDEX="http://127.0.0.1:9/simple", UV_HTTP_RETRIES="0")
    code, output = output_of("requirements/install serve", clone, environment)
    assert code != 0
    assert "The package registry cannot be reached: check the network" in output


def test_a_registry_without_a_package_is_named(clone: Path, machine: Callable[..., dict[str, str]]) -> None:
    with package_index({}) as index:
        code, output = output_of("requirements/install serve", clone, machine(UV_DEFAULT_INDEX=index))
    assert code != 0
    assert "The package registry lacks a package: name another registry in UV_DEFAULT_INDEX" in output


@pytest.mark.parametrize(
    ("mount", "said"),
    [
        ("mount -t tmpfs -o size=8m none .venv", "The disk is full: free up to 1.2 GB"),
        ("mount -t tmpfs -o ro none .venv", "cannot be written: give it to this user"),
    ],
    ids=["full", "read-only"],
)
def test_a_folder_without_room_or_rights_is_named(
    clone: Path, machine: Callable[..., dict[str, str]], mount: str, said: str
) -> None:
    """A file system of its own stands for a full disk, and for a folder of somebody else."""
    environment = machine(UV_LINK_MODE="copy")
    environment["PATH"] += ":/usr/bin:/bin"
    (clone / ".venv").mkdir()
    unshare = "unshare --map-root-user --mount bash -c"
    code, output = output_of(f"{unshare} '{mount}; requirements/install serve'", clone, environment)
    assert code != 0
    assert said in output


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (
            '#!/bin/sh\ncase "$2" in *platform*) echo 3.10.13 ;; *) exit 1 ;; esac\n',
            "Python 3.11 or newer is needed, and python3 is 3.10.13",
        ),
        ("#!/bin/sh\nexit 127\n", "Python 3.11 or newer is needed, and there is no python3"),
    ],
    ids=["too old", "missing"],
)
def test_a_python_that_cannot_serve_is_named(
    clone: Path, machine: Callable[..., dict[str, str]], tmp_path: Path, program: str, said: str
) -> None:
    environment = machine()
    python = tmp_path / "tools/python3"
    python.unlink()
    python.write_text(program, "utf-8")
    python.chmod(0o755)
    code, output = output_of("requirements/install serve", clone, environment)
    assert code != 0
    assert said in output


def test_without_uv_it_says_how_to_get_it(
    clone: Path, machine: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    environment = machine()
    (tmp_path / "tools/uv").unlink()
    code, output = output_of("requirements/install serve", clone, environment)
    assert code != 0
    assert "uv is missing: .venv/bin/pip install --require-hashes -r requirements/tools.txt" in output


def test_it_needs_no_venv_module(clone: Path, machine: Callable[..., dict[str, str]], tmp_path: Path) -> None:
    """Debian has Python without it: then the first command of README.md fails, and uv alone installs."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "venv.py").write_text("raise ImportError('no venv here')\n", "utf-8")
    environment = machine(PYTHONPATH=str(hidden))
    assert output_of("python3 -m venv .venv", clone, environment)[0] != 0
    shutil.rmtree(clone / ".venv", ignore_errors=True)
    code, output = output_of("requirements/install build", clone, environment)
    assert code == 0, output
    assert (clone / ".venv-build/bin/hatchling").is_file()
