"""Compare estimates with what runs take: `python -m tests.bench.c2rust_estimates TREE … [--functions 15] [--drivers]`.

Each TREE is a library of c2rust_projects.COMMANDS. A scripted model writes the mechanical body, for every second
function after a mutant, and reviews without issues; its drivers reach nothing. It counts tokens by the text of requests
and answers, with 3.3 characters per token; prompts are also given as the program itself counts them. Each library is
estimated without history, then, in the order of the command line, once more with the history of those before it, and
translated. All share one data directory.

With --half-budget, each library is instead translated with half of its estimate as budget, with twice the estimate, and
without a budget: the first run must stay below its budget and leave a crate that builds, the second must end with the
same crate as the third.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from random import Random
from sqlite3 import connect
from subprocess import run
from typing import Any

from tests.agents.loop.counting import counted
from tests.agents.loop.server import Body, ModelServer, Step, calls
from tests.agents.loop.translating import task_of, with_reviews
from tests.bench.c2rust_parallel import slow_learner
from tests.bench.c2rust_projects import COMMANDS
from tests.chaos.conversations import set_model

SEED = 17
# The model copies the mechanical translation, of which a question has at most CODE_MAX characters.
MOST_LINES = 200
JARVIS = (sys.executable, "-m", "jarvis_cli")
SOURCES = (".rs", ".toml", ".c")
USELESS = "int main(void) { return 0; }"


def model(body: Body) -> Step:
    """Answer a question, and count its tokens."""
    if "Write a driver" in task_of(body):
        return counted(calls("submit_report", driver=USELESS), body)
    return counted(with_reviews(slow_learner)(body), body)


class EstimateBench:
    """Copies of libraries with a common data directory."""

    def __init__(self, place: Path, options: list[str]) -> None:
        self.place, self.options = place, options
        self.environ = {
            **os.environ,
            "JARVIS_DATA_DIR": str(place / "data"),
            "PYTHONPATH": str(Path.cwd()),
            "JARVIS_TICK_SECONDS": "0.2",
        }

    def add(self, tree: Path, count: int) -> list[str]:
        """Copy a library, and choose `count` of its functions, or all for 0; return the words of its commands."""
        copy, commands = Path(shutil.copytree(tree, self.place / tree.name, symlinks=True)), COMMANDS[tree.name]
        words = ["-p", str(copy), "--build", commands.build]
        words += ["--configure", commands.configure] if commands.configure else []
        self.jarvis("c2rust", "scan", "-q", "--no-png", *words)
        rows = map(json.loads, (copy / ".jarvis" / "c2rust" / "symbols.jsonl").read_text().splitlines())
        small = (row for row in rows if row["end_line"] - row["start_line"] < MOST_LINES)
        names = sorted({row["name"] for row in small if row["category"] == "function"} - {"main"})
        words += [word for test in commands.tests for word in ("--test", test)]
        if count:
            only = self.place / f"{tree.name}.txt"
            only.write_text("".join(f"{name}\n" for name in Random(SEED).sample(names, min(count, len(names)))))
            words += ["--only", f"@{only}"]
        return [*words, *self.options]

    def estimate(self, words: list[str]) -> dict[str, Any]:
        """Return the estimate of a library."""
        found: dict[str, Any] = json.loads(self.jarvis("c2rust", "transpile", "-q", *words, "--dry-run", "--json"))
        return found

    def translate(self, words: list[str]) -> dict[str, int]:
        """Translate a library; return what its run took."""
        self.jarvis("c2rust", "transpile", "-q", *words, "-o", str(self.place / "crate" / words[1].rpartition("/")[2]))
        run_facts = json.loads(self.jarvis("runs", "report", "last", "--format", "json"))["run"]
        query = "SELECT SUM(estimated) FROM model_call WHERE run_id = ?"
        with closing(connect(self.place / "data" / "jarvis.db")) as store:
            ((own,),) = store.execute(query, [run_facts["id"]]).fetchall()
        return {**run_facts["model"], "own": own}

    def crate(self, name: str, words: list[str], *more: str) -> dict[str, bytes]:
        """Translate a library into a new crate; return its sources."""
        crate = self.place / "crates" / name / words[1].rpartition("/")[2]
        self.jarvis("c2rust", "transpile", "-q", *words, "-o", str(crate), *more)
        return built(crate)

    def resumed(self, run_id: str, budget: str) -> dict[str, bytes]:
        """Continue a run with a larger budget; return the sources of its crate."""
        self.jarvis("runs", "resume", "-q", run_id, "--budget", budget)
        self.jarvis("runs", "export", run_id, "-d", str(self.place / run_id))
        return built(self.place / run_id / "crate")

    def last_run(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.jarvis("runs", "show", "last", "--json"))
        return found

    def jarvis(self, *words: str) -> str:
        done = run([*JARVIS, *words], env=self.environ, cwd=self.place, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 3):
            raise SystemExit(f"{words}: {done.returncode}: {done.stderr}")
        return done.stdout


def built(crate: Path) -> dict[str, bytes]:
    """Build a crate; return its sources by their path."""
    run(["cargo", "build", "--quiet", "--offline"], cwd=crate, check=True)
    files = (path for path in crate.rglob("*") if path.is_file() and "target" not in path.parts)
    return {str(path.relative_to(crate)): path.read_bytes() for path in files if path.suffix in SOURCES}


def show(name: str, kind: str, estimate: dict[str, Any], used: dict[str, int]) -> None:
    """Print an estimate beside what a run took."""
    total, jobs = estimate["stages"]["total"], {key: one["jobs"] for key, one in estimate["stages"].items()}
    foreseen, taken = (one["prompt"] + one["completion"] for one in (total, used))
    own = foreseen / (used["own"] + used["completion"]) - 1
    print(
        f"{name}, {kind}: {jobs}; {total['calls']} questions for {used['calls']}, at most {estimate['most_calls']};"
        f" prompt {total['prompt']:,} for {used['prompt']:,} (own count {used['own']:,}), answers"
        f" {total['completion']:,} for {used['completion']:,}; all {foreseen / taken - 1:+.1%} (own count {own:+.1%})",
        flush=True,
    )


def pause(bench: EstimateBench, name: str, words: list[str]) -> None:
    """Translate a library with half of its estimate as budget, then to the end, and compare with a run without one."""
    total = bench.estimate(words)["stages"]["total"]
    tokens = total["prompt"] + total["completion"]
    so_far = bench.crate("half", words, "--budget", f"{tokens // 2}tok")
    paused = bench.last_run()
    end = bench.resumed(paused["id"], f"{2 * tokens}tok")
    ended = bench.last_run()
    bench.environ["JARVIS_DATA_DIR"] = str(bench.place / "other")
    whole = bench.crate("whole", words)
    spent = paused["budget"]["spent"]
    print(
        f"{name}: budget {tokens // 2:,} of {tokens:,} tokens: {paused['state']}, {spent:,} spent, {len(so_far)} files"
        f" that build; resumed with {2 * tokens:,}: {ended['state']}; the crate of a run without one:"
        f" {end == whole}, of the pause: {end == so_far}",
        flush=True,
    )
    assert paused["state"] == "paused" and spent <= tokens // 2 and end == whole != so_far


def main(trees: list[Path], count: int, options: list[str], *, half: bool) -> None:
    with tempfile.TemporaryDirectory() as place, ModelServer(forever=model) as server:
        set_model(Path(place), server, profile="deepseek")
        bench = EstimateBench(Path(place), options)
        words = {tree.name: bench.add(tree, count) for tree in trees}
        if half:
            for name, one in words.items():
                pause(bench, name, one)
            return
        first = {name: bench.estimate(one) for name, one in words.items()}
        assert not server.requests
        for name, one in words.items():
            later = bench.estimate(one)
            used = bench.translate(one)
            assert used["calls"] <= later["most_calls"]
            show(name, "without history", first[name], used)
            show(name, "with history", later, used)
            again = bench.estimate(one)["stages"]["total"]
            print(f"{name}, again: {again['known']} of {again['jobs']} known, prompt {again['prompt']:,}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--functions", type=int, default=0)
    parser.add_argument("--drivers", action="store_true")
    parser.add_argument("--half-budget", action="store_true")
    parser.add_argument("tree", nargs="+", type=Path)
    chosen = parser.parse_args()
    drivers = [] if chosen.drivers else ["--no-drivers"]
    main([one.resolve() for one in chosen.tree], chosen.functions, drivers, half=chosen.half_budget)
