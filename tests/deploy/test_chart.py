"""The Helm chart renders what deploy/kubernetes has, and valid manifests for other values."""

import copy
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # ships no types

from deploy.charts import CHART, ROOT, Document, by_name, comparable, kustomized, render, run
from quotecast.settings import model

#: Helm, kubectl and validators, which `deploy/check-manifests` installs.
pytestmark = pytest.mark.deploy

VALUES = sorted((Path(__file__).parent / "chart").glob("*.yaml"))
OLDEST = "1.25.0"
NEWEST = "1.37.0"
#: Reads monitors with the operator's types, which takes seconds; prints whether these have every field.
READ_MONITORS = """
import json, sys
from cloudcoil.models.prometheus_operator.v1 import ServiceMonitor
given = json.loads(sys.argv[1])
read = [ServiceMonitor.model_validate(each).model_dump(by_alias=True, exclude_unset=True) for each in given]
print([one == other for one, other in zip(given, read)])
"""


def rendered(name: str, **options: str) -> dict[tuple[str, str], Document]:
    return by_name(render("--values", Path(__file__).parent / "chart" / f"{name}.yaml", **options))


def container(documents: dict[tuple[str, str], Document], kind: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = documents[kind, name]["spec"]["template"]["spec"]["containers"][0]
    return found


def test_default_values_render_what_kustomize_does() -> None:
    """Every object but the namespace is the same in both, up to the labels of Helm."""
    chart = comparable(by_name(render()).values())
    kustomize = comparable(by_name(kustomized()).values())
    del kustomize["Namespace", "quotecast"]
    assert sorted(chart) == sorted(kustomize)
    for key, document in kustomize.items():
        assert chart[key] == document, key


def test_migrations_run_before_pods_change() -> None:
    """The job is a hook that precedes installation and upgrade; the next one deletes it."""
    job = by_name(render())["Job", "quotecast-migrate"]
    assert job["metadata"]["annotations"] == {
        "helm.sh/hook": "pre-install,pre-upgrade",
        "helm.sh/hook-delete-policy": "before-hook-creation",
    }


def test_changed_settings_restart_pods() -> None:
    def checksums(*arguments: str) -> set[str]:
        documents = by_name(render(*arguments))
        pods = [
            documents["Deployment", f"quotecast-{each}"]["spec"]["template"] for each in ("api", "ingest")
        ]
        return {pod["metadata"]["annotations"]["checksum/settings"] for pod in pods}

    assert len(checksums()) == 1
    assert checksums().isdisjoint(checksums("--set", "settings.QUOTECAST_STOCKS=none"))


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_manifests_fit_the_schemas(values: Path, tmp_path: Path) -> None:
    """The schemas of the oldest and the newest Kubernetes accept every object, unknown fields excluded."""
    assert f">={OLDEST}-0" in (CHART / "Chart.yaml").read_text("utf-8")
    documents = by_name(render("--values", values))
    documents.pop(("ServiceMonitor", "prices"), None)
    manifests = tmp_path / "manifests.yaml"
    manifests.write_text(yaml.safe_dump_all(documents.values()), "utf-8")
    for version in (OLDEST, NEWEST):
        answer = run("kubernetes-validate", "--strict", "--kubernetes-version", version, manifests)
        assert answer.returncode == 0, answer.stdout + answer.stderr


def test_the_monitor_fits_the_types_of_the_operator() -> None:
    """The types of the Prometheus Operator have every field of the monitor, and not a misspelled one."""
    monitor = rendered("everything")["ServiceMonitor", "prices"]
    broken = copy.deepcopy(monitor)
    broken["spec"]["endpoints"][0]["intervall"] = "15s"
    answer = run("python", "-c", READ_MONITORS, json.dumps([monitor, broken]))
    assert answer.stdout == "[True, False]\n", answer.stderr


def test_the_monitor_finds_both_kinds_of_pods_under_the_jobs_of_the_alerts() -> None:
    """The monitor selects the services that have a port of its name, and gives each its usual job."""
    documents = rendered("everything")
    spec = documents["ServiceMonitor", "prices"]["spec"]
    (endpoint,) = spec["endpoints"]
    found = [
        each["metadata"]["labels"]
        for (kind, _), each in documents.items()
        if kind == "Service" and endpoint["port"] in {port["name"] for port in each["spec"]["ports"]}
    ]
    assert all(spec["selector"]["matchLabels"].items() <= labels.items() for labels in found)
    (rule,) = endpoint["relabelings"]
    jobs = {rule["replacement"].replace("$1", each["app.kubernetes.io/component"]) for each in found}
    prometheus = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yaml").read_text("utf-8"))
    assert jobs == {each["job_name"] for each in prometheus["scrape_configs"]}


def test_helm_lints_the_chart() -> None:
    for values in VALUES:
        answer = run("helm", "lint", "--strict", CHART, "--values", values)
        assert answer.returncode == 0, answer.stdout + answer.stderr


def test_helm_3_and_4_render_the_same() -> None:
    for values in VALUES:
        assert rendered(values.stem) == rendered(values.stem, program="helm3")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("api.replica=2", "additional properties 'replica' not allowed"),
        ("api.replicas=two", "got string, want integer"),
        ("image.digest=sha256:1", "does not match pattern"),
        ("secrets.as=vault", "value must be one of 'env', 'file'"),
        ("secrets.settings.QUOTECAST_REDIS_URL.name=a", "additional properties 'name' not allowed"),
        ("settings.QUOTECAST_FEED_PORT=9000", "need the chart's own; remove it"),
        ("settings.QUOTECAST_ALPACA_KEY=a", 'put it into the secret "quotecast"'),
        ("secrets.settings.QUOTECAST_REDIS_URL=null", "migrations need it"),
        ("secrets.name=", "name the secret here, or a default in secrets.name"),
        ("api.autoscaling.cpu=0", "set cpu, sockets or latenessMs, or enabled=false"),
        ("api.autoscaling.minReplicas=30", "minReplicas is above maxReplicas"),
    ],
)
def test_wrong_values_are_errors(setting: str, message: str) -> None:
    """Helm names the wrong value, and what it may be."""
    answer = run("helm", "template", "quotecast", CHART, "--set", setting)
    assert answer.returncode != 0
    assert message in answer.stderr


def test_settings_and_secrets_are_those_of_the_service() -> None:
    """Every variable of the pods is a setting, and those from secrets can be read from files."""
    given: set[str] = set()
    for values in VALUES:
        documents = rendered(values.stem)
        for document in documents.values():
            if document["kind"] in {"Deployment", "Job"}:
                pod = document["spec"]["template"]["spec"]
                given |= {each["name"] for each in pod["containers"][0].get("env", [])}
        settings = next(each for key, each in documents.items() if key[0] == "ConfigMap")
        given |= settings["data"].keys()
    assert {"QUOTECAST_VAPID_PRIVATE_KEY_FILE", "QUOTECAST_ALPACA_KEY", "QUOTECAST_FEED_PORT"} <= given
    assert given <= set(model.variable_names())


def test_every_secret_is_refused_among_the_settings() -> None:
    """The names that the chart takes for secrets are those of the service's secrets, and no others."""
    checks = (CHART / "templates" / "_checks.tpl").read_text("utf-8")
    (pattern,) = re.findall(r'regexMatch "(.*?)" \$name', checks)
    (listed,) = re.findall(r"has \$name \(list (.*?)\)", checks)
    variables = model.all_variables()
    refused = {each.name for each in variables if re.search(pattern, each.name) or f'"{each.name}"' in listed}
    assert refused == {each.name for each in variables if each.secret}


def test_secrets_come_from_the_secrets_that_the_values_name() -> None:
    """A moved setting overrides the default secret, in every pod that reads it."""
    documents = rendered("everything")
    api = container(documents, "Deployment", "prices-api")
    assert api["envFrom"][1] == {"secretRef": {"name": "quotecast"}}
    variables = {each["name"]: each["valueFrom"]["secretKeyRef"] for each in api["env"]}
    assert variables == {
        "QUOTECAST_ALPACA_KEY": {"name": "quotecast", "key": "alpaca-key"},
        "QUOTECAST_DATABASE_URL": {"name": "prices-db-app", "key": "uri"},
        "QUOTECAST_REDIS_URL": {"name": "prices-redis", "key": "QUOTECAST_REDIS_URL"},
    }
    del variables["QUOTECAST_ALPACA_KEY"]
    job = container(documents, "Job", "prices-migrate")
    assert {each["name"]: each["valueFrom"]["secretKeyRef"] for each in job["env"]} == variables
    assert "kind: Secret\n" not in render("--values", VALUES[0])


def test_secrets_are_files() -> None:
    """With `secrets.as: file` no environment has a secret, and each variable names a file of the volume."""
    documents = rendered("files")
    for kind, name in (("Deployment", "api"), ("Deployment", "ingest"), ("Job", "migrate")):
        pod = documents[kind, f"quotecast-{name}"]["spec"]["template"]["spec"]
        own = pod["containers"][0]
        assert "secretRef" not in str(own) + str(own.get("envFrom"))
        (volume,) = pod["volumes"]
        paths = {
            item["path"]: each["secret"]
            for each in volume["projected"]["sources"]
            for item in each["secret"]["items"]
        }
        assert {each["name"]: each["value"] for each in own["env"]} == {
            f"{path}_FILE": f"{own['volumeMounts'][0]['mountPath']}/{path}" for path in paths
        }
        assert paths["QUOTECAST_DATABASE_URL"]["name"] == "prices-db-app"
        assert volume["projected"]["defaultMode"] == 0o444
        assert pod["serviceAccountName"] == "prices"
        assert ("QUOTECAST_JWT_SECRET" in paths) == (kind == "Deployment")


def test_the_ingress_routes_feeds_to_their_port() -> None:
    """The paths of feeds go to the port for feeds, all others to the port for HTTP."""
    documents = rendered("everything")
    ingress = documents["Ingress", "prices-api"]["spec"]
    ports = {each["name"] for each in documents["Service", "prices-api"]["spec"]["ports"]}
    assert [rule["host"] for rule in ingress["rules"]] == ingress["tls"][0]["hosts"]
    for rule in ingress["rules"]:
        routes = {each["path"]: each["backend"]["service"] for each in rule["http"]["paths"]}
        assert {path: each["port"]["name"] for path, each in routes.items()} == {
            "/api/ws": "feeds",
            "/api/sse": "feeds",
            "/": "http",
        }
        assert {each["port"]["name"] for each in routes.values()} <= ports
        assert {each["name"] for each in routes.values()} == {"prices-api"}


def test_releases_select_their_own_pods() -> None:
    """Two releases in one namespace share no object and no pod; every selector names its release."""
    documents = by_name(render("--set", "metrics.apiService=a,metrics.ingestService=b", release="second"))
    assert not documents.keys() & by_name(render()).keys()
    text = yaml.safe_dump_all(documents.values())
    selectors = re.findall(r"(?:selector|matchLabels):\n((?: +\S+: \S+\n)+)", text)
    own = [each for each in selectors if "app.kubernetes.io/name: quotecast" in each]
    assert len(own) > 8
    assert all("app.kubernetes.io/instance: second" in each for each in own)


def test_no_pod_has_a_token_or_rights() -> None:
    """Every pod of every set of values has a read-only root, no privileges and no token."""
    for values in VALUES:
        documents = rendered(values.stem)
        for each in documents.values():
            if each["kind"] in {"Deployment", "Job"}:
                pod = each["spec"]["template"]["spec"]
                assert pod["automountServiceAccountToken"] is False
                assert pod["securityContext"]["runAsNonRoot"] is True
                own = pod["containers"][0]["securityContext"]
                assert own["readOnlyRootFilesystem"]
                assert own["capabilities"] == {"drop": ["ALL"]}
            if each["kind"] == "ServiceAccount":
                assert each["automountServiceAccountToken"] is False


def test_the_notes_say_what_to_do_next() -> None:
    answer = run("helm", "install", "quotecast", CHART, "--dry-run=client", "--values", VALUES[0])
    assert answer.returncode == 0, answer.stderr
    notes = answer.stdout.split("\nNOTES:\n")[1]
    for part in (
        "rollout status deployment/prices-api",
        "https://quotes.example.com/api",
        "quotecast_feed_sockets",
    ):
        assert part in notes
    assert "simulated" not in notes


def test_the_values_on_the_page_are_values_of_the_chart(tmp_path: Path) -> None:
    """Each block of values in docs/kubernetes.md renders, alone and with all others."""
    blocks = re.findall(
        r"^```yaml\n(.*?)^```", (ROOT / "docs" / "kubernetes.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert len(blocks) > 5
    files = [tmp_path / f"{number}.yaml" for number in range(len(blocks))]
    for path, block in zip(files, blocks, strict=True):
        path.write_text(block, "utf-8")
        documents = by_name(render("--values", path))
        settings = documents["ConfigMap", "quotecast-settings"]["data"]
        assert settings.keys() <= set(model.variable_names())
    assert by_name(render(*(part for path in files for part in ("--values", path))))


def test_chart_and_service_have_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    assert chart["version"] == chart["appVersion"] == project["version"]
