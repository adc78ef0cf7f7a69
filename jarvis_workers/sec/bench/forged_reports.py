"""Check that a sanitizer has written the errors in its log, and that instructions of the program have caused them.

The code under proof may write to the log, and may learn with which code a sanitizer ends the process.  An attempt is
therefore run again with a changed program: while the sanitizer writes nothing, nothing may be in its log; with a
breakpoint in the place of the instruction that failed, its error must be gone.
"""

import os
import re
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.sandbox.bench_files import read_untrusted
from jarvis_workers.sec.bench.proof_bench import STATE, ProofBench
from jarvis_workers.sec.bench.proof_link import BuiltProgram
from jarvis_workers.sec.proof.proof import (
    HANG,
    MEMORY_GROWTH,
    STOPPED_ANYWHERE,
    ModuleAddress,
    ProofRun,
    SanitizerError,
)

# The headers of a program (ELF-64, little-endian).
HEADER = struct.Struct("<4sBB10xHHIQQQIHHH")
SEGMENT = struct.Struct("<IIQQQQ")
ELF, WIDE, LITTLE, LOADED = b"\x7fELF", 2, 1, 1


class _Codes(NamedTuple):
    """Instructions of a machine: a breakpoint, and the return from a function."""

    stop: bytes
    leave: bytes


CODES = {62: _Codes(b"\xcc", b"\xc3"), 183: _Codes(b"\x00\x00\x20\xd4", b"\xc0\x03\x5f\xd6")}  # x86-64, AArch64
# The function of the sanitizers through which all reports go to the log, in a program that is linked with them.
WRITER = "_ZN11__sanitizer10ReportFile5WriteEPKcm"
SYMBOL_ADDRESS = re.compile(r"^([0-9a-f]{1,16})\s*$", re.MULTILINE)
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)$", re.MULTILINE)
CALL = re.compile(r"(?:call|bl)q?\s+(?:0x)?[0-9a-f]+\b")
# Errors that a signal shows, at the instruction itself.
SIGNALS = frozenset((*STOPPED_ANYWHERE, MEMORY_GROWTH, "SEGV", "BUS", "FPE", "ILL"))
FUNCTION_MOST = 1 << 20
# Programs of a build may be behind a script of libtool.
REAL = ("{0}", ".libs/{0}", ".libs/lt-{0}")
REMARK = "; the error in the log does not count: {}"
NO_WRITER = "the program is not linked with the sanitizers of the bench, or without symbols"
NOT_WRITTEN = "it is also there while the sanitizers write nothing"
NOT_CAUSED = "it is also there if its instruction is not executed"
NOT_CALLED = "its instruction does not call the sanitizer"
NOT_FOUND = "its instruction is not in a program of the bench"
# Runs an attempt once, and returns the errors in its log.
Errors = Callable[[], Sequence[SanitizerError]]


class _BytePatch(NamedTuple):
    """Bytes for a place in a file."""

    path: Path
    place: int
    code: bytes


def without_forged(
    bench: ProofBench, program: BuiltProgram, runs: Sequence[ProofRun], run_again: Errors
) -> list[ProofRun]:
    """Return the runs of an attempt without errors that the sanitizer has not written, or no instruction has caused.

    Runs it once more, and once for each place of an error in the first run. Raises HostExhausted, StepFailed.
    """
    if not any(run.errors for run in runs):
        return list(runs)
    sites = {error.site for run in runs for error in run.errors if error.site}
    if why := _why_not_written(bench, program, run_again):
        return [_without(run, sites, why) for run in runs]
    reasons = {site: _why_not_caused(bench, site, runs[0].errors, run_again) for site in sites}
    forged = {site for site, why in reasons.items() if why}
    return [_without(run, forged, next(filter(None, reasons.values()))) for run in runs] if forged else list(runs)


def _without(run: ProofRun, forged: Collection[ModuleAddress], why: str) -> ProofRun:
    errors = tuple(error for error in run.errors if error.site not in forged)
    return replace(run, errors=errors, ended=run.ended + REMARK.format(why), is_unclear=True)


def _why_not_written(bench: ProofBench, program: BuiltProgram, run_again: Errors) -> str:
    """Return why the log is not that of the sanitizers, "" if it is."""
    path = bench.work / program.path
    changes = [one for name in REAL for one in _silenced(bench, path.parent / name.format(path.name))]
    if not changes:
        return NO_WRITER
    with _changed(bench, changes):
        return NOT_WRITTEN if run_again() else ""


def _silenced(bench: ProofBench, path: Path) -> Iterator[_BytePatch]:
    """Yield the changes with which the sanitizers in a program write nothing."""
    content = _program(bench, path)
    if not content:
        return
    script = f'nm --defined-only "$1" | awk \'$3 == "{WRITER}" {{ print $1 }}\''
    listed = bench.shell(script, str(path), check=False).stdout.decode(errors="replace")
    for match in SYMBOL_ADDRESS.finditer(listed):
        if (place := _place(content, int(match[1], 16))) is not None:
            yield _BytePatch(path, place, CODES[_machine(content)].leave)


def _why_not_caused(bench: ProofBench, site: ModuleAddress, errors: Sequence[SanitizerError], run_again: Errors) -> str:
    """Return why the errors at a place are not those of its instruction, "" if they are."""
    # Where a hang is interrupted, its address may be that of the instruction before; some are in another run only.
    here = [error for error in errors if error.site == site and error.name != HANG]
    if not here:
        return ""
    content = _program(bench, Path(site.module))
    start, text = _instruction(bench, site) if content else (0, "")
    place = _place(content, start) if text else None
    if place is None:
        return NOT_FOUND
    is_direct = any(error.stack[0].owner != "system" and error.name not in SIGNALS for error in here)
    if is_direct and not CALL.match(text):
        return NOT_CALLED
    with _changed(bench, [_BytePatch(Path(site.module), place, CODES[_machine(content)].stop)]):
        return NOT_CAUSED if any(error.site == site for error in run_again()) else ""


def _instruction(bench: ProofBench, site: ModuleAddress) -> tuple[int, str]:
    """Return the start and the text of the instruction at an address, "" if it is not known.

    Instructions are read from the beginning of their function, since they differ in length.
    """
    first = (
        'nm -n --defined-only "$1" | awk -v at="$2" \'$2 ~ /[TtWwi]/ && ($1 "") <= (at "") { print $1 }\' | tail -n 1'
    )
    listed = bench.shell(first, site.module, f"{site.offset:016x}", check=False).stdout.decode(errors="replace")
    match = SYMBOL_ADDRESS.match(listed)
    begin = int(match[1], 16) if match else site.offset
    if not site.offset - FUNCTION_MOST <= begin <= site.offset:
        return 0, ""
    script = 'objdump -d --no-show-raw-insn --start-address="$2" --stop-address="$3" "$1" | tail -n 1'
    shown = bench.shell(script, site.module, hex(begin), hex(site.offset + 1), check=False).stdout
    found = INSTRUCTION.search(shown.decode(errors="replace"))
    return (int(found[1], 16), found[2]) if found else (0, "")


def has_sanitizers(bench: ProofBench, program: BuiltProgram, function: str) -> bool:
    """Return whether a function of a program, or if it is not there, the program, was compiled with sanitizers."""
    path = str(bench.work / program.path)
    script = 'objdump -d --no-show-raw-insn --disassemble="$2" "$1" | grep -E "^ +[0-9a-f]+:" | head -20000'
    code = bench.shell(script, path, function, check=False).stdout
    listed = b"" if code.strip() else bench.shell('nm "$1" | grep -F -m 1 "$2"', path, WRITER, check=False).stdout
    return any(name in code for name in (b"<__asan_", b"<__ubsan_")) or bool(listed.strip())


@contextmanager
def _changed(bench: ProofBench, changes: Iterable[_BytePatch]) -> Iterator[None]:
    """Change programs for a while; a bench on which this does not end is made anew."""
    state = bench.place / STATE
    with ExitStack() as stack:
        stack.callback(state.write_text, bench.tree.state)
        state.unlink()
        for path, place, code in changes:
            content, mode = path.read_bytes(), path.stat().st_mode & 0o777
            stack.callback(_replace, path, content, mode)
            _replace(path, content[:place] + code + content[place + len(code) :], mode)
        yield


def _replace(path: Path, content: bytes, mode: int) -> None:
    """Replace a file; processes that execute it keep what they have."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    with part.open("xb") as file:
        file.write(content)
    part.chmod(mode)
    part.replace(path)


def _program(bench: ProofBench, path: Path) -> bytes:
    """Return a program or library of the bench, b"" if it is none, or elsewhere, or for a machine that is not known."""
    if path.is_symlink() or not path.is_file() or os.path.realpath(path) != str(path):
        return b""
    content = read_untrusted(path) if path.is_relative_to(os.path.realpath(bench.work)) else b""
    return content if _machine(content) in CODES else b""


def _machine(content: bytes) -> int:
    if len(content) < HEADER.size or not content.startswith(ELF) or (content[4], content[5]) != (WIDE, LITTLE):
        return 0
    return int(HEADER.unpack_from(content)[4])


def _place(content: bytes, address: int) -> int | None:
    """Return where an address of a program is in its file, None if it is not there."""
    *_, table, _, _, _, size, count = HEADER.unpack_from(content)
    for number in range(count):
        at = table + number * size
        if at + SEGMENT.size > len(content):
            return None
        kind, _, offset, start, _, length = SEGMENT.unpack_from(content, at)
        if kind == LOADED and start <= address < start + length:
            place = int(offset + address - start)
            return place if place < len(content) else None
    return None
