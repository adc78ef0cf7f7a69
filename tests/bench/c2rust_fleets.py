"""Move a library on one machine and on fleets: `python -m tests.bench.c2rust_fleets TREE [--seconds 2] [--fleet 1x1]`.

With --no-optimize, the last stage before the report is left out, a single job that takes as long as all others.

TREE is a library of c2rust_projects.COMMANDS. `jarvis c2rust run` moves it with a scripted model: its first answer
about a function is prose, its second the mechanical body; each takes SECONDS.  Then fleets over Redis and PostgreSQL do
the same with workers that share no files, one of them with faults: a pool is killed inside cargo, Redis loses all data,
the database restarts.  Prints the functions by state and the seconds; exits with 1 if any byte of the crate, the files
or the reports differs from the local run, or a fault repeats more requests than there were conversations.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from time import monotonic
from typing import NamedTuple

from jarvis_workers.store.engine import open_store
from jarvis_workers.store.queues import QUEUES
from tests.agents.loop.planning import answer_about_plan
from tests.agents.loop.server import Body, ModelServer, Step, calls, late
from tests.agents.loop.translating import answers, is_review, perfect
from tests.bench.c2rust_projects import COMMANDS
from tests.chaos.commands import until
from tests.chaos.conversations import asked_again, has_heard, set_model
from tests.chaos.crates import results
from tests.chaos.fleet import Fleet, fleet_of, flush_redis, restart_postgres
from tests.chaos.test_moves import QUEUES as SERVED
from tests.chaos.test_moves import lose_worker_within_cargo, stage_files
from tests.chaos.test_translations import PROFILE
from tests.support.servers import postgres, redis_server

PATIENCE_SECONDS = 4 * 3600.0
FILES = ("symbols.jsonl", "signatures.jsonl", "crate_plan.yaml")
# Exit code 3: functions stay in C, which are the same everywhere.
ENDS = (0, 3)
SLOTS = QUEUES["translate"].slots_per_processor

Fault = Callable[[Fleet, Random], None]


class Topology(NamedTuple):
    """Workers with a process each, concurrent requests of all to the model, and the faults of the run."""

    workers: int
    concurrent: int
    faults: tuple[Fault, ...] = ()


FLEETS: Mapping[str, Topology] = {
    "1x16": Topology(1, SLOTS),
    "2x16-faults": Topology(2, 2 * SLOTS, (lose_worker_within_cargo, flush_redis, restart_postgres)),
    "1x1": Topology(1, 1),
}


class Moved(NamedTuple):
    """What a run leaves, the number of its requests without repeated ones, and the repeated ones."""

    files: Mapping[str, object]
    requests: int
    repeated: int


def model(seconds: float) -> Callable[[Body], Step]:
    """Return a model that translates every function with its second answer."""

    def answer(body: Body) -> Step:
        if planned := answer_about_plan(body, "src/moved.rs"):
            return planned
        if is_review(body):
            return calls("submit_report", issues=[])
        return late(seconds, perfect(body) if answers(body) else calls("submit_report", rust="I do not know."))

    return answer


def arguments(project: Path, crate: Path, more: Sequence[str]) -> list[str]:
    """Return the arguments of the command that moves a library."""
    commands = COMMANDS[project.name]
    words = ["c2rust", "run", "-q", "-p", str(project), "--no-replace", "--no-drivers", "--build", commands.build]
    words += ["--configure", commands.configure] if commands.configure else []
    words += [word for test in commands.tests for word in ("--test", test)]
    return [*words, "-m", "2", "--crate-dir", str(crate), *more]


def copied(tree: Path, place: Path) -> Path:
    return Path(shutil.copytree(tree, place / tree.name, symlinks=True, ignore=shutil.ignore_patterns(".jarvis")))


def found(project: Path, crate: Path, environ: Mapping[str, str]) -> dict[str, object]:
    return {**results(project, crate, environ, ENDS), **stage_files(project, FILES)}


def local(tree: Path, place: Path, server: ModelServer, more: Sequence[str]) -> Moved:
    """Move a library with the local executor."""
    set_model(place, server, profile=PROFILE)
    project, crate = copied(tree, place), place / "crate"
    environ = {name: value for name, value in os.environ.items() if not name.startswith("JARVIS_")}
    environ["JARVIS_DATA_DIR"] = str(place / "data")
    command = [sys.executable, "-m", "jarvis_cli", *arguments(project, crate, more)]
    ended = subprocess.run(command, env=environ, cwd=place, check=False)
    if ended.returncode not in ENDS:
        sys.exit(f"the local run ended with {ended.returncode}")
    repeated = asked_again(server)
    return Moved(found(project, crate, environ), len(server.requests) - repeated, repeated)


def distributed(
    tree: Path, place: Path, server: ModelServer, topology: Topology, expected: int, more: Sequence[str]
) -> Moved:
    """Move a library with a fleet; the faults are spread over the expected number of requests."""
    project, home, crate = copied(tree, place), place / "fleet", place / "crate"
    for one in (home, *(home / f"worker{number}" for number in range(1, topology.workers + 1))):
        set_model(one, server, profile=PROFILE, concurrent=topology.concurrent)
    with postgres() as database, redis_server() as bell:
        database.sql("CREATE DATABASE template")
        store = open_store(database.url("template"), migrate=True)
        with fleet_of(home, bell, database, store, queues=SERVED, workers=topology.workers) as fleet:
            fleet.waiting = fleet.command(*arguments(project, crate, more))
            for number, fault in enumerate(topology.faults, 1):
                wanted = has_heard(server, expected * number // (len(topology.faults) + 1))
                until(wanted, PATIENCE_SECONDS)
                fault(fleet, Random(0))
            code = fleet.waiting.wait(PATIENCE_SECONDS)
            if code not in ENDS:
                sys.exit(f"the command ended with {code}: {fleet.said()}")
            environ = {**fleet.environ, "JARVIS_DATA_DIR": str(home / "desk" / "data")}
            repeated = asked_again(server)
            moved = Moved(found(project, crate, environ), len(server.requests) - repeated, repeated)
        store.close()
    return moved


def show(name: str, moved: Moved, seconds: float) -> None:
    """Print a run."""
    lines = bytes(moved.files["symbol_map.jsonl"]).splitlines()  # type: ignore[call-overload]
    states = Counter(json.loads(line)["state"] for line in lines)
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    print(f"{name}: {told}; {moved.requests} requests, {moved.repeated} repeated; {seconds:.0f} s", flush=True)


def main(tree: Path, seconds: float, names: Sequence[str], more: Sequence[str]) -> int:
    """Compare fleets with the local run; return the number of those that differ."""
    wrong = 0
    with tempfile.TemporaryDirectory() as directory, ModelServer(forever=model(seconds)) as server:
        place, began = Path(directory), monotonic()
        (place / "local").mkdir()
        calm = local(tree, place / "local", server, more)
        show("local", calm, monotonic() - began)
        for number, name in enumerate(names):
            topology, began = FLEETS[name], monotonic()
            server.requests.clear()
            (place / str(number)).mkdir()
            moved = distributed(tree, place / str(number), server, topology, calm.requests, more)
            show(name, moved, monotonic() - began)
            differ = sorted(key for key in {*calm.files, *moved.files} if calm.files.get(key) != moved.files.get(key))
            allowed = len(topology.faults) * topology.concurrent
            bad = bool(differ) or moved.requests != calm.requests or moved.repeated > allowed
            print(f"   {'DIFFERS: ' + ', '.join(differ[:9]) if bad else 'the same bytes'}", flush=True)
            wrong += bad
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--fleet", action="append", choices=FLEETS)
    parser.add_argument("--no-optimize", action="store_true")
    parser.add_argument("tree", type=Path)
    chosen = parser.parse_args()
    left_out = ["--no-optimize"] if chosen.no_optimize else []
    sys.exit(1 if main(chosen.tree.resolve(), chosen.seconds, chosen.fleet or list(FLEETS), left_out) else 0)
