"""How many conversations at once pay: `python -m tests.bench.c2rust_parallel TREE [--functions 64] [--seconds 20]`.

TREE is a library of c2rust_projects.COMMANDS. A scripted model answers after SECONDS; for every second function, its
first answer is a mutant of the right one, so that a function takes 1.5 answers. All gates run. Prints per number of
conversations the wall-clock seconds of the stages, and the ratio to one conversation, whose time is the sum of its
parts: answers times (SECONDS + the gates of an answer). A run of few functions with one conversation checks that sum.
With --only FILE, a list of functions that an earlier run has proven, and --gates SECONDS, their gates with one
conversation, only the runs with many are made.
The CPU seconds of the gates limit the ratio on few processors; that limit is printed beside it, and the limit with the
SECONDS of the first answers added, before which there is nothing to compute. They are those of the
control group of this process during the stage, and it should have one of its own (`systemd-run --scope`): the children
of a sandbox are nobody's children in times(2).
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
import zlib
from bisect import bisect
from contextlib import closing
from pathlib import Path
from sqlite3 import connect
from subprocess import PIPE, CalledProcessError, run
from threading import Event, Thread
from typing import NamedTuple, Self

from jarvis_cli.main import main as jarvis
from jarvis_workers.store.queues import QUEUES
from tests.agents.loop.server import Body, ModelServer, Step, calls, late
from tests.agents.loop.translating import answers, function_of, mechanical_body, perfect, task_of
from tests.bench.c2rust_projects import COMMANDS
from tests.chaos.conversations import asked_again, set_model

ENDING = ("merge", "report")
EVERY = 0.5
# In this order; the first that occurs in a body changes it.
MUTATIONS = ((" == ", " != "), (" + 1", " + 2"), (" - 1", " - 2"), (" != ", " == "), (" & ", " | "), (" < ", " > "))


class Stage(NamedTuple):
    """Wall-clock and CPU seconds of a stage."""

    seconds: float
    cpu: float


class Parallel(NamedTuple):
    """A run: its stages, answers, repeated requests, and the states of functions."""

    stages: dict[str, Stage]
    answers: int
    repeated: int
    states: dict[str, str]

    @property
    def wall(self) -> float:
        return self.stages["translate"].seconds + self.ending

    @property
    def ending(self) -> float:
        return sum(self.stages[name].seconds for name in ENDING)


class CpuLog:
    """The CPU seconds of the control group of this process, read every EVERY seconds while it is open."""

    def __init__(self) -> None:
        self._rows = [(time.time(), cpu_seconds())]
        self._ended = Event()
        self._thread = Thread(target=self._read)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _read(self) -> None:
        while not self._ended.wait(EVERY):
            self._rows.append((time.time(), cpu_seconds()))

    def between(self, start: float, end: float) -> float:
        """Return the CPU seconds between two points in time."""
        first, last = (max(0, bisect(self._rows, (at, 0.0)) - 1) for at in (start, end))
        return self._rows[last][1] - self._rows[first][1]


def mutant(task: str) -> str:
    """Return the mechanical body with one change, or without one if there is nothing to change."""
    head, opening, body = mechanical_body(task).partition(" {\n")
    for old, new in MUTATIONS:
        if old in body:
            return head + opening + body.replace(old, new, 1)
    return head + opening + body


def slow_learner(body: Body) -> Step:
    """Answer with a mutant first for every second function."""
    wrong = not answers(body) and zlib.crc32(function_of(body).encode()) % 2
    return calls("submit_report", rust=mutant(task_of(body))) if wrong else perfect(body)


class Bench:
    """A copy of a library, and the data directory that its runs share, so that only the first builds it."""

    def __init__(self, tree: Path, place: Path, seconds: float) -> None:
        self.place, self.seconds, self.name = place, seconds, tree.name
        self.tree = Path(shutil.copytree(tree, place / tree.name, symlinks=True))
        self.environ = {**os.environ, "JARVIS_DATA_DIR": str(place / "data"), "JARVIS_TICK_SECONDS": "0.2"}

    def translate(self, conversations: int, names: list[str], seconds: float | None = None) -> Parallel:
        """Translate functions, by default all; with 0 seconds, first answers are right. Raises CalledProcessError."""
        wait = self.seconds if seconds is None else seconds
        model = perfect if seconds == 0 else slow_learner
        with ModelServer(forever=lambda body: late(wait, model(body))) as server:
            set_model(self.place, server, profile="deepseek")
            with CpuLog() as log:
                self._run(conversations, names)
            return Parallel(self._stages(log), len(server.requests), asked_again(server), self._states())

    def _run(self, conversations: int, names: list[str]) -> None:
        commands = COMMANDS[self.name]
        notes, only = self.place / "notes.md", self.place / "only.txt"
        # Other notes are other questions, which no cache answers.
        notes.write_text(f"{len(names)} functions, {conversations} at once.\n")
        only.write_text("".join(f"{name}\n" for name in names))
        words = ["c2rust", "transpile", "-q", "-p", str(self.tree), "-o", str(self.place / "crate"), "--no-review"]
        words += ["--build", commands.build, "--notes", str(notes)]
        words += ["--configure", commands.configure] if commands.configure else []
        words += [word for test in commands.tests for word in ("--test", test)]
        words += ["--only", f"@{only}"] if names else []
        program = [sys.executable, "-m", "tests.bench.c2rust_parallel", "--slots", str(conversations), "--", *words]
        environ = {**self.environ, "PYTHONPATH": str(Path.cwd())}
        done = run(program, env=environ, cwd=self.place, stderr=PIPE, text=True, check=False)
        if done.returncode not in (0, 3):
            raise CalledProcessError(done.returncode, program, stderr=done.stderr)

    def _report(self) -> dict[str, object]:
        command = [sys.executable, "-m", "jarvis_cli", "runs", "report", "last", "--format", "json"]
        found: dict[str, object] = json.loads(run(command, env=self.environ, stdout=PIPE, check=False).stdout)
        return found

    def _states(self) -> dict[str, str]:
        functions = self._report()["conversion"]["functions"]  # type: ignore[index]
        return {one["name"]: one["state"] for one in functions}

    def _stages(self, log: CpuLog) -> dict[str, Stage]:
        last = "SELECT id FROM run ORDER BY created_at DESC LIMIT 1"
        with closing(connect(self.place / "data" / "jarvis.db")) as store:
            rows = store.execute(f"SELECT name, opened_at, closed_at FROM stage WHERE run_id = ({last})")
            return {name: Stage(end - start, log.between(start, end)) for name, start, end in rows if start and end}


def proven_functions(bench: Bench, count: int, few: int, seconds: float) -> tuple[list[str], float]:
    """Return functions that are translated, and the seconds of the gates of an answer with one conversation."""
    first = bench.translate(16, [], seconds=0.0)
    proven = sorted(name for name, state in first.states.items() if state == "translated")[:count]
    show(0, len(proven), first)
    # What merge and gates cost on one processor each: an answer's gates with nothing beside them.
    alone = bench.translate(1, proven[:few])
    show(1, few, alone)
    return proven, alone.stages["translate"].seconds / alone.answers - seconds


def main(tree: Path, count: int, few: int, seconds: float, known: tuple[list[str], float] | None) -> None:
    """Measure a library."""
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(tree, Path(place), seconds)
        proven, gates = known or proven_functions(bench, count, few, seconds)
        print(f"gates of an answer: {gates:.2f} s", flush=True)
        for conversations in (16, 32):
            many = bench.translate(conversations, proven)
            show(conversations, len(proven), many)
            one = many.answers * (seconds + gates) + many.ending
            busy = many.stages["translate"].cpu / (os.cpu_count() or 1)
            waits = many.answers * seconds / conversations
            limit = one / (max(waits, busy) + many.ending)
            later = one / (max(waits, seconds + busy) + many.ending)
            print(
                f"   {one:.0f} s one by one: {one / many.wall:.1f} times; CPU allows {limit:.1f}, {later:.1f} after the"
                f" first answers; merge and report {many.ending / many.wall:.1%}",
                flush=True,
            )


def cpu_seconds() -> float:
    """Return the CPU seconds of the control group of this process. Raises OSError if there is none."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers == "cpuacct":
            return int(Path(f"/sys/fs/cgroup/cpuacct{group}/cpuacct.usage").read_text()) / 1e9
        if not controllers and (usage := Path(f"/sys/fs/cgroup{group}/cpu.stat")).is_file():
            return int(usage.read_text().split()[1]) / 1e6
    raise OSError("no control group counts CPU seconds")


def show(conversations: int, functions: int, done: Parallel) -> None:
    """Print a run."""
    stages = ", ".join(f"{name} {one.seconds:.1f} ({one.cpu:.0f} CPU)" for name, one in done.stages.items())
    accepted = sum(state == "translated" for state in done.states.values())
    print(
        f"{conversations} conversations, {functions} functions: {done.answers} answers, {accepted} accepted,"
        f" {done.repeated} repeated; {stages} s",
        flush=True,
    )


def command(slots: int, words: list[str]) -> None:
    """Run a command of the product with this number of conversations at once."""
    table = dict(QUEUES)
    table["translate"] = table["translate"]._replace(slots=slots)
    QUEUES.update(table)  # type: ignore[attr-defined]
    sys.argv[1:] = words
    jarvis()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--slots", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--functions", type=int, default=64)
    parser.add_argument("--few", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--only", type=Path)
    parser.add_argument("--gates", type=float, default=0.0)
    parser.add_argument("tree", nargs="+")
    chosen = parser.parse_args()
    if chosen.slots:
        command(chosen.slots, chosen.tree)
    else:
        known = (chosen.only.read_text().split(), chosen.gates) if chosen.only else None
        main(Path(chosen.tree[0]).resolve(), chosen.functions, chosen.few, chosen.seconds, known)
