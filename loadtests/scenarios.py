"""`just load --scenario NAME`: a report by phase, and the start of the scenario at a simulated vendor."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import gevent
import requests
from control import body_of, length_of
from locust import events
from locust.runners import LocalRunner
from phases import Phases, moment_of, table

REPORT = Path(__file__).parent / "report-phases.json"
TOKEN = "LOAD_CONTROL_TOKEN"  # noqa: S105 - the name of a variable
#: Seconds after the beginning at which a scenario starts by the control route, if nothing else is said.
START = "+20"
#: Seconds of the phase after the scenario that the test lasts at least.
AFTER_SECONDS = 20


@events.init_command_line_parser.add_listener
def add_arguments(parser: Any) -> None:
    """Adds the arguments of scenarios."""
    group = parser.add_argument_group("scenarios of quotecast")
    group.add_argument("--scenario", metavar="NAME[,KEY=VALUE]", help="report before, during and after it")
    group.add_argument(
        "--scenario-at", metavar="TIME", help="its start: +SECONDS from now, or such as 2026-11-23T14:30:00Z"
    )
    group.add_argument(
        "--scenario-seconds", type=float, default=120, metavar="N", help="its length; 120 by default"
    )
    group.add_argument(
        "--control", metavar="URL", help=f"simulated vendor that starts it; {TOKEN} is its token"
    )


@events.init.add_listener
def prepare(environment: Any, **_: object) -> None:
    """Plans the phases, and extends the test to the end of the last one; exits with wrong arguments."""
    options = environment.parsed_options
    if options is None or not options.scenario:
        return
    if not isinstance(environment.runner, LocalRunner):
        sys.exit("--scenario needs a test in one process, without --master, --worker and --processes")
    if not options.control and not options.scenario_at:
        sys.exit("Say when the service's scenario begins, such as --scenario-at +30, or give --control URL")
    begin = time.time()
    try:
        start = moment_of(options.scenario_at or START, begin)
    except ValueError:
        sys.exit(f"--scenario-at: {options.scenario_at} is no +SECONDS and no time with its zone")
    phases = Phases(begin, start, options.scenario_seconds)
    least = int(start + options.scenario_seconds + AFTER_SECONDS - begin)
    if options.run_time and options.run_time < least:
        sys.stderr.write(
            f"The test lasts {least} s instead of {options.run_time}: until after the scenario\n"
        )
        options.run_time = least
    follow(environment, phases)
    if options.control:
        gevent.spawn(start_scenario, environment, phases)


def follow(environment: Any, phases: Phases) -> None:
    """Gives each event to its phase, and writes the report at the end."""

    def take(request_type: str, response_time: float, exception: Exception | None, **_: object) -> None:
        phases.take(time.time(), request_type, response_time, failed=exception is not None)

    def write(**_: object) -> None:
        rows = phases.report(time.time())
        REPORT.write_text(
            json.dumps({"scenario": environment.parsed_options.scenario, "phases": rows}, indent=1)
        )
        sys.stdout.write(f"\n{environment.parsed_options.scenario}; times and ages in ms\n{table(rows)}\n")

    environment.events.request.add_listener(take)
    environment.events.quitting.add_listener(write)


def start_scenario(environment: Any, phases: Phases) -> None:
    """Starts the scenario by the control route at its time; ends the test if that fails."""
    options = environment.parsed_options
    gevent.sleep(max(0.0, phases.start - time.time()))
    try:
        answer = requests.post(
            f"{options.control.removesuffix('/scenarios').rstrip('/')}/scenarios",
            json=body_of(options.scenario),
            headers={"Authorization": f"Bearer {os.environ.get(TOKEN, '')}"},
            timeout=10,
        )
        answer.raise_for_status()
    except requests.RequestException as error:
        detail = error.response.text if error.response is not None else ""
        sys.stderr.write(f"--control: the scenario did not start: {error} {detail}\n")
        environment.process_exit_code = 1
        environment.runner.quit()
        return
    phases.move(time.time(), length_of(answer.json()))
