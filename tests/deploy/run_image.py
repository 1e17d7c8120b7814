"""Runs the commands of an unpacked image as a container runtime would.

The root file system is read-only; user, variables and command are the image's; the databases are outside of
it. deploy/check-image starts this program, which needs root to mount.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx

from quotecast.local import postgres
from support.runs.deadlines import scaled
from support.servers.processes import Postgres, Valkey, running_postgres, running_valkey
from support.servers.reserved import port_number, reserve_port

PAGE = Path(__file__).parents[2] / "src" / "quotecast" / "web"

START_SECONDS = 60.0
#: Seconds to stop: more than the grace of ten seconds in the Containerfile, for a machine under load.
STOP_SECONDS = 10.0

#: Enters the image as its user, with no writable folder but the test's.
_ENTER = """
set -e
root=$1 databases=$2 user=$3
shift 3
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind "$databases" "$root/mnt"
mount -o remount,ro,bind "$root"
exec /usr/sbin/chroot --userspec="$user" "$root" "$@"
"""

#: Succeeds if every attempt to write fails because the file system is read-only.
_WRITE = """
import errno
try:
    open("/var/tmp/written", "w")
except OSError as error:
    raise SystemExit(error.errno != errno.EROFS)
raise SystemExit("could write")
"""


class Image:
    """An unpacked image, and the environment of its processes."""

    def __init__(self, root: Path, config: Mapping[str, Any], settings: Mapping[str, str]) -> None:
        self._root = root
        self._entrypoint: list[str] = config["Entrypoint"]
        self._user: str = config["User"]
        own = dict(line.split("=", 1) for line in config["Env"])
        self._environment = {**own, **settings}

    def start(self, databases: Path, *command: str, entrypoint: bool = True) -> "subprocess.Popen[bytes]":
        words = [*self._entrypoint, *command] if entrypoint else list(command)
        enter = ["unshare", "--mount", "sh", "-c", _ENTER, "sh"]
        return subprocess.Popen(
            [*enter, str(self._root), str(databases), self._user, *words], env=self._environment
        )


def open_to_everybody(folder: Path) -> None:
    """Opens the folder to everybody: the image's user does not exist on this machine."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o777)


@contextlib.contextmanager
def databases() -> Iterator[tuple[Path, Valkey, Postgres]]:
    """Yields both servers, whose sockets below one folder everybody may use."""
    with running_valkey() as valkey, running_postgres() as database, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sockets = Path(database.url.split("host=")[1].split("&")[0].replace("%2F", "/"))
        for source, target in ((valkey.socket.parent, folder / "valkey"), (sockets, folder / "postgres")):
            open_to_everybody(source)
            target.mkdir()
            subprocess.run(["/usr/bin/mount", "--bind", str(source), str(target)], check=True)
        folder.chmod(0o755)
        try:
            yield folder, valkey, database
        finally:
            for each in ("valkey", "postgres"):
                subprocess.run(["/usr/bin/umount", str(folder / each)], check=True)


def until_ready(port: int, api: "subprocess.Popen[bytes]") -> dict[str, Any]:
    deadline = time.monotonic() + START_SECONDS
    while True:
        assert api.poll() is None, f"the API ended: {api.returncode}"
        assert time.monotonic() < deadline, "the API is not ready"
        with contextlib.suppress(httpx.TransportError):
            answer = httpx.get(f"http://127.0.0.1:{port}/api/ready", timeout=scaled(5))
            if answer.status_code == httpx.codes.OK:
                body: dict[str, Any] = answer.json()
                return body
        time.sleep(0.05)


def stop(name: str, process: "subprocess.Popen[bytes]") -> None:
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    code = process.wait(STOP_SECONDS)
    report(f"{name}: SIGTERM, exit {code} after {time.monotonic() - began:.2f} s", good=code == 0)


def report(line: str, *, good: bool) -> None:
    sys.stdout.write(f"{'ok  ' if good else 'FAIL'}  {line}\n")
    if not good:
        raise SystemExit(1)


def components(path: Path) -> dict[str, str]:
    """Returns the names of a bill of materials with their versions; names are spelled as in its URLs."""
    document = json.loads(path.read_text("utf-8"))
    assert document["bomFormat"] == "CycloneDX"
    urls = [each["purl"].split("?")[0] for each in document["components"]]
    return dict(url.split("/", 1)[1].rsplit("@", 1) for url in urls)


def check_bills(root: Path, config: Mapping[str, Any]) -> None:
    """Compares the bills of materials with the packages in the image and with the page's lock file."""
    folder = root / config["Labels"]["quotecast.sbom"].lstrip("/")
    packages = [str(path) for path in root.glob("opt/quotecast/lib/python3*/site-packages")]
    installed = {
        re.sub(r"[-_.]+", "-", each.name).lower(): each.version
        for each in metadata.distributions(path=packages)
        if each.name != "quotecast"
    }
    listed = components(folder / "python.cdx.json")
    differing = sorted(installed.items() ^ listed.items())
    report(f"python.cdx.json: {len(listed)} packages, differing: {differing}", good=not differing)
    lock = json.loads((PAGE / "package-lock.json").read_text("utf-8"))["packages"]
    wanted = lock[""]["dependencies"]
    listed = {unquote(name): each for name, each in components(folder / "page.cdx.json").items()}
    missing = sorted(wanted.items() - listed.items())
    report(f"page.cdx.json: {len(listed)} packages, missing: {missing}", good=not missing)


def check(root: Path, config: Mapping[str, Any]) -> None:
    """Runs every command once, in the order of a first start."""
    held = reserve_port()
    port = port_number(held)
    settings = {
        "QUOTECAST_HOST": "127.0.0.1",
        "QUOTECAST_PORT": str(port),
        "QUOTECAST_REDIS_URL": "unix:///mnt/valkey/valkey.sock",
        "QUOTECAST_DATABASE_URL": postgres.url(Path("/mnt/postgres")),
        "QUOTECAST_JWT_SECRET": "a secret of tests, known to everybody",
    }
    check_bills(root, config)
    image = Image(root, config, settings)
    with databases() as (folder, _, _):
        code = image.start(folder, "python3", "-c", _WRITE, entrypoint=False).wait(START_SECONDS)
        report(f"the root file system is read-only, as user {config['User']}", good=code == 0)
        for command in ("--help", "migrate"):
            code = image.start(folder, command).wait(START_SECONDS)
            report(f"quotecast {command}: exit {code}", good=code == 0)
        ingest = image.start(folder, "ingest")
        api = image.start(folder, *config["Cmd"])
        try:
            body = until_ready(port, api)
            states = {feed: each["state"] for feed, each in body["feeds"].items()}
            report(f"/api/ready: {body['status']} {body['checks']} {states}", good=body["status"] == "ready")
            page = httpx.get(f"http://127.0.0.1:{port}/", timeout=scaled(5))
            report(f"/: {page.status_code}, the terminal", good="<script" in page.text)
            code = image.start(folder, *config["Healthcheck"]["Test"][1:], entrypoint=False).wait(scaled(30))
            report(f"the image's health check: exit {code}", good=code == 0)
            stop("api", api)
            stop("ingest", ingest)
        finally:
            for process in (api, ingest):
                process.kill()
                process.wait()


if __name__ == "__main__":
    assert os.geteuid() == 0, "mounting needs root"
    description = json.loads(Path(sys.argv[2]).read_text("utf-8"))
    check(Path(sys.argv[1]), description["Docker"]["config"])
