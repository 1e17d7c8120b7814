"""The suite for clients: its cases agree with the rules, and every broken rule fails one of them."""

from pathlib import Path

import pytest

from quotecast.api.reference.asyncapi import asyncapi_document
from support.oracles.conformance import CASES, Runner, read_case
from support.oracles.generated_cases import PLANS, case_text
from support.oracles.generated_player import Plan
from support.oracles.reference_copy import ReferenceCopy
from support.oracles.schemas import validator_of
from unit.clients import faulty_copies

FILES = sorted(CASES.glob("*.json"))
_DOCUMENT = asyncapi_document()
VALIDATORS = {
    (channel, name): validator_of(message["payload"], _DOCUMENT["components"])
    for channel, described in _DOCUMENT["channels"].items()
    for name, message in described["messages"].items()
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_copy_by_the_rules_passes(path: Path) -> None:
    Runner(read_case(path)).run()


@pytest.mark.parametrize(
    "path", [path for path in FILES if "unknown" not in path.stem], ids=lambda path: path.stem
)
def test_frames_and_commands_are_those_of_the_service(path: Path) -> None:
    """Every frame and command fits the AsyncAPI document."""
    case = read_case(path)
    for step in case["steps"]:
        if frame := step.get("frame"):
            VALIDATORS[case["feed"], frame["type"]].validate(frame)
        if command := step.get("send"):
            VALIDATORS[case["feed"], command["action"]].validate(command)


@pytest.mark.parametrize("faulty", ReferenceCopy.__subclasses__(), ids=lambda faulty: faulty.__name__)
def test_each_broken_rule_fails_a_case(faulty: type[ReferenceCopy]) -> None:
    assert faulty.__module__ == faulty_copies.__name__
    assert any(fails(path, faulty) for path in FILES if path.stem.startswith("rule-"))


def fails(path: Path, copy: type[ReferenceCopy]) -> bool:
    try:
        Runner(read_case(path), copy).run()
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_generated_cases_are_up_to_date(plan: Plan) -> None:
    """`clients/conformance/generate` writes the same bytes again."""
    assert case_text(plan) == (CASES / f"{plan.name}.json").read_text()


def test_no_generated_case_is_left_over() -> None:
    generated = {path.stem for path in FILES if path.stem.startswith("generated-")}
    assert generated == {plan.name for plan in PLANS}


def test_the_suite_is_small() -> None:
    """Authors of other clients copy it into their repositories."""
    assert sum(path.stat().st_size for path in FILES) < 400_000
