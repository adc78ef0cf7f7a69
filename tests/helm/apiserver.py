"""A real API server of Kubernetes with its etcd, without controllers or nodes: it validates and admits what is applied.

The binaries are named by KUBE_APISERVER (default: on PATH) and ETCD; kubectl is on PATH.
"""

import json
import os
import secrets
import shutil
import ssl
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from tests.chaos.commands import until
from tests.helm.chart import CUSTOM, Manifest, helm
from tests.support.servers import free_port, missing

START_SECONDS = 300.0
NAMESPACE = "scans"


class ApiServer:
    """A running server, which kubectl and helm reach as an administrator."""

    def __init__(self, home: Path, port: int, token: str) -> None:
        self.home, self.url, self._token = home, f"https://127.0.0.1:{port}", token
        self.config = home / "kubeconfig"
        named = {"name": "test"}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [named | {"cluster": {"server": self.url, "insecure-skip-tls-verify": True}}],
            "users": [named | {"user": {"token": token}}],
            "contexts": [named | {"context": {"cluster": "test", "user": "test", "namespace": NAMESPACE}}],
        }
        self.config.write_text(json.dumps(config))

    def is_ready(self) -> bool:
        context = ssl._create_unverified_context()
        try:
            with urlopen(
                Request(f"{self.url}/readyz", headers={"Authorization": f"Bearer {self._token}"}), context=context
            ) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False

    def kubectl(self, *arguments: str, given: str | None = None) -> "subprocess.CompletedProcess[str]":
        """Run kubectl with a text on standard input."""
        command = [_binary("KUBECTL", "kubectl"), "--kubeconfig", str(self.config), *arguments]
        return subprocess.run(command, input=given, capture_output=True, text=True, check=False)

    def apply(self, written: str, *options: str) -> str:
        """Apply manifests with server-side apply; return the output, fail on an error."""
        done = self.kubectl("apply", "--server-side", *options, "-f", "-", given=written)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def get(self, kind: str, name: str) -> Manifest:
        done = self.kubectl("get", kind, name, "-o", "json")
        assert done.returncode == 0, done.stderr
        found: Manifest = json.loads(done.stdout)
        return found

    def helm(self, *arguments: str, values: Mapping[str, Any] | None = None) -> str:
        """Run helm; hooks are left out, as nothing would run their pods."""
        done = helm(*arguments, "--kubeconfig", str(self.config), "--namespace", NAMESPACE, values=values)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr


@contextmanager
def api_server() -> Iterator[ApiServer]:
    """Run etcd and the API server, with the custom resources of the chart and an empty namespace."""
    etcd, server = _binary("ETCD", "etcd"), _binary("KUBE_APISERVER", "kube-apiserver")
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="jarvis-kubernetes-")))
        client, peer, port = free_port(), free_port(), free_port()
        token = secrets.token_hex(16)
        (home / "tokens").write_text(f"{token},admin,admin,system:masters\n")
        key = home / "accounts.key"
        subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], check=True, capture_output=True)
        at = f"http://127.0.0.1:{client}"
        _run(
            stack,
            home,
            [
                etcd,
                "--data-dir",
                str(home / "etcd"),
                "--listen-client-urls",
                at,
                "--advertise-client-urls",
                at,
                "--listen-peer-urls",
                f"http://127.0.0.1:{peer}",
                "--unsafe-no-fsync",
            ],
        )
        _run(
            stack,
            home,
            [
                server,
                "--etcd-servers",
                at,
                "--bind-address=127.0.0.1",
                f"--secure-port={port}",
                f"--cert-dir={home / 'certificates'}",
                f"--token-auth-file={home / 'tokens'}",
                "--authorization-mode=RBAC",
                "--service-cluster-ip-range=10.0.0.0/24",
                "--service-account-issuer=https://127.0.0.1",
                f"--service-account-signing-key-file={key}",
                f"--service-account-key-file={key}",
                "--disable-admission-plugins=ServiceAccount",
            ],
        )
        running = ApiServer(home, port, token)
        until(running.is_ready, START_SECONDS)
        for manifest in _namespace_and_resources():
            running.apply(json.dumps(manifest))
        until(lambda: running.kubectl("get", "prometheusrules,scaledobjects").returncode == 0)
        yield running


def _namespace_and_resources() -> Iterator[Manifest]:
    """Yield the namespace, which warns of pods that are not restricted, and the definitions of custom resources."""
    labels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}}
    for file in sorted(CUSTOM.glob("*.json")):
        properties = json.loads(file.read_text())["properties"]
        group, _, version = properties["apiVersion"]["const"].partition("/")
        kind = properties["kind"]["const"]
        plural = f"{kind.lower()}s"
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        names = {"plural": plural, "singular": kind.lower(), "kind": kind}
        yield {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [served]},
        }


def _run(stack: ExitStack, home: Path, command: list[str]) -> None:
    log = stack.enter_context((home / f"{Path(command[0]).name}.log").open("wb"))
    process = subprocess.Popen(command, stdout=log, stderr=log)
    stack.callback(process.wait)
    stack.callback(process.terminate)


def _binary(variable: str, name: str) -> str:
    found = os.environ.get(variable) or shutil.which(name)
    if found is None:
        missing(f"{name} (or the variable {variable})")
    return found
