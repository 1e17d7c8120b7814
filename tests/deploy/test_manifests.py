"""compose.yaml, deploy/kubernetes and deploy/haproxy fit their schemas and the service."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml  # type: ignore[import-untyped]  # ships no types

from quotecast.api.routes.market import health
from quotecast.api.worker.app import MAX_BODY_BYTES
from quotecast.observe import tracing
from quotecast.settings import loading, model

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "compose.yaml"
CONTAINERFILE = (ROOT / "Containerfile").read_text("utf-8")
KUBERNETES = ROOT / "deploy" / "kubernetes"
MANIFESTS = sorted(path for path in KUBERNETES.glob("*.yaml") if path.name != "kustomization.yaml")
POLICY = (ROOT / "deploy" / "haproxy" / "edge.cfg").read_text("utf-8")
VALIDATORS = ROOT / ".venv-deploy" / "bin"

#: The validators, which `deploy/check-manifests` installs.
needs_validators = pytest.mark.deploy


def documents(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text("utf-8")))


def pods() -> Iterator[dict[str, Any]]:
    for each in (document for path in MANIFESTS for document in documents(path)):
        if each["kind"] in {"Deployment", "Job"}:
            yield each["spec"]["template"]["spec"]


def validate(command: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([VALIDATORS / command, *arguments], capture_output=True, text=True, check=False)


@needs_validators
@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_manifests_fit_the_schemas_of_kubernetes(path: Path) -> None:
    """Kubernetes' schemas accept the manifests, unknown fields excluded."""
    answer = validate("kubernetes-validate", "--strict", path)
    assert answer.returncode == 0, answer.stdout + answer.stderr


@needs_validators
@pytest.mark.parametrize(
    ("right", "wrong"), [("minReadySeconds: 5", "minReadySecond: 5"), ("port: 80,", "port: a,")]
)
def test_an_invalid_field_is_found(right: str, wrong: str, tmp_path: Path) -> None:
    """The schemas reject a misspelled name and a wrong type."""
    text = (KUBERNETES / "api.yaml").read_text("utf-8")
    assert right in text
    broken = tmp_path / "broken.yaml"
    broken.write_text(text.replace(right, wrong), "utf-8")
    assert validate("kubernetes-validate", "--strict", broken).returncode != 0


@needs_validators
def test_compose_fits_its_schema(tmp_path: Path) -> None:
    """The schema accepts compose.yaml, and rejects a misspelled name."""
    schema = ("--builtin-schema", "vendor.compose-spec")
    answer = validate("check-jsonschema", *schema, COMPOSE)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    broken = tmp_path / "compose.yaml"
    broken.write_text(COMPOSE.read_text("utf-8").replace("stop_grace_period", "stop_grace"), "utf-8")
    assert validate("check-jsonschema", *schema, broken).returncode != 0


def test_every_manifest_is_applied() -> None:
    """The kustomization names every manifest."""
    kustomization = documents(KUBERNETES / "kustomization.yaml")[0]
    assert sorted(kustomization["resources"]) == [path.name for path in MANIFESTS]


def test_every_setting_exists() -> None:
    """Every environment variable is a setting: a misspelled one keeps the containers from starting."""
    kustomization = documents(KUBERNETES / "kustomization.yaml")[0]
    given = [line.split("=")[0] for each in kustomization["configMapGenerator"] for line in each["literals"]]
    given += [variable["name"] for pod in pods() for variable in pod["containers"][0].get("env", [])]
    for service in documents(COMPOSE)[0]["services"].values():
        if "Containerfile" in str(service.get("build")):
            given += service["environment"]
    given += re.findall(r"^(?:ENV|   ) (QUOTECAST_\w+)=", CONTAINERFILE, re.MULTILINE)
    assert len(given) > len(set(given)) > 8
    assert {name for name in given if name.startswith("QUOTECAST_")} <= set(model.variable_names())


def test_the_image_can_trace() -> None:
    """The image has the tracing extra, and the network policy lets the collector's port through."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pinned = set(
        re.findall(r"^([\w-]+)==", (ROOT / "requirements/lock.txt").read_text("utf-8"), re.MULTILINE)
    )
    extra = {re.split(r"[<>=]", line)[0] for line in project["optional-dependencies"]["otel"]}
    assert len(extra) == 5
    assert extra <= pinned
    egress = [
        each for each in documents(KUBERNETES / "network.yaml") if "Egress" in each["spec"]["policyTypes"]
    ]
    ports = {port["port"] for each in egress for rule in each["spec"]["egress"] for port in rule["ports"]}
    assert 4318 in ports
    api = documents(COMPOSE)[0]["services"]["api"]
    assert tracing.ENDPOINTS[0] in api["environment"]
    assert "outside" in api["networks"]


def test_the_image_has_its_bills_of_materials() -> None:
    """The label of the image names the folder into which the build writes both; check-image reads them."""
    (folder,) = re.findall(r"quotecast\.sbom=(\S+)", CONTAINERFILE)
    assert f"-o {folder}/python.cdx.json" in CONTAINERFILE
    assert f"page.cdx.json {folder}/" in CONTAINERFILE
    assert f"{folder}/" in (ROOT / "docs" / "kubernetes.md").read_text("utf-8")


def test_secrets_are_references() -> None:
    """No manifest holds a secret, and compose refuses to start without them."""
    assert not [path for path in MANIFESTS for each in documents(path) if each["kind"] == "Secret"]
    text = COMPOSE.read_text("utf-8")
    for name in ("POSTGRES_PASSWORD", "QUOTECAST_JWT_SECRET"):
        assert set(re.findall(rf"\$\{{{name}([:}}].)", text)) == {":?"}


def test_no_container_writes_or_gains_rights() -> None:
    """Every container of the service has a read-only root and no privileges."""
    for pod in pods():
        assert pod["securityContext"]["runAsNonRoot"]
        assert not pod["automountServiceAccountToken"]
        own = pod["containers"][0]["securityContext"]
        assert own["readOnlyRootFilesystem"]
        assert not own["allowPrivilegeEscalation"]
        assert own["capabilities"]["drop"] == ["ALL"]
    for name in ("api", "ingest", "migrate"):
        service = documents(COMPOSE)[0]["services"][name]
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]


def test_probes_use_routes_of_the_service() -> None:
    """Readiness probes ask one route with enough time; the image's health check asks for life only."""
    routes = {f"/api{path}" for handler in (health.health, health.ready) for path in handler.paths}
    container = next(pod["containers"][0] for pod in pods() if "lifecycle" in pod["containers"][0])
    assert container["readinessProbe"]["httpGet"] == {"path": "/ready", "port": "metrics"}
    assert container["readinessProbe"]["timeoutSeconds"] > health.CHECK_SECONDS
    check = re.findall("option httpchk GET (.*)", POLICY)
    assert set(re.findall(r"/api/\w+", f"{container} {CONTAINERFILE} {check}")) == routes


def test_liveness_probes_use_the_private_port() -> None:
    """Liveness probes use the private port: clients that fill the public port must not restart a worker."""
    containers = [pod["containers"][0] for pod in pods() if pod["containers"][0]["args"] != ["migrate"]]
    assert [each["args"] for each in containers] == [["api"], ["ingest"]]
    for probe in (each[kind] for each in containers for kind in ("startupProbe", "livenessProbe")):
        assert probe["httpGet"] == {"path": "/health", "port": "metrics"}
    assert containers[1]["readinessProbe"]["httpGet"] == {"path": "/ready", "port": "metrics"}
    services = documents(COMPOSE)[0]["services"]
    port = services["ingest"]["environment"]["QUOTECAST_METRICS_PORT"]
    for name in ("api", "ingest"):
        assert f"http://127.0.0.1:{port}/health" in " ".join(services[name]["healthcheck"]["test"])


def test_the_balancer_outlasts_the_silence_of_a_feed() -> None:
    """The balancer's timeouts outlast two heartbeats of a feed and the time of a readiness check."""
    found = dict(re.findall(r"^ +timeout (\S+) +(\d+)s$", POLICY, re.MULTILINE))
    defaults = loading.load({})
    assert int(found["tunnel"]) * 1000 >= 3 * defaults.heartbeat_ms
    assert int(found["check"]) > health.CHECK_SECONDS


def test_the_balancer_refuses_no_body_that_the_service_takes() -> None:
    bound = re.search(r"req\.body_size gt (\d+)", POLICY)
    assert bound
    assert int(bound[1]) >= MAX_BODY_BYTES


def test_the_balancer_answers_errors_as_the_service_does() -> None:
    """The balancer's own errors are JSON with a `detail`, as the service's."""
    answers = re.findall(r"string '(.*)'$", POLICY, re.MULTILINE)
    assert answers
    assert all(msgspec.json.decode(each).keys() == {"detail"} for each in answers)
