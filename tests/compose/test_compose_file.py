"""docker-compose.yml as it stands: valid, explained, hardened; tests/compose/test_topology.py starts it."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from jarvis_workers.operate.worker import STOP_SECONDS
from jarvis_workers.store.queues import QUEUES
from jarvis_workers.store.roles import role_statements
from tests.compose.compose_file import COMPOSE_FILE, ROOT, read_compose, services, variables

ALL = services({})
OURS = {name: service for name, service in ALL.items() if service.is_ours}
EXAMPLE = (ROOT / ".env.example").read_text()
FOR_COMPOSE_ITSELF = {"COMPOSE_PROFILES"}


@pytest.mark.slow
def test_a_compose_implementation_reads_the_file(tmp_path: Path) -> None:
    shutil.copy(COMPOSE_FILE, tmp_path)
    (tmp_path / ".env").write_text(EXAMPLE)
    # It asks podman for its version before anything else, and needs nothing of it to read the file.
    podman = tmp_path / "podman"
    podman.write_text("#!/bin/sh\necho podman version 5.0.0\n")
    podman.chmod(0o755)

    command = [sys.executable, "-m", "podman_compose", "--podman-path", str(podman), "config"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    config = yaml.safe_load(done.stdout)
    assert set(config["services"]) == set(ALL) - {"jarvis"}
    assert config["services"]["worker-agent"]["environment"]["JARVIS_BLOBS_URL"] == "/var/lib/jarvis-blobs"


def test_every_variable_is_explained_with_its_default() -> None:
    lines = EXAMPLE.splitlines()
    assigned = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))

    assert {name: value for name, value in assigned.items() if name not in FOR_COMPOSE_ITSELF} == variables()
    profiles = {profile for service in ALL.values() for profile in service.facts.get("profiles", ())}
    assert set(assigned["COMPOSE_PROFILES"].split(",")) == profiles - {"cli"}


def test_every_queue_has_a_worker() -> None:
    starts = [service.command for service in OURS.values() if "start" in service.command]

    assert {words[words.index("--queues") + 1] for words in starts} == set(QUEUES)


@pytest.mark.parametrize("name", ALL)
def test_a_service_has_no_rights_and_limits(name: str) -> None:
    facts = ALL[name].facts

    assert facts["read_only"] is True
    assert facts["cap_drop"] == ["ALL"]
    assert facts["security_opt"] == ["no-new-privileges:true"]
    assert set(facts["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}
    assert all(port.startswith("127.0.0.1:") for port in facts.get("ports", ()))
    assert facts.get("user", "").startswith(("10001", "redis", "postgres")) or not ALL[name].is_ours


@pytest.mark.parametrize("name", ALL)
def test_a_service_is_checked_and_restarted(name: str) -> None:
    """Only what ends by itself is not."""
    service = ALL[name]
    ends = service.facts["restart"] == "no"

    assert bool(service.check) is not ends
    assert ends is (name in {"migrate", "jarvis"})


@pytest.mark.parametrize("name", OURS)
def test_secrets_are_files(name: str) -> None:
    """Every file that a variable names is a secret of the service, and no variable or argument holds one."""
    service = OURS[name]
    files = {value.removeprefix("/run/secrets/") for value in service.environ.values() if "/secrets/" in value}

    assert files == set(service.secrets)
    assert "password" not in json.dumps([service.command, service.environ]).lower()


@pytest.mark.parametrize("name", [name for name, service in OURS.items() if "start" in service.command])
def test_a_worker_has_time_to_stop(name: str) -> None:
    assert int(str(OURS[name].facts["stop_grace_period"]).removesuffix("s")) > STOP_SECONDS


def test_file_systems_in_memory_have_a_size() -> None:
    mounts = [mount for service in read_compose({})["services"].values() for mount in service.get("tmpfs", ())]

    assert len(mounts) > len(OURS)
    assert [mount for mount in mounts if "size=" not in mount] == []


def test_what_a_file_mounts_is_there() -> None:
    """Volumes are declared, and files are in the repository."""
    whole = read_compose({})
    for service in ALL.values():
        for source, _ in service.mounts:
            if source and source.startswith("./deploy"):
                assert (ROOT / source).exists(), source
            elif source and not source.startswith("."):
                assert source in whole["volumes"]
        assert set(service.secrets) <= set(whole["secrets"])


def test_workers_that_scan_cannot_leave() -> None:
    assert read_compose({})["networks"]["store"] == {"internal": True}
    for name in ("worker-scan", "worker-build", "worker-control", "migrate", "redis", "postgres"):
        assert ALL[name].facts["networks"] == ["store"]


def test_the_roles_of_a_new_database_are_those_of_the_command() -> None:
    """Its tables come later, but for the one of migrations."""
    lines = (ROOT / "deploy" / "postgres" / "10-roles.sql").read_text().splitlines()
    told = role_statements("jarvis_owner", "jarvis_worker").splitlines()

    assert [line for line in lines if not line.startswith("--")] == [
        line for line in told if not line.startswith("ALTER TABLE IF EXISTS") or "alembic_version" in line
    ]


def test_secrets_are_written_once(tmp_path: Path) -> None:
    """Files that are there stay, and addresses hold the passwords of the servers."""
    fake = tmp_path / "hash"
    fake.write_text("#!/bin/sh\necho admin:editor:hash-of-$(cat | wc -c)\n")
    fake.chmod(0o755)
    script = ["sh", str(ROOT / "deploy" / "secrets.sh"), str(tmp_path / "secrets")]
    environ = {"PATH": "/usr/bin:/bin", "JARVIS": str(fake), "OPENAI_API_KEY": "sk-1"}

    subprocess.run(script, env=environ, check=True, capture_output=True)
    first = {file.name: file.read_text() for file in (tmp_path / "secrets").iterdir()}
    subprocess.run(script, env=environ, check=True, capture_output=True)

    assert {file.name: file.read_text() for file in (tmp_path / "secrets").iterdir()} == first
    assert set(first) - {"web_password"} == set(read_compose({})["secrets"])
    assert first["model_api_key"] == "sk-1"
    assert first["web_users"] == "admin:editor:hash-of-33\n"
    assert f":{first['postgres_worker_password']}@" in first["store_url"]
    assert f":{first['redis_conf'].split()[1]}@" in first["broker_url"]
    assert len({re.sub(r".*[: ]", "", text.strip()) for text in first.values()}) >= 8
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
