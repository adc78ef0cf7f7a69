"""The systemd units of deploy/systemd: options that exist, commands that exist, and a worker started by its unit."""

import configparser
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from jarvis_cli.main import run
from jarvis_workers.sandbox.cgroups import CONTROLLERS
from jarvis_workers.store import workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.queues import QUEUES
from tests.chaos.commands import until
from tests.support.servers import redis_server

UNITS = Path(__file__).parent.parent / "deploy" / "systemd"
SERVICES = sorted(UNITS.glob("*.service"))
PROGRAM = "/opt/jarvis/bin/jarvis"
LEASE_SECONDS = 30.0
HARDENING = {
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "UMask": "0077",
    "User": "jarvis",
}


def parse(unit: Path, instance: str = "scan") -> Mapping[str, Mapping[str, str]]:
    """Return the sections of a unit; of an option that is repeated, the last value."""
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",), comment_prefixes=("#",))
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(unit.read_text().replace("%i", instance))
    return parser


def command(unit: Path, instance: str = "scan") -> list[str]:
    """Return the arguments with which a service starts jarvis."""
    program, *arguments = shlex.split(parse(unit, instance)["Service"]["ExecStart"])
    assert program == PROGRAM
    return arguments


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.name)
def test_a_service_is_confined_and_writes_to_its_own_directory_alone(unit: Path) -> None:
    service = parse(unit)["Service"]
    assert {name: service[name] for name in HARDENING} == HARDENING
    name, _, data = service["Environment"].partition("=")
    assert name == "JARVIS_DATA_DIR"
    assert data.removeprefix("/var/lib/") in service["StateDirectory"].split()


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.name)
def test_the_command_of_a_service_exists_with_its_options(unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command(unit), "--help"]) == 0, capsys.readouterr().err


def test_a_worker_has_time_to_stop_and_starts_again() -> None:
    service = parse(UNITS / "jarvis-worker@.service")["Service"]
    assert service["Restart"] == "always"
    assert service["KillMode"] == "mixed"  # its pools get no signal of their own
    assert int(service["TimeoutStopSec"]) > 25


def test_a_worker_may_give_commands_control_groups_of_their_own() -> None:
    service = parse(UNITS / "jarvis-worker@.service")["Service"]
    assert service["ProtectControlGroups"] == "no"
    assert set(service["Delegate"].split()) == set(CONTROLLERS)
    assert service["OOMPolicy"] == "continue"  # the kernel ends a command, not the worker


def test_each_timer_starts_a_service_that_is_there() -> None:
    for timer in UNITS.glob("*.timer"):
        assert timer.with_suffix(".service").exists()
        assert parse(timer)["Install"]["WantedBy"] == "timers.target"


@pytest.mark.slow
@pytest.mark.timing
def test_a_worker_starts_and_stops_by_its_unit(
    tmp_path: Path, postgres_url: str, open_stores: Callable[..., Store]
) -> None:
    store = open_stores(postgres_url)
    with redis_server() as broker:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("JARVIS_")}
        environ |= {"JARVIS_STORE_URL": postgres_url, "JARVIS_BROKER_URL": broker.url}
        started = subprocess.Popen(
            [sys.executable, "-m", "jarvis_cli", *command(UNITS / "jarvis-worker@.service", "control")],
            env={**environ, "JARVIS_DATA_DIR": str(tmp_path / "data")},
            cwd=tmp_path,
            stderr=subprocess.DEVNULL,
        )
        try:
            until(lambda: _served(store) == {"control"})
        finally:
            started.send_signal(signal.SIGTERM)
            code = started.wait(240)
    assert code == 0


@pytest.mark.parametrize("queue", QUEUES)
def test_the_unit_serves_each_queue(queue: str) -> None:
    assert command(UNITS / "jarvis-worker@.service", queue)[-2:] == ["--queues", queue]


def _served(store: Store) -> set[str]:
    with store.read() as session:
        return {worker.queues for worker in workers.living(session, LEASE_SECONDS)}
