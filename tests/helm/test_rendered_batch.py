"""`jarvis k8s render`: plain manifests, the same batch as the chart's."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from jarvis_workers import __version__
from jarvis_workers.operate.kubernetes.batch_values import ChartValues
from tests.cli.commands import Ended, Jarvis
from tests.cli.conftest import jarvis as jarvis
from tests.helm.chart import CHART, SERVERS, VERSIONS, Manifest, manifests, of_kind, problems
from tests.helm.test_chart import BATCH, EVERYTHING, TRIAL

SOURCE = ("--source", "https://host/repo.git@v1.2", "--name", "nightly-1")


def render(jarvis: Jarvis, values: Mapping[str, Any] | str, *options: str, kind: str = "sec") -> Ended:
    file = jarvis.place / "values.yaml"
    file.write_text(values if isinstance(values, str) else yaml.safe_dump(dict(values)))
    return jarvis("k8s", "render", kind, *SOURCE, "--values", file, *options)


def without_names(job: Manifest) -> Any:
    """Return the specification of a Job without what is named after the release."""
    spec = job["spec"]
    spec["template"]["metadata"].pop("labels")
    pod = spec["template"]["spec"]
    pod.pop("serviceAccountName")
    pod["volumes"] = sorted(
        ({"name": "config"} if one["name"] == "config" else one for one in pod["volumes"]), key=lambda one: one["name"]
    )
    for container in pod["containers"]:
        container["volumeMounts"].sort(key=lambda one: one["name"])
        container["env"].sort(key=lambda one: one["name"])
    return spec


VOLUME = {
    "extraVolumes": [{"name": "corpus", "emptyDir": {}}],
    "extraVolumeMounts": [{"name": "corpus", "mountPath": "/c"}],
}
PLACED = {"nodeSelector": {"pool": "scan"}, "tolerations": [{"operator": "Exists"}], "backoffLimit": 2}


@pytest.mark.parametrize(
    "values",
    [
        EVERYTHING,
        SERVERS | {"batch": {**BATCH, **VOLUME, **PLACED}, "image": {"tag": __version__}},
        SERVERS | {"batch": {**BATCH, "output": ""}, "blobs": {"claim": {"existing": "blobs"}}},
        SERVERS | {"batch": BATCH, "securityContext": {"runAsUser": None, "runAsGroup": None, "fsGroup": None}},
    ],
)
@pytest.mark.sample(1)
def test_job_is_that_of_the_chart(jarvis: Jarvis, values: Mapping[str, Any]) -> None:
    ended = render(jarvis, values)
    assert (ended.code, ended.err) == (0, "")
    rendered = list(yaml.safe_load_all(ended.out))

    job = of_kind(rendered, "Job")["jarvis-batch-nightly-1"]
    of_chart = of_kind(manifests(values), "Job")["test-jarvis-batch-nightly-1"]
    assert without_names(job) == without_names(of_chart)
    assert [problem for version in VERSIONS for one in rendered for problem in problems(one, version)] == []


CONVERSION = {**BATCH, "kind": "c2rust", "command": "fast", "output": "", "extraArgs": ["--build", "make"]}


@pytest.mark.parametrize(
    "batch", [{}, {"output": "/c/zlib_rs", **VOLUME}, {"command": "transpile"}, {"command": "scan"}]
)
def test_a_conversion_is_that_of_the_chart(jarvis: Jarvis, batch: Mapping[str, Any]) -> None:
    values = SERVERS | {"batch": {**CONVERSION, **batch}}
    ended = render(jarvis, values, kind="c2rust")
    assert (ended.code, ended.err) == (0, "")

    job = of_kind(list(yaml.safe_load_all(ended.out)), "Job")["jarvis-batch-nightly-1"]
    assert without_names(job) == without_names(of_kind(manifests(values), "Job")["test-jarvis-batch-nightly-1"])


def test_a_conversion_writes_its_crate_to_a_writable_directory(jarvis: Jarvis) -> None:
    ended = render(jarvis, SERVERS, "--", "--build", "make", "--test", "make test", kind="c2rust")
    job = of_kind(list(yaml.safe_load_all(ended.out)), "Job")["jarvis-batch-nightly-1"]
    (container,) = job["spec"]["template"]["spec"]["containers"]

    assert container["args"][:2] == ["c2rust", "fast"]
    assert container["args"][-6:] == ["-o", "/var/lib/jarvis/crate", "--build", "make", "--test", "make test"]
    assert {"name": "data", "mountPath": "/var/lib/jarvis"} in container["volumeMounts"]


def test_workers_of_the_chart_serve_builds() -> None:
    groups = of_kind(manifests(SERVERS), "Deployment")
    args = [one["spec"]["template"]["spec"]["containers"][0]["args"] for one in groups.values()]

    assert all(any(queue in words for words in args) for queue in ("build", "translate"))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--command", "agent"), "--command agent: for c2rust, use fast or transpile or scan"),
        (("-o", "s3://bucket/crate"), "--output: a crate is a directory; give the path of a mounted volume"),
    ],
)
def test_a_conversion_that_cannot_be_is_one_line(jarvis: Jarvis, options: tuple[str, ...], says: str) -> None:
    ended = render(jarvis, SERVERS, *options, kind="c2rust")

    assert (ended.code, ended.out) == (2, "")
    assert ended.line.endswith(says)


def test_what_the_job_needs_is_rendered_with_it(jarvis: Jarvis) -> None:
    values = {**EVERYTHING, "config": {"log_level": "debug"}}
    options = ("--command", "fast", "--output", "s3://b/r.json", "--", "--fail-on", "high")
    ended = render(jarvis, values, *options)
    rendered = {one["kind"]: one for one in yaml.safe_load_all(ended.out)}

    assert set(rendered) == {"ServiceAccount", "ConfigMap", "NetworkPolicy", "Job"}
    pod = rendered["Job"]["spec"]["template"]
    assert pod["spec"]["serviceAccountName"] == rendered["ServiceAccount"]["metadata"]["name"]
    assert rendered["ServiceAccount"]["metadata"]["annotations"] == {
        "eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/scans"
    }
    assert rendered["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"] == pod["metadata"]["labels"]
    assert yaml.safe_load(rendered["ConfigMap"]["data"]["jarvis.yaml"]) == {"log_level": "debug"}
    arguments = pod["spec"]["containers"][0]["args"]
    assert arguments[:2] == ["sec", "fast"] and arguments[-4:] == ["-o", "s3://b/r.json", "--fail-on", "high"]
    assert "&id" not in ended.out


@pytest.mark.parametrize(
    ("values", "options", "says"),
    [
        ({}, (), "--values: store.existingSecret is not set; set it to the secret that contains the address"),
        (TRIAL, (), "set it to the secret that contains the address, such as jarvis-postgres of the bundled server"),
        (SERVERS, ("--name", "No_k8s"), '--name: "No_k8s" should consist of at most 40 of a-z, 0-9 and "-"'),
        (SERVERS, ("--source", "--rules"), "--source: give a git URL"),
        (SERVERS, ("--source", "https://token@host/r.git"), "--source: do not put credentials in a URL"),
        (SERVERS, ("-o", "s3://key:secret@bucket/r.json"), "--output: do not put credentials in a URL"),
        (SERVERS | {"blobs": {}}, (), "set exactly one of blobs.url, blobs.existingSecret and blobs.claim.existing"),
        (SERVERS | {"batch": {"replica": 1}}, (), "batch.replica: Extra inputs are not permitted"),
        (SERVERS | {"imgae": {}}, (), "imgae: Extra inputs are not permitted"),
        ("a: [", (), "cannot be read as YAML"),
        ("- a", (), "valid dictionary"),
    ],
)
def test_wrong_values_are_one_line(
    jarvis: Jarvis, values: Mapping[str, Any] | str, options: tuple[str, ...], says: str
) -> None:
    ended = render(jarvis, values, *options)

    assert (ended.code, ended.out) == (2, "")
    assert says in ended.line


def test_hostile_text_stays_a_value(jarvis: Jarvis) -> None:
    """A string cannot end its scalar and add keys."""
    hostile = 'x"\n  hostPID: true\n---\nkind: Pod'
    values = {**SERVERS, "batch": {"extraEnv": [{"name": "A", "value": hostile}]}, "config": {"report": {"a": hostile}}}
    ended = render(jarvis, values, "--source", hostile)

    rendered = list(yaml.safe_load_all(ended.out))
    (container,) = of_kind(rendered, "Job")["jarvis-batch-nightly-1"]["spec"]["template"]["spec"]["containers"]
    assert container["args"][3] == hostile
    assert {"name": "A", "value": hostile} in container["env"]
    assert len(rendered) == 4


def test_defaults_are_those_of_the_chart() -> None:
    defaults = yaml.safe_load(Path(CHART / "values.yaml").read_text())
    ours = ChartValues().model_dump(mode="json", by_alias=True)
    known = [name for name, value in ours.items() if value is not None and name not in ("postgres", "redis")]

    assert set(ours) == set(defaults)
    assert len(known) == 11
    for name in known:
        if name == "networkPolicy":
            defaults[name]["ingress"] = {}
        assert ours[name] == defaults[name], name
