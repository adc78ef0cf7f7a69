"""Give mutants as answers of a model: the gates of a conversation must accept none that the gates of the bench refuse.

    python -m tests.bench.c2rust_mutants TREE --seed 17 -o verdicts.jsonl
    python -m tests.bench.c2rust_answers TREE verdicts.jsonl [--reviewer ok|objects]

Each round is a run of `jarvis c2rust transpile` that gives one mutant of each function as its only answer, with the
planned signature.  Prints the mutants that one of both accepts and the other refuses, and the counts; exits with 1 if a
conversation accepted a mutant that the bench refuses.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import PIPE, CalledProcessError, run

from tests.agents.loop.server import Body, ModelServer, Step, calls
from tests.agents.loop.translating import MARK, MECHANICAL, function_of, is_review, mechanical_body, task_of
from tests.bench.c2rust_mutants import MutantVerdict
from tests.bench.c2rust_projects import COMMANDS
from tests.chaos.conversations import set_model

OBJECTION = [{"line": 1, "text": "This is not what the C code does."}]


def rounds(verdicts: Sequence[MutantVerdict]) -> list[dict[str, MutantVerdict]]:
    """Return mutants by function, each in one round; functions of the same name are never in the same round."""
    queues = defaultdict[str, list[MutantVerdict]](list)
    for one in verdicts:
        queues[one.name].append(one)
    most = max(map(len, queues.values()), default=0)
    return [{name: queue[n] for name, queue in queues.items() if n < len(queue)} for n in range(most)]


def answer(body: Body, mutants: Mapping[str, MutantVerdict], reviewer: str) -> Step:
    """Answer with the mutant of a function in its planned signature, or review an answer.

    A function without a mutant, which has the name of one in another file, gets no body.
    """
    if is_review(body):
        return calls("submit_report", issues=OBJECTION if reviewer == "objects" else [])
    mutant = next((one for one in mutants.values() if function_of(body) in (one.name, one.function)), None)
    task, wrong = MARK.sub("", task_of(body)), MECHANICAL.search(mutant.body) if mutant else None
    right = MECHANICAL.search(task.partition("How C calls")[0])
    changed = task[: right.start(2)] + wrong[2] + task[right.end(2) :] if right and wrong else ""
    return calls("submit_report", rust=mechanical_body(changed))


def accepted(tree: Path, place: Path, mutants: Mapping[str, MutantVerdict], number: int, reviewer: str) -> set[str]:
    """Return the functions whose mutants a run accepts. Raises CalledProcessError."""
    commands = COMMANDS[tree.name]
    notes, only = place / "notes.md", place / "only.txt"
    notes.write_text(f"Round {number} with reviewer {reviewer}.\n")
    only.write_text("".join(f"{name}\n" for name in mutants))
    words = ["c2rust", "transpile", "-q", "-p", str(tree), "-o", str(place / "crate"), "--build", commands.build]
    words += ["--configure", commands.configure] if commands.configure else []
    words += [word for test in commands.tests for word in ("--test", test)]
    words += ["-m", "0", "--only", f"@{only}", "--notes", str(notes), *([] if reviewer else ["--no-review"])]
    jarvis = [sys.executable, "-m", "jarvis_cli"]
    environ = {**os.environ, "JARVIS_DATA_DIR": str(place / "data"), "PYTHONPATH": str(Path.cwd())}
    with ModelServer(forever=lambda body: answer(body, mutants, reviewer)) as server:
        set_model(place, server, profile="deepseek")
        done = run([*jarvis, *words], env=environ, cwd=place, stderr=PIPE, text=True, check=False)
    if done.returncode not in (0, 3):
        raise CalledProcessError(done.returncode, words, stderr=done.stderr)
    command = [*jarvis, "runs", "report", "last", "--format", "json"]
    told = run(command, env=environ, cwd=place, stdout=PIPE, check=False)
    if told.returncode not in (0, 3):
        raise CalledProcessError(told.returncode, command)
    report = json.loads(told.stdout)
    for one in report["conversion"]["not_checked"]:
        print(f"not checked: {one}", flush=True)
    taken = {one["name"] for one in report["conversion"]["functions"] if one["state"] == "translated"}
    return {one.name for one in mutants.values() if {one.name, one.function} & taken}


def main(tree: Path, verdicts: Sequence[MutantVerdict], reviewer: str) -> int:
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        copy = Path(shutil.copytree(tree, place / tree.name, symlinks=True))
        for number, mutants in enumerate(rounds(verdicts)):
            taken = accepted(copy, place, mutants, number, reviewer)
            for name, mutant in mutants.items():
                bench = "refused" if mutant.refused_by else "equivalent" if mutant.equivalent else "survives"
                outcome = f"{bench}, {'accepted' if name in taken else 'not accepted'} as an answer"
                counts[outcome] += 1
                if (name in taken) == bool(mutant.refused_by):
                    print(f"{mutant.place} {name}: {mutant.change}: {outcome}", flush=True)
    print(*(f"{count} {outcome}" for outcome, count in sorted(counts.items())), sep="\n")
    return int(counts["refused, accepted as an answer"] > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("tree", type=Path)
    parser.add_argument("verdicts", type=Path)
    parser.add_argument("--reviewer", choices=("ok", "objects"), default="")
    asked = parser.parse_args()
    rows = [MutantVerdict(**json.loads(line)) for line in asked.verdicts.read_text().splitlines()]
    sys.exit(main(asked.tree.resolve(), [one for one in rows if one.library == asked.tree.name], asked.reviewer))
