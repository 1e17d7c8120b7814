"""deploy/nginx in front of a worker: what it stores, for whom, and how it counts."""

import random
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import httpx
import pytest
from benchmarks.cache import BEHIND, NGINX

from deploy.balancer import running_balancer
from deploy.cache import Cache, running_cache
from quotecast.limits.fallback import SECOND, LocalWindow
from support.clients.plain_http import NO_TLS, status_of_length
from support.runs.deadlines import scaled
from support.runs.waits import wait_until
from support.servers.processes import running_valkey
from support.servers.service import Service

pytestmark = pytest.mark.deploy

LIMIT: Final = 10
ORIGIN, FOREIGN = "https://quotes.example.com", "https://evil.example"
QUOTES: Final = "/api/market/quotes?symbols=AAPL,MSFT"
#: The cache keeps an answer for twelve seconds: a test with its own query meets it while it is fresh.
SEARCH: Final = "/api/search?q="
#: Counts at a moment that the test names.
PROBE: Final = """
    location = /check {
        content_by_lua_block {
            local given = ngx.req.get_uri_args()
            local answer = { require("window").check(given.key, tonumber(given.limit), tonumber(given.now)) }
            ngx.say(tostring(answer[1]), " ", answer[2], " ", math.ceil(answer[3]))
        }
    }
"""


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """Runs a worker that leaves public reads to its cache, with small limits."""
    settings = {
        "QUOTECAST_ADMIN": "on",
        **BEHIND,
        "QUOTECAST_LIMIT_MARKET": str(LIMIT),
        "QUOTECAST_CORS_ORIGINS": ORIGIN,
    }
    with running_valkey() as valkey, Service(valkey, settings, split=True) as running:
        running.start("ingest", "api")
        yield running


@pytest.fixture(scope="module", params=["edge", "service"])
def cache(service: Service, request: pytest.FixtureRequest) -> Iterator[Cache]:
    """Runs the cache in each of its ways to count."""
    with running_cache(service.port, limits=request.param, origins=[ORIGIN], more=PROBE) as running:
        yield running


@pytest.fixture
def get(cache: Cache) -> Iterator[Callable[..., httpx.Response]]:
    """Yields a function that sends GET through the cache from an address of the test's own."""
    address = ".".join(str(random.randrange(1, 255)) for _ in range(4))
    with httpx.Client(
        base_url=cache.url, headers={"X-Forwarded-For": address}, timeout=scaled(20), verify=NO_TLS
    ) as client:
        yield client.get


def status(answer: httpx.Response) -> str:
    """Returns what the cache says about an answer."""
    return str(answer.headers.get("x-edge-cache", ""))


def test_a_stored_answer_is_the_next_clients_own(get: Callable[..., httpx.Response]) -> None:
    """It has this client's request id and window, no other's; its ETag makes a 304."""
    path = f"{SEARCH}apple"
    first = get(path, headers={"X-Request-ID": "first"})
    second = get(path, headers={"X-Request-ID": "second"})
    assert (status(second), second.content) == ("HIT", first.content)
    assert (first.headers["x-request-id"], second.headers["x-request-id"]) == ("first", "second")
    left = [int(each.headers["x-ratelimit-remaining"]) for each in (first, second)]
    assert left[0] - left[1] == 1
    unchanged = get(path, headers={"If-None-Match": second.headers["etag"]})
    assert (unchanged.status_code, status(unchanged), unchanged.content) == (304, "HIT", b"")
    assert int(unchanged.headers["x-ratelimit-remaining"]) == left[1] - 1


def test_quotes_are_stored_for_a_second(get: Callable[..., httpx.Response]) -> None:
    """After at most two seconds the cache has a newer answer, by itself or from the worker."""
    tag = get(QUOTES).headers["etag"]
    wait_until(
        lambda: get(QUOTES, headers={"X-Forwarded-For": _another_address()}).headers["etag"] != tag,
        "the stored quotes stay",
    )


def test_answers_of_origins_and_codings_do_not_mix(get: Callable[..., httpx.Response]) -> None:
    """Each origin and each compression has an answer of its own; a foreign origin gets no permission."""
    path = "/api/market/assets?limit=50"
    seen = Counter[tuple[str | None, str | None]]()
    for _ in range(2):
        for origin in (ORIGIN, FOREIGN, None):
            for coding in ("gzip", "zstd", "identity", "gzip;q=0, zstd;q=0.0"):
                headers = {"Accept-Encoding": coding, **({"Origin": origin} if origin else {})}
                answer = get(path, headers={**headers, "X-Forwarded-For": _another_address()})
                seen[status(answer), coding] += 1
                assert answer.headers.get("content-encoding", "identity") == (
                    coding if coding in {"gzip", "zstd"} else "identity"
                )
                allowed = answer.headers.get("access-control-allow-origin")
                assert allowed == (ORIGIN if origin == ORIGIN else None)
                assert "Origin" in answer.headers["vary"]
    assert seen["HIT", "gzip"] >= 3


@pytest.mark.parametrize(
    "path", ["/api/prices?symbols=AAPL,BTC/USDT&currency=EUR", "/api/rates?from=EUR&to=TRY&date=2026-03-31"]
)
def test_prices_are_stored_and_counted(get: Callable[..., httpx.Response], path: str) -> None:
    first, second = get(path), get(path)
    assert (status(first), first.status_code) == ("MISS", 200)
    assert status(second) != ""
    left = [int(each.headers["x-ratelimit-remaining"]) for each in (first, second)]
    assert left[0] - left[1] == 1


@pytest.mark.parametrize("path", ["/api/portfolio/import", "/api/portfolio/transactions/import"])
def test_a_file_of_csv_reaches_a_worker(cache: Cache, path: str) -> None:
    """It has at most 1 MB, other bodies 80 KB."""
    answer = httpx.post(cache.url + path, content=b"x" * 200_000, timeout=scaled(20), verify=NO_TLS)
    assert answer.status_code == 401
    for other, size in ((path, 1_100_000), ("/api/watchlist", 90_000)):
        assert status_of_length(cache.port, other, size) == 413, other


def test_a_request_with_a_key_reaches_a_worker(get: Callable[..., httpx.Response]) -> None:
    """Plans decide what a key may have: no stored answer serves a key, and a wrong key gets 401."""
    path = f"{SEARCH}amazon"
    get(path)
    for headers in ({"X-API-Key": "none"}, {"Authorization": "Bearer qc_live_none"}):
        answer = get(path, headers=headers)
        assert (status(answer), answer.status_code, answer.json()["code"]) == ("", 401, "invalid_key")
    assert status(get(path, headers={"Authorization": "Bearer none"})) == "HIT"


@pytest.mark.parametrize("path", ["/admin", "/api/admin/overview", "//api//admin/users", "/api/%61dmin/keys"])
def test_operators_page_is_not_published(
    service: Service, get: Callable[..., httpx.Response], path: str
) -> None:
    """The cache answers 404 to every spelling of its paths; the worker behind has them."""
    assert service.get("/api/admin/overview").status_code == 401
    assert get(path).status_code == 404


def test_private_answers_are_never_stored(get: Callable[..., httpx.Response], cache: Cache) -> None:
    """Account routes, health and whatever forbids storing pass; errors are not stored either."""
    for path in (
        "/api/auth/profile",
        "/api/portfolio/holdings",
        "/api/watchlist",
        "/api/health",
        "/api/docs",
    ):
        assert [status(get(path, headers={"Authorization": "Bearer none"})) for _ in range(2)] == ["", ""]
    assert [status(get("/api/market/quotes/NOPE")) for _ in range(2)] == ["MISS", "MISS"]
    stored = b"".join(each.read_bytes() for each in cache.answers.rglob("*") if each.is_file())
    assert b"Not authenticated" not in stored
    assert b"Symbol not found" not in stored


def test_what_a_client_sends_does_not_reach_the_store(get: Callable[..., httpx.Response]) -> None:
    """Headers, a body, a range and HEAD change no answer that others get: the worker does not see them."""
    poison = {
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "gopher",
        "X-Original-URI": "/api/market/movers",
        "X-Original-URL": "/api/market/movers",
        "X-Rewrite-URL": "/api/market/movers",
        "X-HTTP-Method-Override": "DELETE",
        "X-Edge-Key": "guessed",
        "Forwarded": "for=evil.example",
        "Cookie": "quotecast_device=evil",
        "Authorization": "Bearer evil",
        "Origin": FOREIGN,
        "Host": "evil.example",
        "Accept": "text/html",
        "Range": "bytes=0-1",
        "Cache-Control": "no-store, no-cache",
        "Pragma": "no-cache",
        "Vary": "*",
    }
    for number, (name, value) in enumerate(poison.items()):
        path = f"/api/search?q=micro&limit={number + 1}"
        poisoned = get(path, headers={name: value})
        clean = get(path)
        assert (poisoned.status_code, clean.status_code, status(clean)) == (200, 200, "HIT"), name
        assert poisoned.content == clean.content, name
        assert "evil" not in f"{clean.headers} {clean.text}", name


def test_a_head_or_a_body_leaves_a_whole_answer(cache: Cache) -> None:
    """HEAD stores what GET reads; a body of a GET is not passed on."""
    head = _raw(cache, "HEAD /api/search?q=nvidia&limit=3 HTTP/1.1", "Host: a")
    assert head.startswith(b"HTTP/1.1 200")
    fat = _raw(
        cache, "GET /api/search?q=nvidia&limit=4 HTTP/1.1", "Host: a", "Content-Length: 5", body="q=xyz"
    )
    assert fat.startswith(b"HTTP/1.1 200")
    for limit in (3, 4):
        clean = httpx.get(
            f"{cache.url}/api/search?q=nvidia&limit={limit}", headers={"Accept-Encoding": "identity"}
        )
        assert (status(clean), clean.json()[0]["ticker"]) == ("HIT", "NVDA")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # An absolute URI names another host: the answer is that of the path, and stored as such.
        ("GET http://evil.example/api/search?q=tesla HTTP/1.1", b"200"),
        ("GET /api/auth/../market/movers HTTP/1.1", b"404"),
        ("GET /api/market/../auth/profile HTTP/1.1", b"404"),
        ("GET /api/market/%2e%2e/auth/profile HTTP/1.1", b"404"),
        ("GET /api/auth/profile%3f/api/market/movers HTTP/1.1", b"404"),
        ("GET /api/auth/profile;/api/market/movers HTTP/1.1", b"404"),
    ],
)
def test_a_path_means_the_same_to_cache_and_worker(cache: Cache, line: str, expected: bytes) -> None:
    """What the cache takes for a public read and the worker for another path is not stored."""
    for _ in range(2):
        answer = _raw(cache, line, "Host: evil.example")
        assert answer.split()[1] == expected, answer[:300]
        assert b"evil" not in answer
    path = line.split()[1].removeprefix("http://evil.example")
    assert (b"X-Edge-Cache: HIT" in answer) == (expected == b"200"), path


def test_ambiguous_requests_are_refused(cache: Cache) -> None:
    """Two lengths, two hosts or both framings: the cache answers 400 and keeps no connection."""
    for headers in (
        ("Host: a", "Host: b"),
        ("Host: a", "Content-Length: 3", "Content-Length: 4"),
        ("Host: a", "Content-Length: 3", "Transfer-Encoding: chunked"),
        ("Host: a", "Transfer-Encoding: gzip, chunked"),
    ):
        answer = _raw(cache, f"GET {QUOTES} HTTP/1.1", *headers, body="abc")
        assert answer.split()[1] in {b"400", b"501"}, headers


def test_many_clients_get_exactly_their_limit(cache: Cache, get: Callable[..., httpx.Response]) -> None:
    """Over connections to all of nginx's processes, spellings of one path, and with an invalid token."""
    paths = ("/api/market/quotes/aapl", "/api/market/quotes/AAPL?x=1", "/api//market/quotes/%41APL")
    addresses = [_another_address() for _ in range(4)]

    def ask(number: int) -> tuple[str, httpx.Response]:
        address = addresses[number % len(addresses)]
        headers = {"X-Forwarded-For": address}
        if number % 3 == 0:
            headers["Authorization"] = "Bearer invalid"
        return address, httpx.get(
            cache.url + paths[number % 3], headers=headers, timeout=scaled(20), verify=NO_TLS
        )

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask, range(4 * 2 * LIMIT)))
    admitted = Counter(address for address, answer in answers if answer.status_code == 200)
    assert admitted == dict.fromkeys(addresses, LIMIT)
    refused = next(answer for _, answer in answers if answer.status_code != 200)
    assert (refused.status_code, refused.json()) == (429, {"detail": "Too Many Requests"})
    assert refused.headers["retry-after"] == refused.headers["x-ratelimit-reset"]
    # A neighbour has its own window.
    assert get("/api/market/quotes/AAPL").status_code == 200


def test_a_429_is_the_services_own(cache: Cache, service: Service) -> None:
    """It has the headers and the body of one that a worker answers."""
    address = {"X-Forwarded-For": _another_address(), "Origin": ORIGIN}
    for url in (cache.url, service.url):
        answers = [
            httpx.get(f"{url}/api/market/movers", headers=address, verify=NO_TLS) for _ in range(LIMIT + 1)
        ]
        assert answers[-1].status_code == 429
        found = {name: value for name, value in answers[-1].headers.items() if name not in {"server", "date"}}
        variable = {name: found.pop(name) for name in ("x-request-id", "x-ratelimit-reset", "retry-after")}
        assert all(variable.values())
        found.pop("connection", None)
        if url == cache.url:
            expected = found | {"content": answers[-1].text}
    assert found | {"content": answers[-1].text} == expected


def test_a_window_admits_what_the_services_window_admits(cache: Cache) -> None:
    """At random moments the cache decides as the exact window in the worker's memory."""
    now, drawn = [1_000.0], random.Random(24)
    window = LocalWindow(60, clock=lambda: round(now[0] * SECOND))
    with httpx.Client(base_url=cache.url) as client:
        for _ in range(300):
            # Whole seconds: requests of a twentieth of a second would leave together.
            now[0] += drawn.choice((0, 1, 1, 7, 59))
            key = drawn.choice("ab")
            answer = client.get("/check", params={"key": key, "limit": 4, "now": now[0]}).text.split()
            expected = window.check(key, 4)
            assert answer == [str(expected.admitted).lower(), str(expected.remaining), str(expected.reset)]


@pytest.mark.parametrize("limits", ["edge", "service"])
def test_readers_get_old_answers_while_no_worker_answers(limits: str) -> None:
    """They get the stored answer without a claim to be live, and 503 for what is not stored."""
    with (
        running_valkey() as valkey,
        Service(valkey, BEHIND, split=True) as service,
        running_balancer([service]) as balancer,
        running_cache(balancer.cached_port, limits=limits) as cache,
    ):
        worker = service.start("ingest", "api")
        balancer.await_in_service([service])
        stored = httpx.get(cache.url + QUOTES, verify=NO_TLS)
        assert stored.headers["x-feed-state"] == "live"
        worker.kill()
        worker.wait()

        def stale() -> httpx.Response | None:
            answer = httpx.get(cache.url + QUOTES, verify=NO_TLS)
            assert answer.status_code == 200
            is_stale = status(answer) == "STALE" and answer.headers["x-feed-state"] != "live"
            return answer if is_stale else None

        old = wait_until(stale, "the stored quotes stay live")
        assert old.headers["etag"] == stored.headers["etag"]
        missing = httpx.get(cache.url + "/api/market/movers")
        assert (missing.status_code, missing.headers["retry-after"]) == (503, "1")
        assert missing.json() == {"detail": "Service Unavailable"}


def test_the_shipped_files_name_each_other() -> None:
    """Every include of debian.conf is a file beside it."""
    text = (NGINX / "debian.conf").read_text("utf-8")
    names = [line.split("/")[-1].rstrip(";") for line in text.splitlines() if "include" in line]
    assert names
    assert all((NGINX / name).exists() for name in names)


def _another_address() -> str:
    return ".".join(str(random.randrange(1, 255)) for _ in range(4))


def _raw(cache: Cache, *lines: str, body: str = "") -> bytes:
    """Sends a request as it is and returns the answer."""
    with socket.create_connection(("127.0.0.1", cache.port), timeout=scaled(20)) as connection:
        head = "\r\n".join([*lines, f"X-Forwarded-For: {_another_address()}", "Connection: close"])
        connection.sendall(f"{head}\r\n\r\n{body}".encode())
        return b"".join(iter(lambda: connection.recv(65536), b""))
