"""Render the chart by the real helm, and validate manifests by the schemas of several Kubernetes versions, offline."""

import copy
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import yaml
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from tests.support.servers import missing

TOP = Path(__file__).parents[2]
CHART = TOP / "helm" / "jarvis"
CUSTOM = TOP / "tests" / "data" / "crds"
VERSIONS = ("1.31", "1.34", "1.37")
SERVERS: Mapping[str, Any] = {
    "store": {"existingSecret": "store"},
    "broker": {"existingSecret": "broker"},
    "blobs": {"url": "s3://bucket/jarvis"},
}

Manifest = dict[str, Any]
YamlLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def helm_binary() -> str:
    """Return the path of helm, also if installed by `go install`."""
    found = shutil.which("helm") or shutil.which("helm", path=str(Path.home() / "go" / "bin"))
    if found is None:
        missing("helm")
    return found


def helm(*arguments: str, values: Mapping[str, Any] | None = None) -> "subprocess.CompletedProcess[str]":
    """Run helm, with values on standard input."""
    given = () if values is None else ("--values", "-")
    environ = {**os.environ, "HELM_NO_PLUGINS": "1"}
    written = yaml.safe_dump(dict(values or {}))
    command = [helm_binary(), *arguments, *given]
    return subprocess.run(command, input=written, capture_output=True, text=True, env=environ, check=False)


def render(
    values: Mapping[str, Any], version: str = VERSIONS[-1], *, chart: Path = CHART, only: str | None = None
) -> str:
    """Return the output of `helm template`, of one template if `only` is given. Fails if helm does."""
    where = ["--kube-version", f"{version}.0", "--namespace", "scans", *(("--show-only", only) if only else ())]
    done = helm("template", "test", str(chart), *where, values=values)
    assert done.returncode == 0, done.stderr
    return done.stdout


def notes(values: Mapping[str, Any]) -> str:
    """Return the notes after an installation, rendered as a manifest, as helm needs a cluster to print them."""
    with tempfile.TemporaryDirectory() as directory:
        twin = Path(shutil.copytree(CHART, Path(directory) / "jarvis"))
        (twin / "templates" / "NOTES.txt").rename(twin / "files" / "notes")
        (twin / "templates" / "notes.yaml").write_text('notes: {{ tpl (.Files.Get "files/notes") . | quote }}\n')
        shown = render(values, chart=twin, only="templates/notes.yaml")
    return str(yaml.safe_load(shown)["notes"])


def manifests(values: Mapping[str, Any], version: str = VERSIONS[-1]) -> list[Manifest]:
    """Return the rendered manifests; helm runs once for the same values."""
    loaded = _manifests(json.dumps(dict(values), sort_keys=True), version)
    return copy.deepcopy(loaded)


@cache
def _manifests(values: str, version: str) -> list[Manifest]:
    return [one for one in yaml.load_all(render(json.loads(values), version), YamlLoader) if one]


def of_kind(rendered: list[Manifest], kind: str) -> dict[str, Manifest]:
    """Return the manifests of a kind by name."""
    return {one["metadata"]["name"]: one for one in rendered if one["kind"] == kind}


def pod_specs(rendered: list[Manifest]) -> Iterator[tuple[str, Manifest]]:
    """Yield the name and the pod specification of every resource that creates pods."""
    for one in rendered:
        name = f"{one['kind']}/{one['metadata']['name']}"
        if one["kind"] == "Pod":
            yield name, one["spec"]
        elif "template" in one.get("spec", {}):
            yield name, one["spec"]["template"]["spec"]


def problems(manifest: Manifest, version: str) -> list[str]:
    """Return the violations of the strict schema of a Kubernetes version by a manifest."""
    group, _, revision = manifest["apiVersion"].rpartition("/")
    prefix = f"{group.partition('.')[0]}-" if group else ""
    name = f"{manifest['kind'].lower()}-{prefix}{revision}.json"
    custom = CUSTOM / name
    schema = json.loads(custom.read_text()) if custom.exists() else {"$ref": f"https://kubernetes.invalid/{name}"}
    validator = jsonschema.Draft202012Validator(schema, registry=_registry(version))
    place = f"{manifest['kind']} {manifest['metadata']['name']}"
    return [f"{version}: {place}: {error.json_path}: {error.message}" for error in validator.iter_errors(manifest)]


@cache
def _registry(version: str) -> "Registry[Any]":
    folder = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema" / f"v{version}.0-local-strict"

    def retrieve(uri: str) -> "Resource[Any]":
        content = json.loads((folder / uri.rpartition("/")[2]).read_text())
        return Resource(contents=content, specification=DRAFT202012)

    retrieved: dict[str, Resource[Any]] = {}
    return Registry(retrieve=lambda uri: retrieved.get(uri) or retrieved.setdefault(uri, retrieve(uri)))
