"""The chart on a real API server: every manifest is admitted, also by the restricted profile of pod security."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.cli.commands import Jarvis
from tests.cli.conftest import jarvis as jarvis
from tests.helm.apiserver import ApiServer, api_server
from tests.helm.chart import CHART, Manifest, pod_specs, render
from tests.helm.test_chart import EVERYTHING, MATRIX, TRIAL

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def server() -> Iterator[ApiServer]:
    with api_server() as running:
        yield running


@pytest.mark.parametrize("values", MATRIX.values(), ids=MATRIX)
def test_server_admits_every_manifest_without_a_warning(server: ApiServer, values: Any) -> None:
    written = render(values)

    said = server.apply(written, "--dry-run=server")

    assert "Warning" not in said, said


def with_claims(pod: Manifest) -> Manifest:
    """Return a pod with the volume that a stateful set would add."""
    names = {one["name"] for one in pod["volumes"]}
    claims = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    return pod if "data" in names else {**pod, "volumes": [*pod["volumes"], *claims]}


def test_server_admits_every_pod_to_a_restricted_namespace(server: ApiServer) -> None:
    head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "low"}}
    server.apply(yaml.safe_dump({**head, "value": 1, "preemptionPolicy": "Never"}))
    for values in (EVERYTHING, TRIAL):
        rendered = [one for one in yaml.safe_load_all(render(values)) if one]
        pods = [
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-{n}"}, "spec": with_claims(spec)}
            for n, (_, spec) in enumerate(pod_specs(rendered))
        ]
        said = server.apply(yaml.safe_dump_all(pods), "--dry-run=server")
        assert said.count("serverside-applied") == len(pods)


def test_release_is_installed_upgraded_and_removed(server: ApiServer) -> None:
    install = ("test", str(CHART), "--no-hooks")
    server.helm("install", *install, values=EVERYTHING)
    workers = server.get("deployment", "test-jarvis-worker-big")
    assert workers["spec"]["template"]["spec"]["priorityClassName"] == "low"

    slower = {**EVERYTHING, "workers": {**EVERYTHING["workers"], "big": {"queues": ["scan", "control"], "slots": 2}}}
    server.helm("upgrade", *install, values=slower)
    container = server.get("deployment", "test-jarvis-worker-big")["spec"]["template"]["spec"]["containers"][0]
    assert container["args"][-4:-2] == ["--concurrency", "2"]

    server.helm("uninstall", "test", "--no-hooks")
    assert "No resources found" in server.kubectl("get", "deployments,jobs,secrets,networkpolicies").stderr


def test_upgrade_of_a_trial_keeps_its_passwords(server: ApiServer) -> None:
    install = ("trial", str(CHART), "--no-hooks")
    server.helm("install", *install, values=TRIAL)
    before = [server.get("secret", f"trial-jarvis-{name}")["data"] for name in ("postgres", "redis")]

    server.helm("upgrade", *install, values=TRIAL)

    assert [server.get("secret", f"trial-jarvis-{name}")["data"] for name in ("postgres", "redis")] == before
    assert server.get("job", "trial-jarvis-migrate-2")["spec"]["template"]["spec"]["restartPolicy"] == "Never"
    server.helm("uninstall", "trial", "--no-hooks")


def test_rendered_batch_is_admitted(server: ApiServer, jarvis: Jarvis) -> None:
    (jarvis.place / "values.yaml").write_text(yaml.safe_dump(dict(EVERYTHING)))
    source = ("--source", "https://host/repo.git@v1", "--name", "v1", "--values", "values.yaml")
    ended = jarvis("k8s", "render", "sec", *source)

    assert "Warning" not in server.apply(ended.out)
    assert server.get("job", "jarvis-batch-v1")["spec"]["podFailurePolicy"]["rules"][0]["action"] == "Ignore"
