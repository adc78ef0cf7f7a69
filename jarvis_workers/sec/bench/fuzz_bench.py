"""Fuzz a program that was made for proofs: with libFuzzer where clang has it, else with own mutations.

All runs of a target share a sandbox, which may only read the bench.  What comes back are inputs, and counts for the
report: the program may have faked both, so that an input is worth no more than one that a model wrote.
"""

import json
import os
import secrets
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from jarvis_workers.errors import HostExhausted
from jarvis_workers.paths import plain
from jarvis_workers.sandbox import mutations
from jarvis_workers.sandbox.bench_files import read_untrusted
from jarvis_workers.sandbox.limits import CommandOutcome
from jarvis_workers.sandbox.mutations import INPUT_MAX
from jarvis_workers.sandbox.sandbox import open_sandbox
from jarvis_workers.sec.bench import fuzz_loop
from jarvis_workers.sec.bench.fuzz_loop import CORPUS, COUNTS, ERRORS_MAX, FOUND, LOGS, SEEDS, name_of
from jarvis_workers.sec.bench.host_trouble import failure_of, last_lines, raise_for_host
from jarvis_workers.sec.bench.proof_bench import MADE, TOOLS, ProofBench
from jarvis_workers.sec.bench.proof_compilers import CLANG, COVERED, LIBFUZZER, installed_compilers
from jarvis_workers.sec.bench.proof_link import BuiltProgram, link_program
from jarvis_workers.sec.bench.proof_objects import FUZZ_TARGET
from jarvis_workers.sec.bench.proof_run import sanitizer_options, write_inputs
from jarvis_workers.sec.proof.proof import INPUT, Attempt

Engine = Literal["libFuzzer", "mutations"]
# Of a slow machine: a fast one ends at this number of runs, and then with the same inputs each time.
RUNS_PER_SECOND: Mapping[Engine, int] = {"libFuzzer": 10_000, "mutations": 50}
# What libFuzzer may use, of the memory of all processes.
MEMORY_SHARE = 0.75
CODE, STARTED = "code", "started"
COUNTS_MAX, ENDED_MAX = 2_000, 200
CORPUS_MAX, LISTED_MAX = 64, 5_000
MODULES = (mutations, fuzz_loop)
BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from jarvis_workers.sec.bench.fuzz_loop import main; main()"
SCRIPT = f"""\
cd "$HOME" && : > {STARTED} || exit 126
exec {shlex.quote(os.path.realpath(sys.executable))} -I -S -B -c {shlex.quote(BOOT)} {CODE}
"""
PROBE = f"int {FUZZ_TARGET}(const unsigned char *data, unsigned long size) {{ return data && size > 9; }}"


@dataclass(frozen=True)
class FuzzPlan:
    """What is run: an attempt, one of whose files is replaced by what becomes of the seeds; `number` decides how."""

    attempt: Attempt
    file: str
    seeds: tuple[bytes, ...]
    seconds: int
    number: int


class FuzzedInputs(NamedTuple):
    """The inputs at which a sanitizer reported an error, and how they were found; `ended` is why it ended early.

    The `corpus` are inputs without an error that reach different parts of the code, as far as libFuzzer knows.
    """

    engine: Engine
    inputs: tuple[bytes, ...] = ()
    runs: int = 0
    seconds: int = 0
    ended: str = ""
    corpus: tuple[bytes, ...] = ()


def has_libfuzzer(bench: ProofBench) -> bool:
    """Return whether clang can link libFuzzer, which is a library of its own."""
    if CLANG not in installed_compilers():
        return False
    script = f'printf %s "$1" > {TOOLS}/probe.c && {COVERED.c} {COVERED.sanitize} {LIBFUZZER} {TOOLS}/probe.c'
    return bench.shell(f"{script} -o {TOOLS}/probe", PROBE, check=False).code == 0


def build_fuzzer(bench: ProofBench, target: str) -> BuiltProgram:
    """Link a fuzz target with libFuzzer; the tree of the bench is `covered`."""
    bench.shell(f"rm -rf {MADE} && mkdir {MADE}")
    found = bench.compiled.of_source(target)
    if found is None or not found.defines(FUZZ_TARGET):
        return BuiltProgram(problem=f"{target} does not compile with clang")
    return link_program(bench, [LIBFUZZER, shlex.quote(found.path)], without={found.path})


def fuzz(bench: ProofBench, program: BuiltProgram, plan: FuzzPlan, engine: Engine) -> FuzzedInputs:
    """Run a program until the time, or the number of runs for it, has passed. Raises HostExhausted."""
    with open_sandbox(bench.work, tier=bench.tier, starter=bench.starter, scratch_bytes=None) as box:
        write_inputs(box.home, plan.attempt)
        _write_code(box.home / CODE)
        (box.home / SEEDS).mkdir()
        for number, seed in enumerate(plan.seeds):
            (box.home / SEEDS / name_of(number)).write_bytes(seed[:INPUT_MAX])
        limits = bench.limits.of_fuzzing(plan.seconds)
        stdin = json.dumps(_facts(bench, program, plan, engine, box.home)).encode()
        outcome = box.run(["sh", "-c", SCRIPT], stdin=stdin, limits=limits)
        raise_for_host(outcome, b"")
        if not (box.home / STARTED).exists():
            why = last_lines(outcome.stderr) or failure_of(outcome)
            raise HostExhausted(f"this machine cannot start to fuzz: {why}")
        return _fuzzed_inputs(box.home, outcome, engine)


def _facts(bench: ProofBench, program: BuiltProgram, plan: FuzzPlan, engine: Engine, home: Path) -> dict[str, Any]:
    arguments = () if engine == "libFuzzer" else [INPUT] if plan.attempt.way == "fuzz_target" else plan.attempt.args
    hang_seconds = bench.limits.hang_seconds
    # libFuzzer has a clock of its own.
    clock = 0 if engine == "libFuzzer" else hang_seconds
    return {
        "engine": engine,
        "argv": [str(bench.work / program.path), *arguments],
        "variable": sanitizer_options(str(home / LOGS), 64 + secrets.randbelow(50), bench.limits, clock),
        "input": Path(plan.file).name,
        "number": plan.number,
        "runs": max(1, plan.seconds * RUNS_PER_SECOND[engine]),
        "seconds": plan.seconds,
        "hang_seconds": hang_seconds,
        "wait_seconds": 2 * hang_seconds,
        "memory_mb": int(bench.limits.memory_mb * MEMORY_SHARE),
    }


def _write_code(directory: Path) -> None:
    """Write the modules that run in the sandbox, as a package of their own."""
    for module in MODULES:
        path = directory.joinpath(*module.__name__.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(Path(str(module.__file__)).read_bytes())


def _fuzzed_inputs(home: Path, outcome: CommandOutcome, engine: Engine) -> FuzzedInputs:
    names = [name_of(number) for number in range(ERRORS_MAX)] if _is_own(home / FOUND) else []
    paths = [home / FOUND / name for name in names]
    inputs = tuple(read_untrusted(path)[:INPUT_MAX] for path in paths if path.is_file() and not path.is_symlink())
    counts = _counts(read_untrusted(home / COUNTS))
    ended = failure_of(outcome) or str(counts.get("ended", ""))
    runs, seconds = (value if isinstance(value, int) else 0 for value in (counts.get("runs"), counts.get("seconds")))
    return FuzzedInputs(engine, inputs, runs, seconds, plain(ended)[:ENDED_MAX], tuple(_corpus(home / CORPUS)))


def _corpus(folder: Path) -> Iterator[bytes]:
    """Yield the smallest inputs of the corpus that libFuzzer has left."""
    if not _is_own(folder):
        return
    with suppress(OSError), os.scandir(folder) as entries:
        files = [entry for entry in islice(entries, LISTED_MAX) if entry.is_file(follow_symlinks=False)]
        sizes = sorted((entry.stat(follow_symlinks=False).st_size, entry.name) for entry in files)
        for size, name in sizes[:CORPUS_MAX]:
            if size <= INPUT_MAX:
                yield read_untrusted(folder / name)[:INPUT_MAX]


def _is_own(folder: Path) -> bool:
    """Return whether a directory was not replaced by a link to one that the program may not read."""
    return folder.is_dir() and not folder.is_symlink()


def _counts(text: bytes) -> dict[str, Any]:
    try:
        counts = json.loads(text[:COUNTS_MAX])
    except (ValueError, RecursionError):
        return {}
    return counts if isinstance(counts, dict) else {}
