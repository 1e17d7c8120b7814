"""nginx with deploy/nginx/debian.conf in front of a worker, and P1e and P2e: reads through it."""

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.contenders import HERE, Server, folder, quotecast
from benchmarks.figures import OURS, Round
from benchmarks.load import ask
from benchmarks.processes import SERVER_CORE, family, listens, reserved_port, running, wait_until

NGINX: Final = HERE.parent / "deploy" / "nginx"
KEY: Final = "a key of benchmarks and tests, known to everybody"
#: Settings of workers behind the cache.
BEHIND: Final[Mapping[str, str]] = {
    "QUOTECAST_LIMITS": "edge",
    "QUOTECAST_EDGE_KEY": KEY,
    "QUOTECAST_TRUSTED_PROXIES": "127.0.0.1",
}
#: Requests per minute and path as shipped: thousands of clients stay below.
SHIPPED: Final = {"QUOTECAST_LIMIT_MARKET": "120"}

ALONE: Final = f"{OURS}, without the cache"
BY_WORKERS: Final = f"{OURS}, limits by the workers"

#: nginx's files are in the folder of a benchmark or test, and clients name their address.
_OWN: Final = """
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    set_real_ip_from 127.0.0.1;
    real_ip_header X-Forwarded-For;
"""


def find_nginx() -> str:
    """Returns the path of nginx, which Debian installs outside of users' PATH."""
    return shutil.which("nginx", path="/usr/local/sbin:/usr/sbin:/usr/local/bin:/usr/bin") or "nginx"


def configuration(
    place: Path,
    port: int,
    worker: int,
    *,
    limits: str = "edge",
    origins: Sequence[str] = (),
    more: str = "",
    processes: int = 2,
) -> str:
    """Returns debian.conf with everything that is marked as an operator's own.

    `limits` says who counts: `edge` or `service`. `origins` are those of CORS, any by default. `more` is
    configuration for the `server`.
    """
    text = (NGINX / "debian.conf").read_text("utf-8")
    named = "".join(f'"{origin}" $http_origin;\n' for origin in origins)
    for shipped, own in {
        "/etc/quotecast/nginx": str(NGINX),
        "user www-data;": "",
        "worker_processes auto": f"worker_processes {processes}",
        "worker_rlimit_nofile 65536;": "",
        "/run/quotecast-edge.pid": f"{place}/nginx.pid",
        "/dev/stderr": f"{place}/nginx.log",
        "/dev/shm/quotecast": f"{place}/answers",  # noqa: S108 - the shipped path
        "http {\n": f"http {{{_OWN.format(folder=place)}",
        "127.0.0.1:8090": f"127.0.0.1:{worker}",
        'map "" $edge_key {\n        default ""': f'map "" $edge_key {{\n        default "{KEY}"',
        '# "https://quotes.example.com" $http_origin;': named,
        'default "*";': 'default "";' if origins else 'default "*";',
        "listen 8080 reuseport;": f"listen 127.0.0.1:{port} reuseport;\n{more}",
        "limits-by-edge.conf;\n    }": f"limits-by-{limits}.conf;\n    }}",
    }.items():
        if shipped not in text:
            raise LookupError(f"deploy/nginx/debian.conf has no {shipped!r}")
        text = text.replace(shipped, own)
    return text


@contextlib.contextmanager
def cached(settings: Mapping[str, str], limits: str = "edge") -> Iterator[Server]:
    """This service behind the cache; the processes of both count."""
    with quotecast({**BEHIND, **settings}) as behind, folder() as place, reserved_port() as port:
        # nginx's processes run as another user if this one is root.
        place.chmod(0o755)
        main = place / "nginx.conf"
        # One process for the one core.
        main.write_text(configuration(place, port, behind.port, limits=limits, processes=1), "utf-8")
        command = [find_nginx(), "-c", str(main), "-g", "daemon off;"]
        with running(command, core=SERVER_CORE, log=place / "output.log") as process:
            wait_until(lambda: listens(port), process, "nginx")
            yield Server(port, [*family(process.pid), *behind.pids])


def quotes_few(seconds: float) -> Iterator[Round]:
    """Yields requests per second of CPU of cache and worker: three quotes."""
    yield from _reads("/api/market/quotes?symbols=AAPL,MSFT,NVDA", seconds)


def quotes_all(seconds: float) -> Iterator[Round]:
    """Yields requests per second of CPU of cache and worker: five hundred quotes."""
    yield from _reads("/api/market/quotes?symbols=all", seconds)


def _reads(path: str, seconds: float) -> Iterator[Round]:
    """Loads with browsers that poll: many addresses, compression, every other request with the last ETag."""
    with contextlib.ExitStack() as stack:
        servers = {
            OURS: stack.enter_context(cached(SHIPPED)),
            ALONE: stack.enter_context(quotecast({"QUOTECAST_TRUSTED_PROXIES": "127.0.0.1", **SHIPPED})),
            BY_WORKERS: stack.enter_context(cached(SHIPPED, "service")),
        }
        while True:
            yield {
                name: ask(
                    f"http://127.0.0.1:{server.port}{path}", server.pids, seconds, script=HERE / "poll.lua"
                ).per_cpu_second
                for name, server in servers.items()
            }
