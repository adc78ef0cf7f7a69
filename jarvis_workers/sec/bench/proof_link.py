"""Make the program of an attempt: a program of the tree, its fuzz target, or a harness linked with its objects.

A harness is compiled from the text that was checked, after preprocessing; its calls into the tree go through functions
that record their arguments.  The objects of the tree are linked as they were compiled: at most the names of a static
function and of `main` are changed.
"""

import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from jarvis_workers.sandbox.bench_files import read_untrusted
from jarvis_workers.sandbox.confine import SYSTEM
from jarvis_workers.sec.bench.proof_bench import (
    LIBRARIES,
    MADE,
    OBJECTS,
    PROJECT,
    QUOTING,
    STANDARD,
    TOOLS,
    ProofBench,
    include_flags,
)
from jarvis_workers.sec.bench.proof_compilers import FUZZ_OBJECT, SUPPORT_OBJECT
from jarvis_workers.sec.bench.proof_objects import FUZZ_TARGET, MAIN, MAINS, SYMBOL
from jarvis_workers.sec.proof import api_calls
from jarvis_workers.sec.proof.api_calls import ApiDeclaration
from jarvis_workers.sec.proof.clang_declarations import declarations_of_tree
from jarvis_workers.sec.proof.harness_source import (
    SILENCED,
    header_parts,
    include_faults,
    included_headers,
    includes_of,
    source_faults,
    symbol_faults,
    system_text,
)
from jarvis_workers.sec.proof.proof import HARNESSES, Attempt
from jarvis_workers.sec.proof.structure_members import TreeStructures

PROGRAM = f"{MADE}/program"
PROBLEM_LENGTH = 3_000
BUILD_FILES = ("CMakeLists.txt", "Makefile.am", "Makefile.in", "Makefile", "meson.build", "GNUmakefile")


@dataclass(frozen=True)
class BuiltProgram:
    """A program that was made for an attempt, or the `problem` for the model; `internal` is why it is no API use."""

    path: str = ""
    problem: str = ""
    internal: str = ""


def build_attempt(bench: ProofBench, attempt: Attempt, sink_file: str) -> BuiltProgram:
    """Make the program of an attempt. Raises StepFailed if the machine cannot."""
    built = _build(bench, attempt, sink_file)
    if used := bench.compiled.interface:
        return replace(built, internal=built.internal or f"the tree itself uses the sanitizer ({used})")
    return built


def _build(bench: ProofBench, attempt: Attempt, sink_file: str) -> BuiltProgram:
    bench.shell(f"rm -rf {MADE} && mkdir {MADE}")
    if attempt.way == "harness":
        return _build_harness(bench, attempt, sink_file)
    symbol = FUZZ_TARGET if attempt.way == "fuzz_target" else MAIN
    if symbol == MAIN and bench.tree.command is not None:
        return _built_program(bench, attempt.target)
    found = bench.compiled.of_source(attempt.target) if attempt.target else None
    candidates = [found] if found and found.defines(symbol) else bench.compiled.with_function(symbol)
    if len(candidates) != 1:
        files = (
            ", ".join(filter(None, (bench.compiled.sources.get(one.path, one.path) for one in candidates))) or "none"
        )
        return BuiltProgram(problem=f"name the target: the file that defines {symbol}; there are: {files}")
    first = candidates[0].path
    main = [f"{TOOLS}/{FUZZ_OBJECT}"] if attempt.way == "fuzz_target" else []
    return link_program(bench, [*main, shlex.quote(first)], without={first})


def _built_program(bench: ProofBench, target: str) -> BuiltProgram:
    """Return what the build has made; who sees only the code names the source of a program, in a directory or alone."""
    if target not in (programs := bench.programs()):
        named = {*PurePosixPath(target).parts, PurePosixPath(target).stem}
        alike = [one for one in programs if PurePosixPath(one).name in named]
        if len(alike) == 1:
            return BuiltProgram(f"{PROJECT}/{alike[0]}")
        listed = ", ".join(programs) or "none"
        return BuiltProgram(problem=f"name the target: a program that the build has made; there are: {listed}")
    return BuiltProgram(f"{PROJECT}/{target}")


def _build_harness(bench: ProofBench, attempt: Attempt, sink_file: str) -> BuiltProgram:
    harness = f"{MADE}/{HARNESSES[attempt.language]}"
    if faults := list(source_faults(attempt.code, attempt.language)):
        return BuiltProgram(problem="\n".join(faults))
    # The tree's own files find "time.h" beside them, before that of the system: so does a harness, if it can.
    flags = _header_flags(bench, quoting=True)
    preprocessed, problem = _preprocess(bench, attempt.code, harness, flags)
    if problem:
        flags = _header_flags(bench)
        preprocessed, problem = _preprocess(bench, attempt.code, harness, flags)
    if problem:
        return BuiltProgram(problem=problem)
    is_cpp = attempt.language == "c++"
    compiled = f"{bench.compiler.command(is_cpp=is_cpp)} {_harness_flags(bench, is_cpp=is_cpp)}"
    outcome = bench.shell(f"{compiled} -c {MADE}/harness.i -o {MADE}/harness.o", check=False)
    if outcome.code != 0:
        return BuiltProgram(problem=_messages(bench, outcome.stderr))
    defined, undefined = _symbols(bench)
    tree = bench.compiled.symbols
    if faults := list(symbol_faults(defined, undefined, tree, attempt.language)):
        return BuiltProgram(problem="\n".join(faults))
    return _Harness(bench, attempt, sink_file, preprocessed, undefined & tree.keys(), flags).link()


def _preprocess(bench: ProofBench, code: str, harness: str, flags: str) -> tuple[str, str]:
    """Return the preprocessed harness, and why it is refused."""
    compiler = bench.compiler.command(is_cpp=not harness.endswith(".c"))
    flags = f"{flags} -fno-working-directory"
    script = f'printf "%s\\n" "$1" > {harness} && {compiler} {flags} -E {harness} -o {MADE}/harness.i'
    outcome = bench.shell(script, code.replace("\r\n", "\n"), check=False)
    text = read_untrusted(bench.work / MADE / "harness.i").decode(errors="replace")
    if outcome.code != 0:
        missing = re.findall(r"fatal error: ([^\n]*)", outcome.stderr.decode(errors="replace"))
        return "", f"the harness cannot be preprocessed: {(missing or ['see its directives'])[0][:300]}"
    system = tuple(f"{directory}/" for directory in SYSTEM)
    faults = list(include_faults(text, harness, PROJECT, system))
    return text, "\n".join(faults)


def _harness_flags(bench: ProofBench, *, is_cpp: bool) -> str:
    """Return the flags for a preprocessed harness: those of the tree, with variables that begin as zero."""
    return f"{bench.compiler.flags} {bench.compiler.harness} -x {'c++-cpp-output' if is_cpp else 'cpp-output'}"


def _header_flags(bench: ProofBench, *, quoting: bool = False) -> str:
    """Return the flags with which a harness finds the headers of the project; see `include_flags`."""
    if bench.tree.command is None:
        return f"@{TOOLS}/{QUOTING if quoting else 'flags'}"
    headers = sorted(str(path.relative_to(bench.project)) for path in bench.project.rglob("*.h") if path.is_file())
    return " ".join(include_flags(headers, quoting=quoting))


def _symbols(bench: ProofBench) -> tuple[set[str], set[str]]:
    """Return the symbols that the harness defines for other files, and those that it uses."""
    listed = bench.shell(f"nm -A -P {MADE}/harness.o").stdout.decode(errors="replace")
    pairs = [(name, kind) for _, name, kind in SYMBOL.findall(listed)]
    return {name for name, kind in pairs if kind.isupper() and kind not in "UWV"}, {
        name for name, kind in pairs if kind in "Uw"
    }


class _Harness:
    """A compiled harness that calls functions of the tree."""

    def __init__(
        self, bench: ProofBench, attempt: Attempt, sink_file: str, preprocessed: str, used: set[str], flags: str
    ) -> None:
        self._bench, self._attempt, self._sink_file = bench, attempt, sink_file
        self._preprocessed, self._used, self._flags = preprocessed, used, flags

    def link(self) -> BuiltProgram:
        """Return the program, and whether it uses only the API."""
        internal, checked = self._check_calls()
        renamed = [(name, f"jarvis_silent_{name}") for name in SILENCED] + [
            (name, f"jarvis_{name}") for name in checked
        ]
        words = " ".join(f"--redefine-sym {old}={new}" for old, new in renamed)
        self._bench.shell(f"objcopy {words} {MADE}/harness.o")
        objects = [f"{MADE}/harness.o", *([f"{MADE}/calls.o"] if checked else [])]
        own, copies = self._prepared()
        built = link_program(self._bench, [*objects, *copies], without=own)
        return BuiltProgram(built.path, built.problem, internal)

    def _check_calls(self) -> tuple[str, set[str]]:
        """Compile the code that checks arguments; return why the use is internal, and the checked functions."""
        bench, symbols = self._bench, self._bench.compiled.symbols
        if self._attempt.language == "c++":
            return "the arguments of a harness in C++ are not checked", set()
        declared = self._declarations()
        if data := sorted(name for name in self._used if symbols[name] not in "TtWw"):
            return f"{data[0]} is a variable of the tree", set()
        headers = included_headers(self._preprocessed, PROJECT)
        callers, shared = bench.compiled.callers, bench.compiled.shared
        public = api_calls.public_headers(headers, dict(self._build_files(headers)))
        public |= api_calls.library_headers(declared, PROJECT, callers, symbols.keys(), shared)
        internal = api_calls.internal_use(self._used, declared, PROJECT, callers, public)
        if internal:
            name, _, rest = internal.partition(" ")
            return internal + (self._hidden_headers(headers, name) if rest == api_calls.NOT_DECLARED else ""), set()
        texts = {f"{PROJECT}/{one}": bench.source(one).decode(errors="replace") for one in headers}
        code = api_calls.checking_code(includes_of(self._attempt.code), self._used, declared, texts)
        command = f"{bench.compiler.c} {self._flags} -fno-sanitize=all -g0 -w"
        script = f'printf "%s" "$1" > {MADE}/calls.c && {command} -c {MADE}/calls.c -o {MADE}/calls.o'
        outcome = bench.shell(script, code, check=False)
        if outcome.code != 0:
            named = set(re.findall(r"jarvis_(\w+)", outcome.stderr.decode(errors="replace"))) & self._used
            return f"the arguments of {', '.join(sorted(named)) or 'its calls'} cannot be checked", set()
        declaring = {one.file.removeprefix(f"{PROJECT}/").removeprefix("./") for one in declared.values()}
        hidden = declaring - public
        parts, system = header_parts(self._preprocessed, PROJECT), system_text(self._preprocessed)
        structures = TreeStructures.of(parts, lambda one: one not in hidden, system)
        return api_calls.changed_member(self._attempt.code, structures), self._used

    def _hidden_headers(self, included: Sequence[str], name: str) -> str:
        """Return which headers of the tree that name a function may have been replaced by those of the system."""
        project = self._bench.project
        paths = sorted(str(path.relative_to(project)) for path in project.rglob("*.h") if path.name in STANDARD)
        word = re.compile(rf"\b{re.escape(name)}\b".encode())
        hidden = [path for path in paths if path not in included and word.search(self._bench.source(path))]
        return f"; include {', '.join(hidden)} in quotes: <> takes the header of the system" if hidden else ""

    def _declarations(self) -> Mapping[str, ApiDeclaration]:
        """Return the functions that the harness declares, mostly by its headers."""
        bench, listed = self._bench, f"{MADE}/declared"
        is_clang = bench.compiler.family == "clang"
        lister = f"-Xclang -ast-dump=json > {listed}" if is_clang else f"-aux-info {listed}"
        command = f"{bench.compiler.c} {_harness_flags(bench, is_cpp=False)} -fsyntax-only {MADE}/harness.i"
        bench.shell(f"{command} {lister}", check=False)
        text = read_untrusted(bench.work / listed)
        if is_clang:
            return declarations_of_tree(text, read_untrusted(bench.work / MADE / "harness.i"))
        return api_calls.declarations_of(text.decode(errors="replace"))

    def _build_files(self, headers: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield the build files of the directories of headers and of those above them."""
        directories = {parent for header in headers for parent in PurePosixPath(header).parents}
        for directory in sorted(directories):
            for name in BUILD_FILES:
                path = str(directory / name)
                if text := self._bench.source(path):
                    yield path, text.decode(errors="replace")

    def _prepared(self) -> tuple[set[str], list[str]]:
        """Return the objects of which the harness needs copies, and these: with static functions visible, no main."""
        compiled, copies, own = self._bench.compiled, list[str](), set[str]()
        first = compiled.of_source(self._sink_file)
        local = {name for name in self._used if not compiled.with_function(name)}
        needed = [first] if first else []
        needed += [one for name in sorted(local) for one in compiled.objects if name in one.symbols][: len(local)]
        for number, one in enumerate(dict.fromkeys(found.path for found in needed)):
            symbols = next(found.symbols for found in compiled.objects if found.path == one)
            visible = " ".join(f"--globalize-symbol {name}" for name in sorted(local & symbols.keys()))
            copy = f"{MADE}/object{number}{Path(one).suffix}"
            self._bench.shell(f"objcopy {visible} --redefine-sym main=jarvis_main {shlex.quote(one)} {copy}")
            own.add(one)
            copies.append(copy)
        return own, copies


def link_program(bench: ProofBench, inputs: list[str], without: set[str]) -> BuiltProgram:
    """Link inputs with the rest of the tree, and with what only its other programs define; return the program."""
    others = [one for one in bench.compiled.objects if one.path not in without and not one.is_entry]
    libraries = [one.path for one in others if one.path.endswith(".a")]
    objects = [one.path for one in others if one.path.endswith(".o")]
    archive = f"{MADE}/tree.a"
    (listed, rest) = (shlex.join(libraries), objects if bench.tree.command is None or not libraries else [])
    made = f"printf '%s\\n' \"$1\" | xargs -r -d '\\n' ar qcS {archive} && ranlib {archive} && " if rest else ""
    compiler = bench.compiler
    linker = compiler.cpp if shutil.which(compiler.cpp) else compiler.c
    script = (
        f"{made} {linker} {compiler.sanitize} {compiler.static} -no-pie -g -o {PROGRAM} {TOOLS}/{SUPPORT_OBJECT}"
        f" {' '.join(inputs)}"
        f" -Wl,--gc-sections -Wl,--allow-multiple-definition -Wl,--start-group {listed} {archive if rest else ''}"
        f" {TOOLS}/{MAINS} -Wl,--end-group {LIBRARIES}"
    )
    outcome = bench.shell(script, "\n".join(rest), check=False)
    if outcome.code != 0:
        return BuiltProgram(problem=_messages(bench, outcome.stderr))
    return BuiltProgram(PROGRAM)


def _messages(bench: ProofBench, output: bytes) -> str:
    """Return the messages of a compiler, the same on all benches."""
    text = output.decode(errors="backslashreplace").replace(f"{bench.work}/", "").replace(f"{OBJECTS}/", "")
    lines = [line for line in text.split("\n") if re.search(r"error|undefined|warning: implicit|multiple", line)]
    return "it cannot be built:\n" + "\n".join(lines or text.split("\n"))[:PROBLEM_LENGTH]
