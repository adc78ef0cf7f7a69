"""Render a batch as plain manifests: the Job of the chart, and the configuration, account and policies that it needs.

A test compares the pod with the one that helm renders from the same values.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from jarvis_workers import __version__
from jarvis_workers.errors import UsageError
from jarvis_workers.operate.kubernetes.batch_values import BatchValues, ChartValues, EgressRule
from jarvis_workers.paths import plain
from jarvis_workers.runs.sources import PASSWORD

# As in values.schema.json: what fits in the name of the Job.
NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,38}[a-z0-9])?")
SECRETS = "/run/secrets/jarvis"
CREDENTIALS = f"{SECRETS}/objects/credentials"
LABELS = {"app.kubernetes.io/name": "jarvis", "app.kubernetes.io/component": "batch"}
# Exit codes after which another attempt would end in the same way: findings, a wrong command, something not checked.
FINAL_CODES = [1, 2, 3]

# The commands of each kind of batch; the first is the default where values do not name one of them.
COMMANDS = {"sec": ("agent", "fast"), "c2rust": ("fast", "transpile", "scan")}
CONVERSIONS = (("c2rust", "fast"), ("c2rust", "transpile"))
# A directory of the pod; the crate stays in the store as well.
CRATE = "/var/lib/jarvis/crate"

Manifest = dict[str, Any]


def batch_manifests(values: ChartValues) -> list[Manifest]:
    """Return the manifests of a batch. Raises UsageError for missing or inconsistent values."""
    _check(values)
    name = f"jarvis-batch-{values.batch.name}"
    metadata = {"name": name, "labels": {**LABELS, "app.kubernetes.io/instance": name}}
    account = values.service_account
    manifests: list[Manifest] = []
    if account.create:
        own = metadata | {"name": account.name or name}
        annotated = {**own, "annotations": dict(account.annotations)} if account.annotations else own
        head = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": annotated}
        manifests.append({**head, "automountServiceAccountToken": False})
    config = {"jarvis.yaml": yaml.safe_dump(values.config)}
    manifests.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": config})
    if values.network_policy.enabled:
        manifests.append(_policy(values, metadata))
    return [*manifests, {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": _job(values, metadata)}]


def to_yaml(manifests: list[Manifest]) -> str:
    """Return the manifests as one YAML stream."""
    return yaml.safe_dump_all(manifests, explicit_start=True, sort_keys=False, allow_unicode=True)


def _check(values: ChartValues) -> None:
    _check_batch(values.batch)
    blobs = values.blobs
    for server, secret in (("postgres", "store.existingSecret"), ("redis", "broker.existingSecret")):
        section = secret.partition(".")[0]
        if not getattr(values, section).existing_secret:
            bundled = f", such as jarvis-{server} of the bundled server" if getattr(values, server).enabled else ""
            raise UsageError(f"--values: {secret} is not set; set it to the secret that contains the address{bundled}")
    if blobs.claim.create and not blobs.claim.existing:
        raise UsageError("--values: blobs.claim.create is for the chart; name the claim in blobs.claim.existing")
    if sum(map(bool, (blobs.url, blobs.existing_secret, blobs.claim.existing))) != 1:
        raise UsageError("--values: set exactly one of blobs.url, blobs.existingSecret and blobs.claim.existing")


def _check_batch(batch: BatchValues) -> None:
    if not NAME.fullmatch(batch.name):
        raise UsageError(f'--name: "{plain(batch.name[:80])}" should consist of at most 40 of a-z, 0-9 and "-"')
    if not batch.source or batch.source.startswith("-"):
        raise UsageError("--source: give a git URL or the path of a mounted volume")
    for option, value in (("--source", batch.source), ("--output", batch.output)):
        if PASSWORD.match(value):
            raise UsageError(f"{option}: do not put credentials in a URL, where others can see them; use a secret")
    if batch.command not in COMMANDS[batch.kind]:
        raise UsageError(f"--command {batch.command}: for {batch.kind}, use {' or '.join(COMMANDS[batch.kind])}")
    if batch.kind == "c2rust" and "://" in batch.output:
        raise UsageError("--output: a crate is a directory; give the path of a mounted volume")


def _job(values: ChartValues, metadata: Manifest) -> Manifest:
    batch = values.batch
    evicted = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    codes = {"containerName": "batch", "operator": "In", "values": FINAL_CODES}
    return {
        "backoffLimit": batch.backoff_limit,
        "activeDeadlineSeconds": batch.active_deadline_seconds,
        "ttlSecondsAfterFinished": batch.ttl_seconds_after_finished,
        "podFailurePolicy": {"rules": [evicted, {"action": "FailJob", "onExitCodes": codes}]},
        "template": {"metadata": {"labels": dict(metadata["labels"])}, "spec": _pod(values, metadata["name"])},
    }


def _pod(values: ChartValues, name: str) -> Manifest:
    batch, context = values.batch, values.security_context
    ids = {"runAsUser": context.run_as_user, "runAsGroup": context.run_as_group, "fsGroup": context.fs_group}
    security: Manifest = {"runAsNonRoot": True, **{key: value for key, value in ids.items() if value}}
    if context.fs_group:
        security["fsGroupChangePolicy"] = "OnRootMismatch"
    account = values.service_account.name or (name if values.service_account.create else "default")
    optional = {
        "imagePullSecrets": [{"name": one} for one in values.image_pull_secrets],
        "nodeSelector": batch.node_selector,
        "tolerations": batch.tolerations,
    }
    return {
        "serviceAccountName": account,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {**security, "seccompProfile": {"type": "RuntimeDefault"}},
        "restartPolicy": "Never",
        **{key: value for key, value in optional.items() if value},
        "containers": [_container(values)],
        "volumes": [*_volumes(values, name), *batch.extra_volumes],
    }


def _container(values: ChartValues) -> Manifest:
    batch, image = values.batch, values.image
    mounts = [_mount(one, place, read_only=is_secret) for one, place, is_secret in _places(values)]
    place = batch.output or (CRATE if (batch.kind, batch.command) in CONVERSIONS else "")
    output = ["-o", place] if place else []
    run = [batch.kind, batch.command, "-p", batch.source, "--where", "cluster", "--name", batch.name]
    return {
        "name": "batch",
        "image": f"{image.repository}@{image.digest}"
        if image.digest
        else f"{image.repository}:{image.tag or __version__}",
        "imagePullPolicy": image.pull_policy,
        "workingDir": "/etc/jarvis",
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "args": [*run, *output, *batch.extra_args],
        "env": [*_variables(values)],
        "resources": batch.resources,
        "volumeMounts": [*mounts, *batch.extra_volume_mounts],
    }


def _variables(values: ChartValues) -> Iterator[Manifest]:
    batch, blobs = values.batch, values.blobs
    plain_values = {
        "JARVIS_DATA_DIR": "/var/lib/jarvis",
        "JARVIS_STORE_URL_FILE": f"{SECRETS}/store/url",
        "JARVIS_BROKER_URL_FILE": f"{SECRETS}/broker/url",
    }
    if blobs.existing_secret:
        plain_values["JARVIS_BLOBS_URL_FILE"] = f"{SECRETS}/blobs/url"
    else:
        plain_values["JARVIS_BLOBS_URL"] = blobs.url or "/var/lib/jarvis-blobs"
    if blobs.credentials_secret:
        plain_values |= {"AWS_SHARED_CREDENTIALS_FILE": CREDENTIALS, "GOOGLE_APPLICATION_CREDENTIALS": CREDENTIALS}
    plain_values |= {key: _text(value) for key, value in sorted(blobs.env.items())}
    yield from ({"name": key, "value": value} for key, value in plain_values.items())
    yield from values.extra_env
    if batch.git_token_secret:
        yield {"name": "JARVIS_GIT_TOKEN_FILE", "value": f"{SECRETS}/git/token"}
    yield from batch.extra_env


def _text(value: str | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _places(values: ChartValues) -> Iterator[tuple[str, str, bool]]:
    """Yield the name of each volume, where it is mounted, and whether it is read only."""
    blobs = values.blobs
    yield "config", "/etc/jarvis", True
    yield "store", f"{SECRETS}/store", True
    yield "broker", f"{SECRETS}/broker", True
    yield "data", "/var/lib/jarvis", False
    yield "tmp", "/tmp", False
    if blobs.claim.existing:
        yield "blobs", "/var/lib/jarvis-blobs", False
    elif blobs.existing_secret:
        yield "blobs", f"{SECRETS}/blobs", True
    if blobs.credentials_secret:
        yield "objects", f"{SECRETS}/objects", True
    if values.batch.git_token_secret:
        yield "git", f"{SECRETS}/git", True


def _mount(name: str, place: str, *, read_only: bool) -> Manifest:
    return {"name": name, "mountPath": place, **({"readOnly": True} if read_only else {})}


def _volumes(values: ChartValues, name: str) -> Iterator[Manifest]:
    store, broker, blobs = values.store, values.broker, values.blobs
    yield {"name": "config", "configMap": {"name": name}}
    yield _secret("store", store.existing_secret, store.key, "url")
    yield _secret("broker", broker.existing_secret, broker.key, "url")
    yield {"name": "data", "emptyDir": {"sizeLimit": "4Gi"}}
    yield {"name": "tmp", "emptyDir": {"sizeLimit": values.batch.tmp_size}}
    if blobs.claim.existing:
        yield {"name": "blobs", "persistentVolumeClaim": {"claimName": blobs.claim.existing}}
    elif blobs.existing_secret:
        yield _secret("blobs", blobs.existing_secret, blobs.key, "url")
    if blobs.credentials_secret:
        yield _secret("objects", blobs.credentials_secret, blobs.credentials_key, "credentials")
    if values.batch.git_token_secret:
        yield _secret("git", values.batch.git_token_secret, values.batch.git_token_key, "token")


def _secret(name: str, secret: str, key: str, path: str) -> Manifest:
    return {"name": name, "secret": {"secretName": secret, "items": [{"key": key, "path": path}]}}


def _policy(values: ChartValues, metadata: Manifest) -> Manifest:
    policy = values.network_policy
    rules = [policy.store, policy.broker, policy.sources]
    rules += [] if values.blobs.claim.existing else [policy.blobs]
    more = [_egress(rule, "TCP") for rule in rules] + list(policy.extra_egress)
    spec = {
        "podSelector": {"matchLabels": dict(metadata["labels"])},
        "policyTypes": ["Ingress", "Egress"],
        "egress": [_egress(policy.dns, "TCP", "UDP"), *more],
    }
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec}


def _egress(rule: EgressRule, *protocols: str) -> Manifest:
    ports = [{"protocol": protocol, "port": port} for port in rule.ports for protocol in protocols]
    return {"ports": ports, **({"to": rule.to} if rule.to else {})}
