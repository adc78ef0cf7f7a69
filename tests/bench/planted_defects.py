"""Mutation testing: plant one defect per package, and check whether the quick tests find it.

    python tests/bench/planted_defects.py [NAME ...] [--list] [--workers N]

Each defect is planted alone in a copy of the tree. The tests of its package run first, then all quick tests, until a
test fails that passes without the defect. Prints the tests that found defects; the exit code is 1 if fewer than ENOUGH
are found.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
ENOUGH = 18
COPIED = ("jarvis_workers", "jarvis_cli", "tests", "docs", "deploy", ".ci")
FAILED_TEST = re.compile(r"^(?:FAILED|ERROR) ([^\s\[]+)", re.MULTILINE)
SECONDS, TRIES = 1800, 3


class Defect(NamedTuple):
    """A mutation of one place of the source: its effect, its location, and the tests of that code."""

    name: str
    breaks: str
    file: str
    before: str
    after: str
    tests: str


DEFECTS = (
    Defect(
        "agent",
        "a conversation may send one request more than its limit",
        "jarvis_workers/agents/loop/limits.py",
        "if self.asks >= limits.rounds:",
        "if self.asks > limits.rounds:",
        "tests/agents/loop",
    ),
    Defect(
        "dispatch",
        "the leases of conversations are renewed after they have expired",
        "jarvis_workers/executors/dispatch/leased_jobs.py",
        "return time.monotonic() + self.holder.lease_seconds / 3",
        "return time.monotonic() + self.holder.lease_seconds * 3",
        "tests/executors/dispatch/test_store_writer.py",
    ),
    Defect(
        "platforms",
        "a request is retried without a bound",
        "jarvis_workers/models/platforms/retry.py",
        "spent = self._patience.tries > self._patience.retries",
        "spent = False",
        "tests/models/platforms",
    ),
    Defect(
        "sec",
        "evidence for a dismissal may be quoted from a comment",
        "jarvis_workers/sec/judge/quotes.py",
        "for view in VIEWS[:1] if dismisses else VIEWS:",
        "for view in VIEWS:",
        "tests/sec/test_verification.py",
    ),
    Defect(
        "sec.rules",
        "a check is inverted: the confidence of realloc is highest where the program exits without memory",
        "jarvis_workers/sec/rules/families/realloc.py",
        "return GIVES_UP.search(handled) is not None",
        "return GIVES_UP.search(handled) is None",
        "tests/sec/test_memory_rules.py",
    ),
    Defect(
        "sec.flow",
        "the range of a loop counter is too large: `i != 0` leaves 0 in it",
        "jarvis_workers/dataflow/state/ranges.py",
        "(one + 1 if low == one else low)",
        "(one if low == one else low)",
        "tests/dataflow tests/sec/test_flow_contract.py tests/sec/test_flow_rules.py",
    ),
    Defect(
        "sec.report",
        "equal findings of a file have the same identity in SARIF",
        "jarvis_workers/sec/report/sarif_results.py",
        "numbered.append(Numbered(issue, seen[issue.fingerprint], tuple(others)))",
        "numbered.append(Numbered(issue, 1, tuple(others)))",
        "tests/sec/report/test_sarif.py",
    ),
    Defect(
        "sec.slices",
        "the lines of a function in a slice are numbered from 0",
        "jarvis_workers/sec/judge/slices/cut.py",
        "{line - self.place.first + 1}|",
        "{line - self.place.first}|",
        "tests/sec/test_slices.py",
    ),
    Defect(
        "service",
        "findings in a renamed file count as new",
        "jarvis_workers/sec/run_reports/run_baselines.py",
        "fingerprint_of(paths.get(candidate.file, candidate.file), candidate.pattern",
        "fingerprint_of(candidate.file, candidate.pattern",
        "tests/sec/run_reports/test_baselines.py tests/cli/test_baseline_and_since.py",
    ),
    Defect(
        "snapshots",
        "a corrupt line of the result cache is used",
        "jarvis_workers/snapshots/filecache.py",
        "return payload if compare_digest(checksum, check(line[:length], payload)) else None",
        "return payload if given else None",
        "tests/snapshots",
    ),
    Defect(
        "source",
        "the matching engine for many words drops the last match within a limit",
        "jarvis_workers/source/match.py",
        "\nSLACK = 1_000\n",
        "\nSLACK = -1\n",
        "tests/source",
    ),
    Defect(
        "source.syntax",
        "adjacent labels of a switch are lowered as separate cases",
        "jarvis_workers/dataflow/frontend/switches.py",
        "case [*_, [[_, *_] as others, []]]:",
        "case [*_, [[_, *_] as others, [_, *_]]]:",
        "tests/source",
    ),
    Defect(
        "steps",
        "the key of the scan cache lacks an input: whether a file is a test",
        "jarvis_workers/sec/stages/scan_files.py",
        "{'t' if is_test(entry.path) else '-'}",
        "-",
        "tests/sec/stages/test_scan_batch.py",
    ),
    Defect(
        "store",
        "the fencing token is not compared: two processes commit a job whose lease has expired",
        "jarvis_workers/store/jobs.py",
        "if (entry.job.id, entry.job.fence) in current}.values()",
        "if entry.job.id in {job for job, _ in current}}.values()",
        "tests/store/test_jobs.py",
    ),
    Defect(
        "toolchain",
        "a child gets the whole environment, including keys and passwords",
        "jarvis_workers/toolchain/children.py",
        "if name in PASSED_VARIABLES or name.startswith(PASSED_PREFIXES)",
        "",
        "tests/toolchain",
    ),
    Defect(
        "tools",
        "a tool follows symbolic links, which may lead out of the tree",
        "jarvis_workers/agents/tools/listing.py",
        "flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | kind",
        "flags = os.O_RDONLY | os.O_CLOEXEC | kind",
        "tests/agents/tools/test_reading.py tests/agents/tools/test_registry.py",
    ),
    Defect(
        "tools.sandbox",
        "Landlock restricts nothing: a command may open any file",
        "jarvis_workers/sandbox/landlock.py",
        "    kernel.call(RESTRICT_SELF, ruleset, 0)\n",
        "",
        "tests/agents/tools",
    ),
    Defect(
        "turns",
        "each 429 of one burst halves the concurrency limit again",
        "jarvis_workers/models/ratelimit/policy.py",
        "        if generation == self.generation:\n            self.allowed = max(",
        "        if generation <= self.generation:\n            self.allowed = max(",
        "tests/models/ratelimit",
    ),
    Defect(
        "redact",
        "the API key is not redacted in messages of the server",
        "jarvis_workers/redact.py",
        "HIDDEN, without(text, key))",
        "HIDDEN, text)",
        "tests/test_redact.py tests/test_telemetry.py tests/models/platforms",
    ),
    Defect(
        "jarvis_cli",
        "a run that has not checked everything exits 0 instead of 3",
        "jarvis_cli/kit/exits.py",
        "return INCOMPLETE if incomplete else DONE",
        "return DONE",
        "tests/cli/test_sec.py",
    ),
)


def main() -> int:
    """Plant the named defects, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="packages whose defects are planted; default: all")
    parser.add_argument("--list", action="store_true", help="list the defects, and check that each can be planted")
    parser.add_argument("--workers", default="2", help="number of pytest processes")
    parser.add_argument("--own", action="store_true", help="run only the tests of the defect's package")
    asked = parser.parse_args()
    chosen = [defect for defect in DEFECTS if not asked.names or defect.name in asked.names]
    for defect in chosen:
        assert (ROOT / defect.file).read_text().count(defect.before) == 1, f"{defect.name}: {defect.file} has changed"
        if asked.list:
            print(f"{defect.name:14} {defect.breaks}")
    if asked.list:
        return 0
    with tempfile.TemporaryDirectory(prefix="jarvis-planted-") as place:
        copy = _copy(Path(place))
        found = [_is_found(copy, defect, asked.workers, own=asked.own) for defect in chosen]
    print(f"{sum(found)} of {len(chosen)} found")
    return 0 if sum(found) >= min(ENOUGH, len(chosen)) else 1


def _copy(place: Path) -> Path:
    copy = place / "tree"
    copy.mkdir()
    for name in COPIED:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", ".hypothesis"))
    for file in ROOT.glob("*.*"):
        if file.is_file():
            shutil.copy(file, copy)
    return copy


def _is_found(copy: Path, defect: Defect, workers: str, *, own: bool) -> bool:
    file = copy / defect.file
    whole = file.read_text()
    file.write_text(whole.replace(defect.before, defect.after))
    began = time.monotonic()
    try:
        by = _finder(copy, workers, defect.tests) or (None if own else _finder(copy, workers, "tests"))
    finally:
        file.write_text(whole)
    assert by is None or not _failing(copy, "0", by), f"{by} also fails without a defect"
    print(f"{defect.name:14} {'found by ' + by if by else 'MISSED':90} {time.monotonic() - began:5.0f} s", flush=True)
    return by is not None


def _finder(copy: Path, workers: str, tests: str) -> str | None:
    """Return the first test that fails twice, as a single failure may be due to a busy machine."""
    passed_over: list[str] = []
    while len(passed_over) < TRIES and (by := _failing(copy, workers, tests, passed_over)):
        if _failing(copy, "0", by):
            return by
        passed_over.append(by)
    return None


def _failing(copy: Path, workers: str, tests: str, but: Sequence[str] = ()) -> str | None:
    """Return the first test that fails, without its parameters; None when all pass."""
    # Ahead of the installed tree, also in the processes that tests start.
    environ = {**os.environ, "PYTHONPATH": str(copy)}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    options = ["-q", "-x", "-p", "no:cacheprovider", "-n", workers, "--dist", "worksteal"]
    left_out = [f"--deselect={name}" for name in but]
    command = [sys.executable, "-m", "pytest", *options, *left_out, "--ignore=tests/bench", *tests.split()]
    done = subprocess.run(command, cwd=copy, env=environ, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode == 0:
        return None
    failed = FAILED_TEST.search(done.stdout)
    assert failed, done.stdout[-2000:] + done.stderr[-2000:]
    return failed[1]


if __name__ == "__main__":
    sys.exit(main())
