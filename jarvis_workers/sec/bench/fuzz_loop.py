"""Run a program with many inputs, in one sandbox, and keep those at which a sanitizer reports an error.

It runs in the sandbox, with a copy of mutations.py alone beside it: the plan is JSON on its standard input, the seeds
are in the directory `seeds`.  What it writes is as untrusted as the program that it runs: each input that it keeps is
run again, and judged, outside.

Without coverage, an input counts as new if the program ends, or writes, otherwise than before.  libFuzzer is started
again after each error, with what it has found so far.
"""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from jarvis_workers.sandbox.mutations import INPUT_MAX, Mutator

SEEDS, FOUND, COUNTS, RUN, LOGS, CORPUS, ARTIFACTS = "seeds", "found", "counts", "run", "logs", "corpus", "artifacts"
OUTPUT, STDIN = "output", "stdin"
# Errors of a target; more are the same one on other paths, mostly.
ERRORS_MAX = 16
POOL_MAX = 512
LOG_BYTES, OUTPUT_BYTES = 1 << 16, 4096
# Runs that wait for something else than their input, one after the other.
WAITS_MAX = 3
STARTS_MAX = 500
# The time for a run after the first that did not end: most of the others that do not are the same.
LATER_HANG_SECONDS, HANGS_MAX = 1, 3
# An allocation that is too large stops the program at first; then it fails, so that what is behind it is reached.
STOPPING, GOING_ON = "allocator_may_return_null=0", "allocator_may_return_null=1"
ALLOCATIONS = {b"requested", b"out", b"calloc", b"oom"}
COUNT_EVERY = 50
# The names under which libFuzzer keeps inputs begin with these words.
TIMEOUT = b"timeout"
ERROR_FILES = (b"crash", TIMEOUT, b"oom")
NUMBERS = re.compile(rb"0x[0-9a-f]+|\d+")
REPORT = re.compile(rb"^(?:==\d+==ERROR: \w+: ([A-Za-z-]+)|[^\n]{1,400}runtime error: ([a-z -]+))[^\n]*", re.MULTILINE)
FRAME = re.compile(rb"^\s+#\d+ 0x[0-9a-f]+\s+\(.+\+(0x[0-9a-f]+)\)", re.MULTILINE)
FRAMES = 4
# The report on a program that hangs (`proof_support.c`), whose stack is another in each run.
HANG = re.compile(rb"[^\n]*unknown address 0x0*7a11\b")
EXECUTED = re.compile(rb"^(?:stat::number_of_executed_units:\s*|#)(\d+)", re.MULTILINE)

Key = tuple[bytes, ...]


def main() -> None:
    """Run the plan, and count."""
    plan = json.load(sys.stdin)
    seeds = [path.read_bytes() for path in sorted(Path(SEEDS).iterdir())]
    for name in (FOUND, LOGS, CORPUS, ARTIFACTS):
        Path(name).mkdir()
    loop = _Loop(plan)
    if plan["engine"] == "libFuzzer":
        loop.start_libfuzzer(seeds)
    else:
        loop.mutate(seeds)
    loop.count()


def name_of(number: int) -> str:
    """Return the name of a seed, or of an input that is kept, by its number."""
    return f"{number:04}"


class _Loop:
    def __init__(self, plan: dict[str, Any]) -> None:
        self._plan, self._start = plan, time.monotonic()
        self._variable, self._hang_seconds, self._hangs = plan["variable"], plan["hang_seconds"], 0
        self._keys = set[Key]()
        self._runs, self._errors, self._ended = 0, 0, ""

    def mutate(self, seeds: list[bytes]) -> None:
        """Run the seeds, then what becomes of them."""
        mutator, outcomes, waits = Mutator(seeds, self._plan["number"]), set[object](), 0
        while self._runs < self._plan["runs"] and self._left() > 0 and self._errors < ERRORS_MAX:
            content = seeds[self._runs] if self._runs < len(seeds) else mutator.mutate()
            outcome = self._run(content)
            self._runs += 1
            waits = waits + 1 if outcome is None else 0
            if waits == WAITS_MAX:
                self._ended = "its runs do not end"
                return
            if outcome not in outcomes and len(mutator.pool) < POOL_MAX:
                outcomes.add(outcome)
                mutator.pool.append(content)
            if self._runs % COUNT_EVERY == 0:
                self.count()

    def start_libfuzzer(self, seeds: list[bytes]) -> None:
        """Start libFuzzer until the runs or the time are used up."""
        plan = self._plan
        places = {seed: Path(CORPUS, name_of(number)) for number, seed in enumerate(seeds)}
        for seed, place in places.items():
            place.write_bytes(seed)
        for start in range(STARTS_MAX):
            left = plan["runs"] - self._runs
            if left <= 0 or self._left() < 1 or self._errors >= ERRORS_MAX:
                return
            words = [f"-runs={left}", f"-seed={plan['number'] + start + 1}", f"-max_total_time={int(self._left())}"]
            words += [f"-timeout={self._hang_seconds}", f"-rss_limit_mb={plan['memory_mb']}", f"-max_len={INPUT_MAX}"]
            words += [f"-artifact_prefix={ARTIFACTS}/", "-print_final_stats=1", CORPUS]
            log = self._start_once([*plan["argv"], *words])
            self._runs += max((int(one) for one in EXECUTED.findall(log)), default=1)
            reported = self._reported()
            for path in sorted(Path(ARTIFACTS).iterdir()):
                kind, content = path.name.partition("-")[0].encode(), path.read_bytes()
                if kind in ERROR_FILES:
                    self._keep(content, self._of_hang() if kind == TIMEOUT else reported or {(kind,)})
                    if content in places:  # it would stop at this one each time
                        places.pop(content).unlink(missing_ok=True)
                path.unlink()
            self.count()

    def count(self) -> None:
        """Write what is known so far: the program may end this one."""
        counts = {"runs": self._runs, "seconds": round(time.monotonic() - self._start), "ended": self._ended}
        Path(COUNTS).write_text(json.dumps(counts), encoding="ascii")

    def _left(self) -> float:
        return float(self._plan["seconds"]) - (time.monotonic() - self._start)

    def _start_once(self, argv: list[str]) -> bytes:
        with Path(OUTPUT).open("wb") as log, suppress(subprocess.TimeoutExpired):
            _wait(_open(argv, Path(), None, log, self._variable), self._left() + self._plan["hang_seconds"])
        with Path(OUTPUT).open("rb") as log:
            log.seek(max(0, Path(OUTPUT).stat().st_size - LOG_BYTES))
            return log.read()

    def _run(self, content: bytes) -> object:
        """Run the program; return what can be told of the run, None if it was ended since it waits."""
        place = Path(RUN)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(exist_ok=True)
        for path in Path("inputs").iterdir() if Path("inputs").is_dir() else ():
            shutil.copy(path, place)
        name = self._plan["input"]
        (place / name).write_bytes(content)
        given = place / STDIN if (place / STDIN).is_file() else None
        with Path(OUTPUT).open("wb") as output:
            process = _open(self._plan["argv"], place, given, output, self._variable)
            try:
                code = _wait(process, self._plan["wait_seconds"])
            except subprocess.TimeoutExpired:
                return None
        self._keep(content, self._reported())
        with Path(OUTPUT).open("rb") as output:
            return code, NUMBERS.sub(b"0", output.read(OUTPUT_BYTES))

    def _keep(self, content: bytes, keys: set[Key]) -> None:
        if keys <= self._keys or len(content) > INPUT_MAX or self._errors >= ERRORS_MAX:
            return
        self._keys |= keys
        kinds = {key[0] for key in keys}
        if TIMEOUT in kinds:
            self._hangs += 1
            self._hang_seconds = LATER_HANG_SECONDS
            self._variable = f"{self._variable.rpartition('|')[0]}|{LATER_HANG_SECONDS}"
        if kinds & ALLOCATIONS:
            self._variable = self._variable.replace(STOPPING, GOING_ON)
        Path(FOUND, name_of(self._errors)).write_bytes(content)
        self._errors += 1

    def _of_hang(self) -> set[Key]:
        """Return what tells the next run without an end from others: of the first HANGS_MAX, some may only be slow."""
        return {(TIMEOUT, b"%d" % min(self._hangs, HANGS_MAX - 1))}

    def _reported(self) -> set[Key]:
        """Return the kinds and innermost addresses of the errors in the log, which is removed."""
        keys = set[Key]()
        for path in sorted(Path(LOGS).iterdir()):
            with path.open("rb") as log:
                parts = re.split(rb"(?=^(?:==\d+==ERROR|[^\n]{1,400}runtime error: ))", log.read(LOG_BYTES), flags=re.M)
            for part in parts:
                if HANG.match(part):
                    keys |= self._of_hang()
                elif match := REPORT.match(part):
                    keys.add((match[1] or match[2], *FRAME.findall(part)[:FRAMES]))
            path.unlink()
        return keys


def _open(argv: list[str], place: Path, given: Path | None, output: Any, variable: str) -> "subprocess.Popen[bytes]":
    name, _, value = variable.partition("=")
    with Path(given or os.devnull).open("rb") as standard_input:
        return subprocess.Popen(
            argv,
            cwd=place,
            stdin=standard_input,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | {name: value},
            start_new_session=True,
        )


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> int:
    """Return the exit code, and end what the program has started; raises subprocess.TimeoutExpired."""
    descriptor = os.pidfd_open(process.pid)
    has_ended = bool(select.select([descriptor], [], [], max(0.0, seconds))[0])
    os.close(descriptor)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    code = process.wait()
    if not has_ended:
        raise subprocess.TimeoutExpired(process.args, seconds)
    return code
