"""The workflows of .github fit their schema, and give each job no more rights than it needs."""

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # ships no types

from deploy.charts import ROOT, run

FOLDER = ROOT / ".github"
WORKFLOWS = sorted((FOLDER / "workflows").glob("*.yml"))
SCHEMA = ("--builtin-schema", "vendor.github-workflows")

#: The validators, which `deploy/check-manifests` installs.
needs_validators = pytest.mark.deploy


def jobs() -> list[tuple[str, dict[str, Any]]]:
    """Returns the jobs of all workflows by name."""
    return [
        (f"{path.stem}/{name}", job)
        for path in WORKFLOWS
        for name, job in yaml.safe_load(path.read_text("utf-8"))["jobs"].items()
    ]


@needs_validators
def test_workflows_fit_their_schema(tmp_path: Path) -> None:
    """The schema accepts the workflows, and rejects a misspelled name."""
    assert [path.stem for path in WORKFLOWS] == ["build", "publish", "test"]
    answer = run("check-jsonschema", *SCHEMA, *WORKFLOWS)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    answer = run("check-jsonschema", "--builtin-schema", "vendor.dependabot", FOLDER / "dependabot.yml")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    broken = tmp_path / "broken.yml"
    broken.write_text(WORKFLOWS[0].read_text("utf-8").replace("runs-on:", "run-on:"), "utf-8")
    assert run("check-jsonschema", *SCHEMA, broken).returncode != 0


@needs_validators
def test_an_audit_finds_no_hole(tmp_path: Path) -> None:
    """The audit passes; it finds an action whose tag may move, and text of others in a shell command."""
    arguments = ("--offline", "--no-progress", "--quiet")
    answer = run("zizmor", *arguments, FOLDER)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    text = next(path for path in WORKFLOWS if path.stem == "test").read_text("utf-8")
    for name, right, wrong in (
        ("moving", r"checkout@\S+ # \S+", "checkout@main"),
        ("shell", r"run: .ci/run", "run: echo ${{ github.event.pull_request.title }}"),
    ):
        broken = tmp_path / f"{name}.yml"
        broken.write_text(re.sub(right, wrong, text), "utf-8")
        assert broken.read_text("utf-8") != text
        assert run("zizmor", *arguments, broken).returncode != 0, name


def test_actions_are_pinned_by_commit() -> None:
    """Every action of others is a commit, with its version as a comment."""
    used = [each for path in WORKFLOWS for each in re.findall(r"uses: (.*)", path.read_text("utf-8"))]
    assert len(used) > 15
    for each in used:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v[\d.]+", each) or each.startswith("./"), each


def test_jobs_have_least_rights_and_an_end() -> None:
    """No job inherits rights; only those that publish may write; the two that sign run nothing of ours."""
    for path in WORKFLOWS:
        assert yaml.safe_load(path.read_text("utf-8"))["permissions"] == {}
    for name, job in jobs():
        assert "uses" in job or job["timeout-minutes"] <= 90, name
        writes = {right for right, grade in job["permissions"].items() if grade == "write"}
        if name in {"publish/image", "publish/chart"}:
            assert writes == {"packages"}
        elif name in {"publish/python", "publish/npm"}:
            assert writes == {"id-token"}
            assert not [step for step in job["steps"] if "checkout" in step.get("uses", "")]
        else:
            assert writes == set(), name


def test_nothing_is_published_before_the_checks_pass() -> None:
    needs = {name.removeprefix("publish/"): job.get("needs", []) for name, job in jobs() if "publish" in name}

    def before(name: str) -> set[str]:
        own = [needs[name]] if isinstance(needs[name], str) else needs[name]
        return {*own, *(each for one in own for each in before(one))}

    for name in ("image", "chart", "python", "npm"):
        assert {"test", "check"} <= before(name)


def test_no_registry_has_a_name_here() -> None:
    """The host of images and charts is a variable; packages go to the defaults of their clients."""
    text = "".join(path.read_text("utf-8") for path in WORKFLOWS)
    assert not re.search(r"\w\.(io|org|dev)\b", text)
    assert "${{ vars.REGISTRY }}" in text


def test_a_tag_of_another_version_is_no_release() -> None:
    """The version of a tag must be that of the service, its clients, the chart and the manifests."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]

    def check(tag: str) -> "subprocess.CompletedProcess[str]":
        command = [str(ROOT / "deploy" / "check-release"), tag]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert check(f"v{version}").stdout == f"{version}\n"
    refused = check("v99.0.0")
    assert refused.returncode != 0
    assert refused.stdout == ""
    assert len(refused.stderr.splitlines()) == 6
