"""Run a program that was made for a proof, and read what the sanitizers reported.

The program may only read the bench.  The sanitizers write their log in a directory whose name it cannot know
beforehand, and end it with an exit code that differs in each run; the stacks are addresses, which are resolved here.
"""

import json
import os
import secrets
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import HostExhausted
from jarvis_workers.sandbox.bench_files import read_untrusted
from jarvis_workers.sandbox.limits import CommandOutcome
from jarvis_workers.sandbox.sandbox import Sandbox, open_sandbox
from jarvis_workers.sec.bench.host_trouble import failure_of, last_lines, raise_for_host
from jarvis_workers.sec.bench.proof_bench import MADE, PROJECT, ProofBench, ProofLimits
from jarvis_workers.sec.bench.proof_link import BuiltProgram
from jarvis_workers.sec.proof.api_calls import read_records
from jarvis_workers.sec.proof.proof import (
    INPUT,
    LOOPBACK,
    NORMAL_END,
    STACK_MB,
    Attempt,
    ModuleAddress,
    ProofRun,
    SanitizerError,
    StackFrame,
)
from jarvis_workers.sec.proof.sanitizer_log import addresses_of, read_log, with_stack
from jarvis_workers.sec.proof.weaknesses import is_growth, is_null

# In the transcript of server_client.py, which lies in the home directory.
TRANSCRIPT, REACHED, STOPPED = "client", "reached the server", "stopped the server"
AFTER_MESSAGES, NOT_LISTENING = "went on after the last message", "was stopped, since it does not listen"
LOGS_MAX, LOG_BYTES, CALLS_BYTES = 8, 1 << 20, 1 << 24
OUTPUT_LENGTH = 2_000
# A client waits for a server that computes, also on a busy machine; see server_client.py.
SERVER_SHARE = 7
# A loop that does not end is proved by one call; see proof_support.c.
TIMES = ("wall time", "CPU time")
NO_CALL = (
    ", although no call into the project took {seconds} s of CPU time while the harness held at most 128 KB;"
    " let one call do more of the work"
)
FOREIGN = "; the error in the log of the sanitizers does not count, since it did not end the run"
COMMON = "log_path={log}:exitcode={code}:symbolize=0:abort_on_error=0:handle_abort=0"
ASAN = (
    f"{COMMON}:detect_leaks=0:fast_unwind_on_malloc=0:fast_unwind_on_fatal=0"
    ":allocator_may_return_null={null}:max_allocation_size_mb={allocation}:malloc_context_size=24"
    ":detect_stack_use_after_return=1:print_legend=0:strict_string_checks=0:detect_odr_violation=0:quarantine_size_mb=64"
)
# Many small allocations: stacks that cost little, of which few frames are kept.
FAST = ":fast_unwind_on_malloc=1:malloc_context_size=2"
# The program goes on after undefined behaviour, so that what is behind it can be found.
UBSAN = f"{COMMON}:print_stacktrace=1:halt_on_error=0"
# The last `exec` keeps the process, which alone may read its own mappings.
# The size of the stack decides how deep a recursion gets.
PREPARE = f"""\
ulimit -s {STACK_MB << 10} 2>/dev/null
cd "$HOME" && mkdir run "$1" || exit 126
[ ! -d inputs ] || cp inputs/* run/ || exit 126
: > "$1/started"
cd run && shift
"""
SCRIPT = f"""\
{PREPARE}
input=/dev/null; [ ! -f stdin ] || input=stdin
exec env "$@" < $input
"""
CLIENT = (Path(__file__).parent / "server_client.py").read_text()
SERVER_SCRIPT = f"""\
{PREPARE}
exec {shlex.quote(os.path.realpath(sys.executable))} -I -S -B -c {shlex.quote(CLIENT)} "$@"
"""


class _Observed(NamedTuple):
    """What came of a run: its outcome, the log of the sanitizers, what its client and its harness recorded."""

    outcome: CommandOutcome
    text: str
    client: str
    calls: str
    output: str
    is_stopped: bool

    @property
    def is_foreign(self) -> bool:
        """Whether the error in the log did not end the run.

        A sanitizer ends the process after an error: another process, or the program itself, wrote this.
        """
        return "ERROR: " in self.text and not self.is_stopped


def run_attempt(bench: ProofBench, attempt: Attempt, program: BuiltProgram, cwe: int = 0) -> ProofRun:
    """Run the program of an attempt for a weakness once. Raises HostExhausted if this machine could not start it."""
    run = _observe(bench, attempt, program, cwe)
    outcome, client = run.outcome, run.client
    ended = _ended(outcome, client, is_stopped=run.is_stopped) + (FOREIGN if run.is_foreign else "")
    if attempt.way == "harness" and not run.is_stopped and outcome.reason in TIMES:
        ended += NO_CALL.format(seconds=bench.limits.hang_seconds)
    return ProofRun(
        ended,
        _with_client(run.output, client) if client else run.output[-OUTPUT_LENGTH:],
        () if run.is_foreign else read_log(run.text, _resolver(bench, run.text)),
        read_records(run.calls),
        is_unclear=run.is_foreign or outcome.reason is not None,
        unreached=_unreached(attempt, client, ended),
    )


def errors_in_log(
    bench: ProofBench, attempt: Attempt, program: BuiltProgram, cwe: int = 0
) -> tuple[SanitizerError, ...]:
    """Run an attempt once, and return all errors in the log, whoever wrote them. Raises HostExhausted."""
    text = _observe(bench, attempt, program, cwe).text
    return read_log(text, _resolver(bench, text))


def _observe(bench: ProofBench, attempt: Attempt, program: BuiltProgram, cwe: int) -> _Observed:
    code, folder = 64 + secrets.randbelow(50), secrets.token_hex(8)
    # A program that needs no file of the tree cannot compare its sources with what they were before a patch.
    root = bench.work / MADE if program.path.startswith(f"{MADE}/") else bench.work
    with open_sandbox(root, tier=bench.tier, starter=bench.starter, scratch_bytes=None) as box:
        write_inputs(box.home, attempt)
        log = f"{box.home}/{folder}"
        arguments = [INPUT] if attempt.way == "fuzz_target" else attempt.args
        words = [
            sanitizer_options(log, code, bench.limits, bench.limits.hang_seconds, cwe),
            str(bench.work / program.path),
            *arguments,
        ]
        outcome = _run(box, attempt, [folder, *words], bench.limits)
        output = _output(outcome, {f"{bench.work}/": "", f"{box.home}/": ""})
        client = read_untrusted(box.home / TRANSCRIPT)[:LOG_BYTES].decode("ascii", "replace")
        raise_for_host(outcome, b"")
        if not Path(log, "started").exists():
            why = last_lines(outcome.stderr) or failure_of(outcome)
            raise HostExhausted(f"this machine cannot start the run of a proof: {why}")
        stack = read_untrusted(Path(log, "calls.stack"))[:LOG_BYTES].decode(errors="replace")
        text = with_stack(_logs(Path(log)), stack.replace("(program+", f"({bench.work / program.path}+"))
        calls = read_untrusted(Path(log, "calls"))[:CALLS_BYTES].decode(errors="replace")
    # Servers fork, so that each of their processes may have ended so.
    return _Observed(outcome, text, client, calls, output, code in (outcome.code, *outcome.exits))


def _run(box: Sandbox, attempt: Attempt, words: Sequence[str], limits: ProofLimits) -> CommandOutcome:
    of_run = limits.of_run()
    if attempt.client is None:
        return box.run(["sh", "-c", SCRIPT, "sh", *words], limits=of_run)
    of_run = of_run._replace(wall_seconds=SERVER_SHARE * limits.run_seconds)
    plan = json.dumps(attempt.client.to_json()).encode()
    return box.run(["sh", "-c", SERVER_SCRIPT, "sh", *words], stdin=plan, limits=of_run, loopback=True)


def sanitizer_options(log: str, code: int, limits: ProofLimits, hang_seconds: int, cwe: int = 0) -> str:
    """Return the variable for proof_support.c: the sanitizers log in a directory, and end the program with a code.

    A program hangs after so many seconds of CPU time. The weakness that is to be shown decides whether it is stopped
    when it grows, and whether an allocation that is too large is an error, or returns NULL.
    """
    growth_mb = limits.growth_mb if is_growth(cwe) else 0
    facts = {"log": f"{log}/report", "code": code, "allocation": limits.allocation_mb, "null": int(is_null(cwe))}
    asan = ASAN.format(**facts) + (FAST if growth_mb else "")
    return f"JARVIS_PROOF={log}/calls|{asan}|{UBSAN.format(**facts)}|{growth_mb}|{hang_seconds}"


def write_inputs(home: Path, attempt: Attempt) -> None:
    """Write the files of an attempt, which are copied to the directory in which its program runs."""
    if not attempt.files:
        return
    (home / "inputs").mkdir(mode=0o755)
    for name, content in attempt.files:
        (home / "inputs" / Path(name).name).write_bytes(content)


def _logs(folder: Path) -> str:
    names = sorted(path for path in folder.glob("report.*"))[:LOGS_MAX] if folder.is_dir() else []
    return "\n".join(read_untrusted(path)[:LOG_BYTES].decode(errors="replace") for path in names)


def _unreached(attempt: Attempt, client: str, ended: str) -> str:
    """Return why no message reached a server; servers that detach end at once."""
    if attempt.client is None or client.startswith(REACHED):
        return ""
    where = f"{attempt.client.protocol} port {attempt.client.port} of {LOOPBACK}"
    detaches = "; it must stay in the foreground" if ended == NORMAL_END else ""
    return f"the program did not listen on {where}: it {ended}{detaches}"


def _ended(outcome: CommandOutcome, client: str, *, is_stopped: bool) -> str:
    if is_stopped:
        return "was stopped by a sanitizer"
    if STOPPED in client and outcome.reason is None:
        return AFTER_MESSAGES if client.startswith(REACHED) else NOT_LISTENING
    failure = failure_of(outcome)
    return f"ended: {failure}" if failure else NORMAL_END


def _output(outcome: CommandOutcome, directories: Mapping[str, str]) -> str:
    """Return the output without directories that differ between runs."""
    text = (outcome.stdout + outcome.stderr).decode(errors="backslashreplace")
    for path, shown in directories.items():
        text = text.replace(path, shown)
    return text


def _with_client(output: str, client: str) -> str:
    """Return the end of an output and, behind it, of what the client saw."""
    half = OUTPUT_LENGTH // 2
    return f"{output[-half:].rstrip()}\n\nThe client:\n{client[-half:]}".lstrip()


def _resolver(bench: ProofBench, log: str) -> Callable[[ModuleAddress], Sequence[StackFrame]]:
    """Return the function that resolves the addresses of a log, after resolving all of them at once."""
    found: dict[ModuleAddress, list[StackFrame]] = {}
    modules: dict[str, list[ModuleAddress]] = {}
    for address in addresses_of(log):
        if address.module.startswith(f"{bench.work}/"):
            modules.setdefault(address.module, []).append(address)
    is_unchanged = cache(partial(_is_unchanged, bench))
    for module, addresses in modules.items():
        words = " ".join(hex(one.offset) for one in addresses)
        script = f"addr2line -a -f -i -C -e {shlex.quote(module)} {words}"
        listed = bench.shell(script, check=False).stdout.decode(errors="replace")
        for address, lines in zip(addresses, listed.split("\n0x"), strict=False):
            found[address] = [_frame(bench, *pair, is_unchanged) for pair in _pairs(lines.split("\n")[1:])]
    return lambda address: found.get(address, [StackFrame("", "", 0, "system")])


def _pairs(lines: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(lines[::2], lines[1::2], strict=False))


def _frame(bench: ProofBench, function: str, place: str, is_unchanged: Callable[[str], bool]) -> StackFrame:
    file, _, line = place.partition(" ")[0].rpartition(":")
    number = int(line) if line.isdecimal() else 0
    path = _normal(file.removeprefix(f"{bench.work}/"))
    if path.startswith(f"{PROJECT}/"):
        file = path.removeprefix(f"{PROJECT}/")
        return StackFrame(function, file, number, "tree" if is_unchanged(file) else "project")
    if path.startswith(f"{MADE}/harness."):
        return StackFrame(function, path.removeprefix(f"{MADE}/"), number, "harness")
    return StackFrame(function, "", 0, "system")


def _normal(path: str) -> str:
    """Return a path without `.` and `..`, as far as it stays below its beginning."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1]:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _is_unchanged(bench: ProofBench, file: str) -> bool:
    """Return whether a file of the bench is that of the snapshot: a build may have changed or generated it."""
    original = bench.tree.root / file
    return original.is_file() and not original.is_symlink() and original.read_bytes() == bench.source(file)
