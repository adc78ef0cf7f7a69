"""Compare `jarvis code` with mini-swe-agent on ten repairs: `python -m tests.bench.repairs --mini VENV/bin/mini`.

Both get the same tasks and the same scripted answers of a model (look at the file, edit it, finish), over HTTP. Printed
for each: repairs whose test passes, requests, estimated prompt tokens of the first request beyond the task, those that
a turn adds, and those of all requests, and CPU seconds of the whole command.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_workers.models.platforms.protocol import estimate
from tests.agents.loop.server import ModelServer, Step, says
from tests.bench.repair_tasks import TASKS, RepairTask, make_repository, passes

SECONDS = 300


@dataclass
class Repaired:
    """What one agent did with one task."""

    solved: bool
    requests: int
    first_tokens: int
    turn_tokens: float
    tokens: int
    cpu: float


def call(text: str, name: str, **arguments: object) -> Step:
    """Answer with a text and one call."""
    return Step(content=text, calls=((name, json.dumps(arguments)),))


def jarvis_answers(task: RepairTask) -> list[Step]:
    """Look at the file, edit it, finish; the gate runs the test."""
    return [
        call("I look at the file first.", "read_code", path=task.path),
        call("The mistake is here.", "patch", edits=[{"path": task.path, "search": task.wrong, "replace": task.right}]),
        says("The defect is repaired."),
    ]


def mini_answers(task: RepairTask) -> list[Step]:
    """The same with a shell: look at the file, edit it and run the test, finish."""
    edit = f"p={task.path!r}; s=open(p).read(); open(p,'w').write(s.replace({task.wrong!r}, {task.right!r}))"
    command = f"python3 - <<'EOF'\n{edit}\nEOF\n{task.test}"
    return [
        call("I look at the file first.", "bash", command=f"cat {task.path}"),
        call("The mistake is here.", "bash", command=command),
        call("The defect is repaired.", "bash", command="echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
    ]


def tokens_of(request: Mapping[str, Any]) -> int:
    """Estimate the tokens of a request: its messages and the descriptions of its tools."""
    return estimate(json.dumps([request["messages"], request.get("tools") or []], ensure_ascii=False))


def repair(
    task: RepairTask, answers: Sequence[Step], command: Callable[[Path, str], tuple[list[str], dict[str, str]]]
) -> Repaired:
    """Give a task to an agent, in a new repository."""
    with tempfile.TemporaryDirectory() as place, ModelServer(*answers) as server:
        root = Path(place) / "repository"
        make_repository(task, root)
        words, environment = command(root, server.url)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = subprocess.run(
            words,
            cwd=root,
            env=os.environ | environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if ended.returncode:
            sys.stderr.buffer.write(ended.stdout[-2000:] + ended.stderr[-2000:])
        counted = [tokens_of(request) for request in server.requests]
        return Repaired(
            passes(task, result_of(root)),
            len(counted),
            counted[0] - estimate(task.text) if counted else 0,
            (counted[-1] - counted[0]) / max(len(counted) - 1, 1) if counted else 0,
            sum(counted),
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        )


def result_of(root: Path) -> Path:
    """Return the directory of the result: the newest worktree of the repository, else the repository."""
    listed = subprocess.run(["git", "worktree", "list", "--porcelain"], cwd=root, capture_output=True, text=True)
    return Path([line for line in listed.stdout.splitlines() if line.startswith("worktree ")][-1].split(" ", 1)[1])


def jarvis_command(jarvis: str, task: RepairTask) -> Callable[[Path, str], tuple[list[str], dict[str, str]]]:
    def words(root: Path, url: str) -> tuple[list[str], dict[str, str]]:
        group = {"model": "scripted", "base_url": url, "profile": "openai", "api_key": "key"}
        config = root.parent / "jarvis.yaml"
        config.write_text(json.dumps({"models": {"local": group}}))
        environment = {"JARVIS_DATA_DIR": str(root.parent / "data")}
        return [jarvis, "code", "-n", "-r", task.text, "--gate", task.test, "-f", str(config)], environment

    return words


def mini_command(mini: str, task: RepairTask) -> Callable[[Path, str], tuple[list[str], dict[str, str]]]:
    def words(root: Path, url: str) -> tuple[list[str], dict[str, str]]:
        home = root.parent / "home"
        environment = {"OPENAI_BASE_URL": url, "OPENAI_API_BASE": url, "OPENAI_API_KEY": "key", "HOME": str(home)}
        environment |= {"MSWEA_CONFIGURED": "true", "MSWEA_COST_TRACKING": "ignore_errors"}
        environment |= {"MSWEA_GLOBAL_CONFIG_DIR": str(home)}
        out = str(root.parent / "trajectory.json")
        return [mini, "-m", "openai/scripted", "-t", task.text, "-y", "--exit-immediately", "-o", out], environment

    return words


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.repairs", description="Compare agents on repairs.")
    parser.add_argument("--mini", help="the command mini of mini-swe-agent; without it only `jarvis code` runs")
    parser.add_argument("--jarvis", default=str(Path(sys.executable).parent / "jarvis"))
    given = parser.parse_args()
    agents = {"jarvis code": lambda task: repair(task, jarvis_answers(task), jarvis_command(given.jarvis, task))}
    if given.mini:
        agents["mini-swe-agent"] = lambda task: repair(task, mini_answers(task), mini_command(given.mini, task))
    print(f"{'agent':<16}{'solved':>8}{'requests':>10}{'first':>8}{'a turn':>8}{'tokens':>9}{'CPU s':>8}")
    solved = {}
    for name, give in agents.items():
        done = [give(task) for task in TASKS]
        solved[name] = sum(one.solved for one in done)
        print(
            f"{name:<16}{solved[name]:>5}/{len(TASKS)}{sum(one.requests for one in done):>10}"
            f"{sum(one.first_tokens for one in done) / len(done):>8.0f}"
            f"{sum(one.turn_tokens for one in done) / len(done):>8.0f}{sum(one.tokens for one in done):>9}"
            f"{sum(one.cpu for one in done) / len(done):>8.2f}"
        )
    return 0 if solved["jarvis code"] == len(TASKS) else 1


if __name__ == "__main__":
    sys.exit(main())
