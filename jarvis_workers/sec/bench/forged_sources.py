"""Find sources that call or name the sanitizers, or that claim lines of other files for their own code.

A compiler adds calls of the sanitizers to what it compiles.  Which of them are the code's own is seen when the sources
are compiled once more without sanitizers, as is done here for a tree that is compiled file by file.  Of a build, only
the texts of the sources are searched: its objects may have been made in any way.
"""

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from jarvis_workers.sandbox.bench_files import read_untrusted
from jarvis_workers.sec.bench.proof_bench import C_SUFFIXES, CPP_SUFFIXES, HEADER_SUFFIXES, PROJECT, TOOLS, ProofBench
from jarvis_workers.sec.proof.proof import ProofRun

FORGERIES, PLAIN = "forgeries", "plain"
COMPILE_PLAIN = f"""\
number=${{1%%:*}} file=${{1#*:}}
case $file in *.c) compiler=$C suffix=i;; *) compiler=$CPP suffix=ii;; esac
[ ! -f "objects/$number.o" ] || {{
  $compiler @tools/flags -E -MD -MF {PLAIN}/$number.d "project/$file" -o {PLAIN}/$number.$suffix &&
  $compiler -w -g0 -O0 -S {PLAIN}/$number.$suffix -o {PLAIN}/$number.s &&
  $compiler -c {PLAIN}/$number.s -o {PLAIN}/$number.o
}} >/dev/null 2>&1
"""
# Names of the sanitizers, in C and C++, and of the code that is linked with each program.
OWN_NAME = re.compile(
    rb"\b(?:__(?:asan|ubsan|lsan|sanitizer|interceptor|interception)_\w+"
    rb"|_ZN\d+__(?:asan|ubsan|lsan|sanitizer|interception)\w+|jarvis_(?:enter|leave|memory|string|handle|silent_\w+))"
)
# What compilers themselves never write into the assembly of a file without debug information.
APPENDED = re.compile(rb"^#+APP\n(.*?)(?:^#+NO_APP|\Z)", re.MULTILINE | re.DOTALL)
PLACING = re.compile(rb"\.(?:loc|file|line|macro|irpc?|altmacro)\b")
MARKER = re.compile(rb'^# \d+ "((?:[^"\\\n]|\\.)+)"', re.MULTILINE)
LINE_DIRECTIVE = re.compile(rb"^[ \t]*(?:#|%:|\?\?=)[ \t]*(?:line\b([^\n]*)|\d+[ \t]+(\"[^\n]*))", re.MULTILINE)
# The number, and the name of a file if there is one, are macros.
MACROS = re.compile(rb"\s*[A-Za-z_]\w*(?:\s*\([^\n]*\)|\s+[A-Za-z_]\w*)?\s*")
QUOTED = re.compile(rb'"([^"\n]+)"')
JOINED = re.compile(rb"(?:\\|\?\?/)\r?\n|/\*.*?\*/", re.DOTALL)
SUFFIXES = (*C_SUFFIXES, *CPP_SUFFIXES, *HEADER_SUFFIXES)
ASSEMBLY_SUFFIXES = (".s", ".S", ".asm")
NAMES = "{} uses the sanitizer itself ({})"
PLACES = "{} places its code on lines by assembly"
UNKNOWN = "{} could not be compiled without sanitizers"
CLAIMS = "another file of the tree claims lines of {}"


class ForgedSources(NamedTuple):
    """Why errors of a tree may be forged, "" if none is known; and the files whose lines others claim."""

    reason: str
    claimed: frozenset[str]


def why_only_reproduced(bench: ProofBench, run: ProofRun) -> str:
    """Return why the errors of a run prove nothing although a sanitizer has written them, "" if they may.

    Compiles the tree again if nobody has asked before.
    """
    found = forged_sources(bench)
    files = {frame.file for error in run.errors for frame in error.stack}
    claimed = sorted(files & found.claimed)
    return found.reason or (CLAIMS.format(claimed[0]) if claimed else "")


def forged_sources(bench: ProofBench) -> ForgedSources:
    """Return what the sources of a bench may forge; recorded beside the bench, where no program writes."""
    record = bench.place / FORGERIES
    if record.is_file():
        reason, claimed = json.loads(record.read_text())
        return ForgedSources(reason, frozenset(claimed))
    found = _of_objects(bench) if bench.tree.command is None else _of_texts(bench)
    record.write_text(json.dumps([found.reason, sorted(found.claimed)]))
    return found


def _of_objects(bench: ProofBench) -> ForgedSources:
    compiler = bench.compiler
    one = f"C={compiler.c} CPP={compiler.cpp}\n{COMPILE_PLAIN}"
    run = f"xargs -r -d '\\n' -n 1 -P 2 sh {TOOLS}/plain.sh < {TOOLS}/sources; true"
    bench.shell(f"mkdir -p {PLAIN} && printf '%s' \"$1\" > {TOOLS}/plain.sh && {run}", one)
    reasons, claimed = list[str](), set[str]()
    for path, source in sorted(bench.compiled.sources.items()):
        if not (bench.work / path).is_file():
            continue
        plain = (bench.work / PLAIN / PurePosixPath(path).name).with_suffix
        text, preprocessed = read_untrusted(plain(".s")), b"".join(read_untrusted(plain(end)) for end in (".i", ".ii"))
        reasons += _reasons(source, text, is_compiled=plain(".o").is_file())
        claimed |= _marked(preprocessed) - _dependencies(read_untrusted(plain(".d"))) - {source}
    bench.shell(f"rm -rf {PLAIN}")
    return ForgedSources(next(iter(reasons), ""), frozenset(claimed & _files(bench)))


def _reasons(source: str, assembly: bytes, *, is_compiled: bool) -> Iterator[str]:
    if not is_compiled:
        yield UNKNOWN.format(source)
    if name := OWN_NAME.search(assembly):
        yield NAMES.format(source, name[0].decode())
    if any(PLACING.search(part[1]) for part in APPENDED.finditer(assembly)):
        yield PLACES.format(source)


def _of_texts(bench: ProofBench) -> ForgedSources:
    reasons, claimed, files = list[str](), set[str](), _files(bench)
    for file in sorted(files):
        text = JOINED.sub(b"", bench.source(file))
        if name := OWN_NAME.search(text):
            reasons.append(NAMES.format(file, name[0].decode()))
        for directive in LINE_DIRECTIVE.finditer(text):
            claimed |= {
                one for one in files - {file} if PurePosixPath(one).name in _named(directive[1] or directive[2], one)
            }
    return ForgedSources(next(iter(reasons), ""), frozenset(claimed))


def _named(directive: bytes, file: str) -> set[str]:
    """Return the names of the files that a directive names: any, if it has them from a macro."""
    quoted = {PurePosixPath(one.decode(errors="replace")).name for one in QUOTED.findall(directive)}
    return {PurePosixPath(file).name} if not quoted and MACROS.fullmatch(directive) else quoted


def _files(bench: ProofBench) -> set[str]:
    """Return the sources and headers of the project, also those of assembly."""
    ends = (*SUFFIXES, *ASSEMBLY_SUFFIXES)
    found = (path for path in bench.project.rglob("*") if path.name.endswith(ends) and not path.is_symlink())
    return {str(path.relative_to(bench.project)) for path in found}


def _marked(preprocessed: bytes) -> set[str]:
    """Return the files of the project that a preprocessed file names as those of its lines."""
    names = {one.decode(errors="replace") for one in MARKER.findall(preprocessed)}
    return {name for one in names if (name := _below(one))}


def _dependencies(rule: bytes) -> set[str]:
    words = rule.replace(b"\\\n", b" ").replace(b"\\ ", b"\0").split()
    return {_below(one.replace(b"\0", b" ").decode(errors="replace")) for one in words}


def _below(path: str) -> str:
    """Return the path below the project, "" of a file elsewhere."""
    parts = list[str]()
    for part in path.partition(f"{PROJECT}/")[2].split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", ".", ".."):
            parts.append(part)
    return "/".join(parts)
