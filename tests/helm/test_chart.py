"""The chart: valid for several Kubernetes versions over a matrix of values, strict about values, and hardened."""

import json
import re
from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any

import pytest
import yaml

from jarvis_workers.settings.sources import setting_names
from jarvis_workers.store.queues import QUEUES
from tests.helm.chart import CHART, SERVERS, VERSIONS, helm, manifests, notes, of_kind, pod_specs, problems

TRIAL = {
    "postgres": {"enabled": True},
    "redis": {"enabled": True},
    "blobs": {"claim": {"create": True, "accessModes": ["ReadWriteOnce"], "storageClassName": "standard"}},
}
BATCH = {
    "enabled": True,
    "source": "https://host/repo.git@v1.2",
    "name": "nightly-1",
    "output": "s3://bucket/nightly.sarif",
    "extraArgs": ["--fail-on", "high"],
    "gitTokenSecret": "git",
}
PLACEMENT = {
    "priorityClassName": "low",
    "nodeSelector": {"pool": "scan"},
    "tolerations": [{"key": "scan", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {"podAntiAffinity": {}},
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"app.kubernetes.io/component": "worker-big"}},
        }
    ],
    "podAnnotations": {"team": "security"},
    "podLabels": {"team": "security"},
    "extraEnv": [{"name": "MALLOC_ARENA_MAX", "value": "2"}],
    "extraVolumes": [{"name": "corpus", "persistentVolumeClaim": {"claimName": "corpus"}}],
    "extraVolumeMounts": [{"name": "corpus", "mountPath": "/corpus", "readOnly": True}],
}
EVERYTHING: Mapping[str, Any] = SERVERS | {
    "store": {"existingSecret": "store", "ownerSecret": "owner"},
    "blobs": {
        "existingSecret": "blobs",
        "credentialsSecret": "aws",
        "env": {"AWS_ENDPOINT_URL_S3": "https://s3.example"},
    },
    "image": {"digest": "sha256:" + "0" * 64},
    "imagePullSecrets": ["registry"],
    "modelKeys": {"existingSecret": "models"},
    "config": {"models": {"main": {"model": "m", "api_key_file": "/run/secrets/jarvis/models/main"}}},
    "workers": {
        "scan": {"queues": ["scan"], "autoscaling": {"kind": "keda", "minReplicas": 0}},
        "agent": {"queues": ["agent"], "autoscaling": {"kind": "hpa"}},
        "big": {"queues": ["scan", "control"], **PLACEMENT},
    },
    "metrics": {
        "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "prometheusRule": {"enabled": True},
        "dashboards": {"enabled": True},
    },
    "web": {
        "enabled": True,
        "existingSecret": "web",
        "hosts": ["a.example"],
        "ingress": {"enabled": True, "className": "nginx", "host": "scans.example", "tlsSecret": "tls"},
    },
    "flower": {"enabled": True, "existingSecret": "flower"},
    "batch": BATCH,
    "serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/scans"}},
}
MATRIX: Mapping[str, Mapping[str, Any]] = {
    "everything": EVERYTHING,
    "servers alone": SERVERS,
    "trial": TRIAL,
    "trial with batch": TRIAL | {"batch": BATCH},
    "batch of a volume": SERVERS
    | {
        "batch": {
            **BATCH,
            "source": "/corpus",
            "extraVolumes": PLACEMENT["extraVolumes"],
            "extraVolumeMounts": PLACEMENT["extraVolumeMounts"],
        }
    },
    "no metrics": SERVERS | {"metrics": {"enabled": False}},
    "no metrics of workers": SERVERS | {"metrics": {"workerPort": 0, "serviceMonitor": {"enabled": True}}},
    "no network policy": SERVERS | {"networkPolicy": {"enabled": False}},
    "peers": SERVERS
    | {"networkPolicy": {name: {"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]} for name in ("store", "broker", "blobs")}},
    "signed in by a proxy": SERVERS
    | {
        "web": {"enabled": True, "auth": "proxy", "trustedProxies": ["10.0.0.0/8"], "editorGroups": ["security"]},
        "flower": {"enabled": True, "existingSecret": "flower", "existingClaim": "flower"},
        "networkPolicy": {"extraEgress": [{"ports": [{"port": 4318}]}]},
    },
    "existing claim": SERVERS | {"blobs": {"claim": {"existing": "blobs"}}},
    "existing account": SERVERS | {"serviceAccount": {"create": False, "name": "scanner"}},
    "any user": SERVERS | {"securityContext": {"runAsUser": None, "runAsGroup": None, "fsGroup": None}},
    "no migration": SERVERS | {"migrate": {"enabled": False}},
    "no disruption budgets": SERVERS | {"workerDefaults": {"pdb": {"enabled": False}}},
    "one group": SERVERS
    | {"workers": {"scan": {"enabled": False}, "agent": {"enabled": False}, "control": {"queues": list(QUEUES)}}},
    "all scaled by keda": SERVERS | {"workerDefaults": {"autoscaling": {"kind": "keda"}}},
    "all scaled by cpu": SERVERS | {"workerDefaults": {"autoscaling": {"kind": "hpa", "minReplicas": 0}}},
    "own metrics": SERVERS
    | {
        "workers": {
            "scan": {
                "queues": ["scan"],
                "autoscaling": {
                    "kind": "hpa",
                    "hpa": {
                        "metrics": [
                            {
                                "type": "External",
                                "external": {"metric": {"name": "jobs"}, "target": {"type": "Value", "value": "8"}},
                            }
                        ],
                        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}},
                    },
                },
            }
        }
    },
    "long names": SERVERS | {"fullnameOverride": "a" * 60},
}


def test_lint_is_strict_and_clean():
    done = helm("lint", "--strict", str(CHART), "--kube-version", "1.34.0", values=EVERYTHING)

    assert done.returncode == 0, done.stdout + done.stderr
    assert not re.findall(r"\[(WARNING|ERROR)\]", done.stdout)


@pytest.mark.sample(2)
@pytest.mark.parametrize("values", MATRIX.values(), ids=MATRIX)
def test_manifests_are_valid_and_hardened(values):
    """Validated with the strict schemas of three Kubernetes versions, which refuse unknown fields."""
    rendered = manifests(values)

    assert [problem for version in VERSIONS for one in rendered for problem in problems(one, version)] == []
    assert [problem for name, pod in pod_specs(rendered) for problem in _weaknesses(name, pod)] == []
    assert max(len(one["metadata"]["name"]) for one in rendered) <= 63
    assert len({(one["kind"], one["metadata"]["name"]) for one in rendered}) == len(rendered)


def _weaknesses(name: str, pod: dict[str, Any]) -> list[str]:
    """Return which rules of hardening a pod breaks."""
    context = pod["securityContext"]
    rules = {
        "has a token of the API server": pod.get("automountServiceAccountToken") is False,
        "gets variables of services, which are not settings": pod.get("enableServiceLinks") is False,
        "may run as root": context.get("runAsNonRoot") is True and context.get("runAsUser", 1) != 0,
        "has no seccomp profile": context.get("seccompProfile") == {"type": "RuntimeDefault"},
        "uses the host": not any("hostPath" in one for one in pod["volumes"]) and not pod.get("hostNetwork"),
    }
    broken = [rule for rule, holds in rules.items() if not holds]
    broken += [rule for container in pod["containers"] for rule in _container_weaknesses(name, container)]
    return [f"{name}: {rule}" for rule in broken]


def _container_weaknesses(name: str, container: dict[str, Any]) -> list[str]:
    security, resources = container["securityContext"], container["resources"]
    is_server = name.startswith(("Deployment/", "StatefulSet/"))
    rules = {
        "may gain privileges": security.get("allowPrivilegeEscalation") is False,
        "may write its root": security.get("readOnlyRootFilesystem") is True,
        "has capabilities": security.get("capabilities") == {"drop": ["ALL"]},
        "has no resources": resources.get("requests") and resources.get("limits", {}).get("memory"),
        "has no probes": not is_server or {"livenessProbe", "readinessProbe"} <= set(container),
    }
    return [rule for rule, holds in rules.items() if not holds]


PLACES = ["", "workers.scan", "image", "store", "workers.scan.autoscaling.keda", "batch", "web"]


@pytest.mark.sample(2)
@pytest.mark.parametrize("place", PLACES)
def test_unknown_values_are_refused(place):
    values: dict[str, Any] = {}
    inner = values
    for name in filter(None, place.split(".")):
        inner = inner.setdefault(name, {"queues": ["scan"]} if name == "scan" else {})
    inner["replica"] = 3

    done = helm("template", "test", str(CHART), "--kube-version", "1.34.0", values={**SERVERS, **values})

    assert done.returncode != 0
    assert "additional properties 'replica' not allowed" in done.stderr


def test_schema_refuses_unknown_values_everywhere():
    """Objects without a list of properties are those of Kubernetes, or jarvis.yaml."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    defaults = yaml.safe_load((CHART / "values.yaml").read_text())
    open_objects = set()

    def walk(part: Any, place: str) -> None:
        if isinstance(part, dict):
            if "properties" in part:
                assert part["additionalProperties"] is False, place
            elif part.get("type") == "object" and "additionalProperties" not in part:
                open_objects.add(place.rpartition("/")[2])
            for name, inner in part.items():
                walk(inner, f"{place}/{name}")
        elif isinstance(part, list):
            for inner in part:
                walk(inner, place)

    walk(schema, "")
    assert open_objects == {"config", "affinity", "behavior", "items", "valueFrom", "global"}
    assert set(schema["properties"]) - {"global"} == set(defaults), "values.yaml lists every value"


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({}, "store.existingSecret: name a secret"),
        (SERVERS | {"broker": {}}, "broker.existingSecret: name a secret"),
        (SERVERS | {"blobs": {}}, "blobs: set exactly one of"),
        (SERVERS | {"blobs": {"url": "s3://bucket", "existingSecret": "blobs"}}, "blobs: set exactly one of"),
        (SERVERS | {"web": {"enabled": True}}, "web.existingSecret: name a secret"),
        (SERVERS | {"web": {"enabled": True, "auth": "proxy"}}, "web.trustedProxies: name the addresses"),
        (SERVERS | {"flower": {"enabled": True}}, "flower.existingSecret: name a secret"),
        (SERVERS | {"batch": {"enabled": True, "name": "once"}}, "batch.source: name the source"),
        (SERVERS | {"workers": {"control": {"enabled": False}}}, "no group serves the queue control"),
        (
            SERVERS | {"workers": {"scan": {"autoscaling": {"minReplicas": 9, "maxReplicas": 3}}}},
            "workers.scan.autoscaling: minReplicas is above maxReplicas",
        ),
    ],
)
@pytest.mark.sample(1)
def test_missing_values_are_named(values, says):
    done = helm("template", "test", str(CHART), "--kube-version", "1.34.0", values=values)

    assert done.returncode != 0
    assert says in done.stderr


def test_groups_may_serve_the_queues_that_exist():
    schema = json.loads((CHART / "values.schema.json").read_text())

    assert f'"enum": {json.dumps(list(QUEUES))}' in json.dumps(schema)


def test_default_groups_serve_every_queue_and_settings_exist():
    rendered = manifests(SERVERS)
    workers = [pod["containers"][0] for name, pod in pod_specs(rendered) if "-worker-" in name]
    served = {one["args"][one["args"].index("--queues") + 1] for one in workers}
    names = {f"JARVIS_{name.upper().replace('.', '__')}" for name in setting_names()}
    variables = {one["name"] for _, pod in pod_specs(rendered) for one in pod["containers"][0].get("env", ())}

    assert served == set(QUEUES)
    assert {name.removesuffix("_FILE") for name in variables if name.startswith("JARVIS_")} <= names


def test_changed_configuration_restarts_pods():
    def checksum(config: dict[str, Any]) -> str:
        worker = of_kind(manifests(SERVERS | {"config": config}), "Deployment")["test-jarvis-worker-scan"]
        return str(worker["spec"]["template"]["metadata"]["annotations"]["checksum/config"])

    assert checksum({"log_level": "debug"}) != checksum({"log_level": "info"}) == checksum({"log_level": "info"})


def test_secrets_are_files_and_model_keys_only_with_agents():
    rendered = manifests(EVERYTHING)
    with_keys = {name for name, pod in pod_specs(rendered) if any(v["name"] == "models" for v in pod["volumes"])}
    from_secrets = {
        one["name"]
        for _, pod in pod_specs(rendered)
        for one in pod["containers"][0].get("env", ())
        if "secretKeyRef" in one.get("valueFrom", {})
    }

    assert with_keys == {"Deployment/test-jarvis-worker-agent", "Deployment/test-jarvis-worker-translate"}
    assert from_secrets == set()


def test_migration_precedes_an_installation_unless_the_database_is_part_of_it():
    jobs = of_kind(manifests(EVERYTHING), "Job")
    hook = jobs["test-jarvis-migrate"]
    volumes = {one["name"]: one for one in hook["spec"]["template"]["spec"]["volumes"]}

    assert hook["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert volumes["store"]["secret"]["secretName"] == "owner"
    trial = of_kind(manifests(TRIAL), "Job")["test-jarvis-migrate-1"]
    assert "annotations" not in trial["metadata"]


def test_network_policy_denies_by_default():
    policies = of_kind(manifests(EVERYTHING), "NetworkPolicy")
    deny = policies["test-jarvis-default-deny"]["spec"]
    models = policies["test-jarvis-models"]["spec"]["podSelector"]["matchLabels"]

    assert deny["policyTypes"] == ["Ingress", "Egress"]
    assert not deny.get("ingress") and not deny.get("egress")
    assert models["jarvis-workers/models"] == "true"
    rules = [rule for one in policies.values() for rule in one["spec"].get("ingress", ())]
    assert {port["port"] for rule in rules for port in rule["ports"]} == {9464, 9465, 8765, 5555}


@pytest.mark.parametrize("name", ["everything", "servers alone", "trial", "trial with batch"])
def test_no_policy_opens_a_port_to_everybody_or_reaches_every_address(name):
    policies = of_kind(manifests(MATRIX[name]), "NetworkPolicy").values()
    peers = [peer for one in policies for rule in one["spec"].get("ingress") or () for peer in rule["from"]]
    egress = [rule for one in policies for rule in one["spec"].get("egress") or ()]

    assert {"namespaceSelector": {}} not in peers
    assert all(rule.get("to") for rule in egress)
    for rule in egress:
        for block in [ip_network(peer["ipBlock"]["cidr"]) for peer in rule["to"] if "ipBlock" in peer]:
            left_out = [one for peer in rule["to"] for one in peer.get("ipBlock", {}).get("except", ())]
            assert block.prefixlen > 0 or {"169.254.0.0/16", "fe80::/10"} <= {*left_out}


def test_servers_of_a_trial_are_reached_by_their_labels():
    rules = of_kind(manifests(TRIAL), "NetworkPolicy")["test-jarvis-servers"]["spec"]["egress"]
    peers = {port["port"]: rule["to"] for rule in rules for port in rule["ports"]}

    for port, component in ((5432, "postgres"), (6379, "redis")):
        (peer,) = peers[port]
        assert peer["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == component


def test_batch_fails_at_once_unless_its_pod_is_evicted():
    spec = of_kind(manifests(EVERYTHING), "Job")["test-jarvis-batch-nightly-1"]["spec"]
    evicted, ended = spec["podFailurePolicy"]["rules"]

    assert evicted == {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    assert ended["action"] == "FailJob" and ended["onExitCodes"]["values"] == [1, 2, 3]
    assert ended["onExitCodes"]["containerName"] == spec["template"]["spec"]["containers"][0]["name"]
    assert spec["template"]["spec"]["restartPolicy"] == "Never"


def test_notes_name_the_groups_and_the_next_commands():
    printed = notes(EVERYTHING | {"workers": {"scan": {"queues": ["scan"]}}})

    assert "test-jarvis-worker-scan: queues scan; 2 replicas" in printed
    assert "helm test test -n scans" in printed


def test_dashboards_and_alerts_are_those_of_the_files():
    rendered = manifests(EVERYTHING)
    (rule,) = of_kind(rendered, "PrometheusRule").values()
    maps = of_kind(rendered, "ConfigMap").values()
    boards = {name: json.loads(text) for one in maps for name, text in one["data"].items() if name.endswith(".json")}
    monitors = [*of_kind(rendered, "ServiceMonitor").values(), *of_kind(rendered, "PodMonitor").values()]
    points = [point for one in monitors for name in one["spec"] if "ndpoints" in name for point in one["spec"][name]]

    assert rule["spec"] == yaml.safe_load((CHART / "files" / "alerts.yml").read_text())
    assert boards == {file.name: json.loads(file.read_text()) for file in (CHART / "files/dashboards").iterdir()}
    assert {point["relabelings"][0]["replacement"] for point in points} == {"jarvis-metrics", "jarvis-workers"}


def test_values_of_the_documentation_render():
    page = (CHART.parents[1] / "docs" / "kubernetes.md").read_text()
    blocks = [yaml.safe_load(block.partition("\n```")[0]) for block in page.split("```yaml\n")[1:]]

    install, operators, workers = blocks
    assert "test-jarvis-worker-scan" in of_kind(manifests({**install, **operators}), "ScaledObject")
    assert "test-jarvis-worker-spot" in of_kind(manifests({**install, **workers}), "Deployment")
