"""Start the services of docker-compose.yml as plain processes on free ports: the file's commands, variables and order.

Names of services become 127.0.0.1, ports of containers free ports, paths of containers directories of the test: in
commands, variables, mounted files and secrets alike. The images' programs are those of this machine; a service whose
program is missing is left out if nothing waits for it.
"""

import os
import pwd
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.chaos.commands import PAUSE, crowd
from tests.compose.compose_file import ROOT, Service, services
from tests.image.dockerfile import read_stages
from tests.support.servers import UNPRIVILEGED, free_port, missing, postgres_binaries, redis_binary

START_SECONDS = 120.0
STOP_SECONDS = 40.0
SCRAPE_INTERVAL = "1s"
WGET = "import sys, urllib.request; urllib.request.urlopen(sys.argv[-1], timeout=5)"
INIT_SCRIPTS = "/docker-entrypoint-initdb.d"
POSTGRES_DATA = "/var/lib/postgresql/data"
POSTGRES_SOCKET = "/var/run/postgresql"
PROGRAMS = {"prom/prometheus": "prometheus", "grafana/grafana": "grafana"}
IMAGE_STEPS = read_stages(ROOT / "deploy/Dockerfile")["slim"].all("ENV")
INSTALLED = {name: value for step in IMAGE_STEPS for name, value in step.pairs.items()}
SHARED = {"PATH", "LANG", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}


class Topology:
    """The processes of the services; `address(name)` is where one listens."""

    def __init__(self, home: Path, variables: Mapping[str, str], profiles: set[str]) -> None:
        self.home = home
        self.all = services(variables)
        self.chosen = {name: one for name, one in services(variables, profiles).items() if _has_program(one)}
        self.ports = {(name, port): free_port() for name, one in self.all.items() for port in one.ports}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._write_secrets()

    def address(self, name: str) -> str:
        """Return the host and port of a service."""
        return f"127.0.0.1:{self.ports[name, self.all[name].ports[0]]}"

    def secret(self, name: str) -> str:
        return (self.home / "secrets" / name).read_text().strip()

    def log(self, name: str) -> str:
        return (self.home / f"{name}.log").read_text(errors="replace")

    def start(self) -> None:
        """Start each service when the conditions on its dependencies are met, and wait until all are healthy."""
        for name in self._order():
            for other, condition in self.chosen[name].conditions.items():
                self._await(other, condition)
            self._start(self.chosen[name])
        for name, service in self.chosen.items():
            if service.check:
                self._await(name, "service_healthy")

    def stop(self) -> dict[str, int]:
        """Stop the services in reverse order; return the exit code of each."""
        for name in reversed(self.processes):
            process = self.processes[name]
            # PostgreSQL would wait for its clients.
            process.send_signal(signal.SIGINT if name == "postgres" else signal.SIGTERM)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        return {name: process.returncode for name, process in self.processes.items()}

    def run(self, *args: str, source: Path, **more: str) -> subprocess.Popen[bytes]:
        """Start a command of the service `jarvis`, with `source` as its /src."""
        service = self.all["jarvis"]
        words = [str(source) if word == "/src" else word for word in args]
        environ = self._environ(service) | more
        with (self.home / "jarvis.log").open("ab") as log:
            return subprocess.Popen(
                [*self._jarvis(), *words], env=environ, cwd=self._directory(service), stdout=subprocess.PIPE, stderr=log
            )

    def health(self, name: str) -> str:
        """Run the health check of a service; return why it failed, or nothing."""
        service = self.chosen[name]
        kind, *words = [self.translate(service, word) for word in service.check]
        command = ["sh", "-c", words[0]] if kind == "CMD-SHELL" else self._program(words)
        environ = self._environ(service)
        place = self._directory(service)
        done = subprocess.run(command, env=environ, capture_output=True, text=True, cwd=place, check=False)
        return f"{command}: {done.returncode} {done.stdout}{done.stderr}" if done.returncode else ""

    def translate(self, service: Service, text: str) -> str:
        """Translate a text of a container to this machine."""
        for (name, port), own in self.ports.items():
            text = re.sub(rf"(?<![\w.-]){re.escape(name)}:{port}(?!\d)", f"127.0.0.1:{own}", text)
        for port in service.ports:
            text = re.sub(rf"(?<![\w.]){port}(?!\w)", str(self.ports[service.name, port]), text)
        for place, there in self._places(service):
            text = re.sub(rf"(?<![\w.]){re.escape(place)}(?![\w-])", str(there), text)
        return text.replace("0.0.0.0", "127.0.0.1")

    def _places(self, service: Service) -> Iterator[tuple[str, Path]]:
        """Yield the paths of a container and those on this machine, the longest first."""
        own = self.home / "containers" / service.name
        places = [*service.scratch, *(place for _, place in service.mounts)]
        found = {place: own / place.strip("/").replace("/", "_") for place in places if place != "/tmp"}
        for source, place in service.mounts:
            if source and not source.startswith((".", "/")):
                found[place] = self.home / "volumes" / source
        found["/run/secrets"] = self.home / "secrets"
        yield from sorted(found.items(), key=lambda pair: -len(pair[0]))

    def _write_secrets(self) -> None:
        """Run the documented script, and translate the addresses in what it wrote."""
        secrets = self.home / "secrets"
        environ = os.environ | {"JARVIS": " ".join(map(shlex.quote, self._jarvis())), "PYTHONPATH": str(ROOT)}
        subprocess.run(["sh", ROOT / "deploy/secrets.sh", secrets], env=environ, check=True, capture_output=True)
        # PostgreSQL runs as another user here than the tests, and reads its passwords.
        secrets.chmod(0o755)
        for file in secrets.iterdir():
            file.write_text(self.translate(self.all["migrate"], file.read_text()))

    def _start(self, service: Service) -> None:
        self._mount(service)
        if service.name == "postgres":
            _make_cluster(self, service)
        words = [self.translate(service, word) for word in service.command]
        with (self.home / f"{service.name}.log").open("ab") as log:
            self.processes[service.name] = subprocess.Popen(
                [*self._program(words, service)],
                env=self._environ(service),
                cwd=self._directory(service),
                stdout=log,
                stderr=log,
                user=UNPRIVILEGED if service.name == "postgres" and os.geteuid() == 0 else None,
            )

    def _mount(self, service: Service) -> None:
        """Make the directories of a service, and copy the files that it mounts, translated."""
        sources = {place: source for source, place in service.mounts}
        for place, there in self._places(service):
            source = sources.get(place) or ""
            if not source.startswith("."):
                there.mkdir(parents=True, exist_ok=True)
            elif place != "/src":
                self._copy(service, ROOT / source, there)

    def _copy(self, service: Service, source: Path, target: Path) -> None:
        for file in [source, *source.rglob("*")]:
            there = target / file.relative_to(source)
            there.parent.mkdir(parents=True, exist_ok=True)
            if file.is_file():
                there.write_text(self.translate(service, _without_dns(file)))

    def _environ(self, service: Service) -> dict[str, str]:
        outer = {"PATH": f"{postgres_binaries()}:{os.environ['PATH']}"}
        image = {name: value for name, value in INSTALLED.items() if name not in SHARED} if service.is_ours else {}
        own = {name: self.translate(service, value) for name, value in {**image, **service.environ}.items()}
        return {**outer, "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", **own}

    def _directory(self, service: Service) -> Path:
        place = self.translate(service, INSTALLED["JARVIS_DATA_DIR"]) if service.is_ours else str(self.home)
        Path(place).mkdir(parents=True, exist_ok=True)
        return Path(place)

    def _program(self, words: Sequence[str], service: Service | None = None) -> list[str]:
        """Return a command with the program of this machine."""
        if service is None:
            ours = {"jarvis": self._jarvis(), "python": [sys.executable], "wget": [sys.executable, "-c", WGET]}
            return [*ours.get(words[0], [words[0]]), *words[1:]]
        if service.is_ours:
            return [*self._jarvis(), *words]
        if service.name == "redis":
            return [redis_binary() or "", *words[1:], "--port", str(self.ports["redis", 6379]), "--bind", "127.0.0.1"]
        if service.name == "postgres":
            place = dict(self._places(service))
            port, socket = str(self.ports["postgres", 5432]), str(place[POSTGRES_SOCKET])
            own = ["-D", str(place[POSTGRES_DATA] / "data"), "-p", port, "-k", socket, "-c", "fsync=off"]
            return [str((postgres_binaries() or Path()) / words[0]), *words[1:], *own]
        return [PROGRAMS[_image(service)], *words]

    @staticmethod
    def _jarvis() -> list[str]:
        return [sys.executable, "-m", "jarvis_cli"]

    def _await(self, name: str, condition: str) -> None:
        process = self.processes[name]
        if condition == "service_completed_successfully":
            assert process.wait(START_SECONDS) == 0, self.log(name)
            return

        late = time.monotonic() + START_SECONDS * crowd()
        while why := self.health(name):
            assert process.poll() is None, f"{name} ended: {self.log(name)}"
            assert time.monotonic() < late, f"{name} does not become healthy: {why}\n{self.log(name)}"
            PAUSE.wait(0.3)

    def _order(self) -> list[str]:
        """Return the services, each after those that it depends on."""
        found: list[str] = []

        def visit(name: str) -> None:
            for other in self.chosen[name].conditions:
                visit(other)
            if name not in found:
                found.append(name)

        for name in self.chosen:
            visit(name)
        return found


@contextmanager
def topology(profiles: set[str], **variables: str) -> Iterator[Topology]:
    """Run the services of some profiles during the block."""
    if postgres_binaries() is None or redis_binary() is None:
        missing("PostgreSQL or redis-server")
    # Not below pytest's directories, which PostgreSQL, as another user, cannot enter.
    home = Path(tempfile.mkdtemp(prefix="jarvis-compose-"))
    home.chmod(0o755)
    started = Topology(home, variables, profiles)
    try:
        started.start()
        yield started
    finally:
        started.stop()
        shutil.rmtree(home, ignore_errors=True)


def _make_cluster(topology: Topology, service: Service) -> None:
    """Do what the entry point of the image does with an empty volume: initialise, create the database, run scripts."""
    places = dict(topology._places(service))
    data, socket = places[POSTGRES_DATA] / "data", places[POSTGRES_SOCKET]
    environ = topology._environ(service)
    user = UNPRIVILEGED if os.geteuid() == 0 else None

    def run(*command: str) -> None:
        done = subprocess.run(command, env=environ, user=user, capture_output=True, text=True, cwd="/", check=False)
        assert done.returncode == 0, done.stderr

    if user:
        for place in (data.parent, socket):
            os.chown(place, pwd.getpwnam(user).pw_uid, -1)
    name, base = environ["POSTGRES_USER"], environ["POSTGRES_DB"]
    password = f"--pwfile={environ['POSTGRES_PASSWORD_FILE']}"
    run("initdb", "-D", str(data), "-U", name, password, "-N", *environ["POSTGRES_INITDB_ARGS"].split())
    options = f"-k {socket} -c listen_addresses="
    run("pg_ctl", "-D", str(data), "-w", "-l", str(data / "first.log"), "-o", options, "start")
    run("createdb", "-h", str(socket), "-U", name, base)
    for script in sorted(places[INIT_SCRIPTS].glob("*.sql")):
        run("psql", "-h", str(socket), "-U", name, "-d", base, "-v", "ON_ERROR_STOP=1", "-q", "-f", str(script))
    run("pg_ctl", "-D", str(data), "-w", "stop")


def _without_dns(file: Path) -> str:
    """Return a file of settings; Prometheus gets addresses for the names that it would look up."""
    text = file.read_text()
    if file.name != "prometheus.yml" or "scrape_configs" not in text:
        return text
    config: dict[str, Any] = yaml.safe_load(text)
    config["global"]["scrape_interval"] = SCRAPE_INTERVAL
    for job in config["scrape_configs"]:
        looked_up = job.pop("dns_sd_configs", [])
        targets = [f"{name}:{one['port']}" for one in looked_up for name in one["names"]]
        if targets:
            job["static_configs"] = [*job.get("static_configs", []), {"targets": targets}]
    return yaml.safe_dump(config)


def _image(service: Service) -> str:
    return str(service.facts["image"]).rpartition(":")[0]


def _has_program(service: Service) -> bool:
    program = PROGRAMS.get(_image(service))
    return program is None or shutil.which(program) is not None
