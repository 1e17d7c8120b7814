"""The Helm chart and the kustomization, rendered by the programs of `deploy/install-validators`."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]  # ships no types

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm" / "quotecast"
PROGRAMS = ROOT / ".venv-deploy" / "bin"

Document = dict[str, Any]
#: Kind and name.
Key = tuple[str, str]

#: Labels that only the chart sets; `instance` is also in its selectors.
OF_HELM = {
    "app.kubernetes.io/instance",
    "app.kubernetes.io/managed-by",
    "app.kubernetes.io/version",
    "helm.sh/chart",
}
#: Labels of objects (not of pods) that only the chart sets.
OF_OBJECTS = {"app.kubernetes.io/name", "app.kubernetes.io/component"}
#: The hash that kustomize appends to the name of the settings; the chart has a checksum on the pods.
_HASH = re.compile(r"^(quotecast-settings)-[a-z0-9]{10}$")


def run(program: str, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([PROGRAMS / program, *arguments], capture_output=True, text=True, check=False)


def render(*arguments: str | Path, release: str = "quotecast", program: str = "helm") -> str:
    """Returns the manifests of the chart; `arguments` are those of `helm template`."""
    done = run(program, "template", release, CHART, "--namespace", "quotecast", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def kustomized() -> str:
    done = run("kubectl", "kustomize", ROOT / "deploy" / "kubernetes")
    assert done.returncode == 0, done.stderr
    return done.stdout


def by_name(text: str) -> dict[Key, Document]:
    """Returns the documents of a stream by kind and name, each of which occurs once."""
    documents = [each for each in yaml.safe_load_all(text) if each]
    named = {(each["kind"], each["metadata"]["name"]): each for each in documents}
    assert len(named) == len(documents)
    return named


def comparable(documents: Iterable[Document]) -> dict[Key, Document]:
    """Returns the documents without what kustomize and Helm add, by kind and name."""
    return {(each["kind"], each["metadata"]["name"]): each for each in map(_comparable, documents)}


def _comparable(document: Document) -> Document:
    plain: Document = _stripped(document)
    for name in OF_OBJECTS:
        plain["metadata"]["labels"].pop(name, None)
    for metadata in (plain["metadata"], plain.get("spec", {}).get("template", {}).get("metadata", {})):
        notes = metadata.get("annotations", {})
        for name in [each for each in notes if each.startswith(("helm.sh/hook", "checksum/"))]:
            del notes[name]
        if not notes:
            metadata.pop("annotations", None)
    return plain


def _stripped(value: Any) -> Any:
    """Returns the value without Helm's labels at any depth, and with the plain name of the settings."""
    if isinstance(value, dict):
        return {key: _stripped(each) for key, each in value.items() if key not in OF_HELM}
    if isinstance(value, list):
        return [_stripped(each) for each in value]
    return _HASH.sub(r"\1", value) if isinstance(value, str) else value
